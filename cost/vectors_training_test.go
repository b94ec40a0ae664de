package cost_test

import (
	"math"

	"autoshard/collectives"
	"autoshard/cost"
)

var (
	llama13B = Transformer{Layers: 40, D: 5120, F: 13824, Heads: 40, KVHeads: 40, HeadDim: 128, Vocab: 32000, Gated: true}
	llama70B = Transformer{Layers: 80, D: 8192, F: 28672, Heads: 64, KVHeads: 8, HeadDim: 128, Vocab: 128256, Gated: true}
	quiz7    = Transformer{Layers: 64, D: 4096, F: 16384, Heads: 32, KVHeads: 8, HeadDim: 256, Vocab: 32128, Gated: true, Tied: true}
)

const day = 86400

// transformerVectors are those of cost.md section 4.4.
func transformerVectors() []vector {
	m := Transformer{Layers: 64, D: 4096, F: 16384, Heads: 32, KVHeads: 32, HeadDim: 128, Vocab: 32000, Gated: true}
	p := m.Params()
	f := on("tpu-v5p", "X4 Y8 Z4", cost.Book())
	// B is cut over X, D over Y in both operands; Z replicates.
	x02 := f.matmul(bf16(1024/4, 4096, 8192), "Y", cost.OnJ, cost.OnJ, "3a", cost.Nowhere).FLOPs
	wide := Transformer{Layers: 1, D: 1024, F: 4096, Heads: 8, KVHeads: 8, HeadDim: 128, Gated: true}
	v5e := profile("tpu-v5e")
	return []vector{
		{"X-01", "params", float64(p.Total()), 17.44e9, 0.005},
		{"X-01", "attention", float64(p.Attention) / float64(p.Attention+p.MLP), 0.25, 0.005},
		{"X-01", "KV", m.KVBytes(1), 524288, 0},
		{"X-02", "chip", x02, 2 * 1024 * 4096 * 8192 / 32, 0},
		{"X-02", "fleet", x02 * float64(f.Devices()), 2 * 1024 * 4096 * 8192 * 4, 0},
		{"X-03", "einsum", cost.EinsumFLOPs(true, 2, 3, 5, 7, 11, 13, 17), 2 * 2 * 3 * 5 * 7 * 11 * 13 * 17, 0},
		{"X-03", "nothing contracted", cost.EinsumFLOPs(false, 2, 3), 6, 0},
		{"X-04", "mixed", AttentionIntensity(100, 300, 4), 100 * 300 * 4. / (100*4 + 300), 0},
		{"X-04", "prefill", AttentionIntensity(2048, 2048, 4), 2048 * 4. / 5, 0},
		{"X-04", "decode", AttentionIntensity(1, 1e12, 4), 4, 1e-9},
		{"X-05", "projections at 2D", wide.ProjectionFLOPs(3, 2*1024) / wide.AttentionFLOPs(3, 2*1024), 1, 0},
		{"X-05", "matrices at 8D", wide.MatrixFLOPs(3, 8*1024) / wide.AttentionFLOPs(3, 8*1024), 1, 0},
		{"X-06", "recomputed attention", wide.AttentionFLOPs(3, 512), 4 * 3 * 512 * 512 * 1024, 0},
		{"X-07", "utilization", Utilization(6*37e9*14.8e12, 2.79e6*3600, 1.513e15), 0.216, 0.01},
		{"X-08", "experts", ExpertBatch(CriticalBatch(1, v5e.Matrix.BF16, 8.2e11), 256, 8), 3840, 0.01},
	}
}

// trainingVectors are those of cost.md section 4.5.
func trainingVectors() []vector {
	v5p := profile("tpu-v5p")
	alpha := CriticalIntensity(v5p.Matrix.BF16, (2 * v5p.Torus.Link))
	pods := onHardware(v5p, "P2 X16 Y20 Z28", exact(), cost.SliceShape{Shape: []int64{16, 20, 28}})
	loose := onHardware(v5p, "P2 X16 Y20 Z28", cost.Book(), cost.SliceShape{Shape: []int64{16, 20, 28}})
	share := int64(141.1e9) / 8960
	p13 := llama13B.Params()
	tokens := Activations{Tokens: 16e6}
	small := Activations{Tokens: 3e6}
	return []vector{
		{"TR-01", "alpha", alpha, 2550, 0.005},
		{"TR-01", "tokens a chip", DataParallelLimit(alpha, 3), 850, 0.005},
		{"TR-01", "pod", DataParallelLimit(alpha, 3) * 8960, 7.62e6, 0.005},
		{"TR-02", "chips", 40e6 / DataParallelLimit(alpha, 3), 47059, 0.01},
		{"TR-03", "days", TrainSeconds(6.3e24, 18823, v5p.Matrix.BF16, 0.5) / day, 16.9, 0.01},
		{"TR-04", "28672", TensorParallelLimit(alpha, 28672, 1, false), 11.2, 0.01},
		{"TR-04", "30000", TensorParallelLimit(alpha, 30000, 1, false), 11.8, 0.01},
		{"TR-04", "50000", TensorParallelLimit(alpha, 50000, 1, false), 19.6, 0.01},
		{"TR-05", "split", BestFullySharded(48000, 32768, 2, 64), 13.69, 0.005},
		{"TR-06", "sum", MixedLimit(alpha, 32768, 2, cost.Sum), 396.9, 0.005},
		{"TR-06", "max", MixedLimit(alpha, 32768, 2, cost.Largest), 99.2, 0.005},
		{"TR-07", "sum", MixedLimit(alpha, 32768, 2, cost.Sum) * 4096, 1.626e6, 0.01},
		{"TR-07", "max", MixedLimit(alpha, 32768, 2, cost.Largest) * 4096, 4.06e5, 0.01},
		{"TR-08", "slices", BetweenSlicesLimit(v5p.Matrix.BF16, v5p.Torus.DCN), 73440, 0.01},
		{"TR-09", "share", float64(share), 15.7e6, 0.01},
		{"TR-09", "exact", pods.cost(collectives.AllReduce, "P", share).Bandwidth, 2.52 * ms, 0.01},
		{"TR-09", "book", loose.cost(collectives.AllReduce, "P", share).Bandwidth, 5.04 * ms, 0.01},
		{"TR-10", "MLP", float64(p13.MLP), 8.493e9, 0.001},
		{"TR-10", "attention", float64(p13.Attention), 4.194e9, 0.001},
		{"TR-10", "vocab", float64(p13.Vocab), 0.328e9, 0.001},
		{"TR-10", "total", float64(p13.Total()), 13.016e9, 0.001},
		{"TR-11", "checkpoints", tokens.MLPOutputs(&llama13B) * 40, 4.194e13, 0.01},
		{"TR-11", "state", BookState.Static(float64(p13.Total()), ZeRO(0, 1, 1)), 130e9, 0.01},
		{"TR-12", "checkpoints", small.MLPOutputs(&llama13B) * 40, 7.864e12, 0.005},
		{"TR-12", "slice", 4096 * v5p.HBMBytes, 3.932e14, 0.005},
		{"TR-12", "fully sharded", DataParallelLimit(alpha, 3) * 4096, 3.48e6, 0.005},
		{"TR-12", "sum", MixedLimit(alpha, 13824, 2, cost.Sum), 940.8, 0.005},
		{"TR-12", "max", MixedLimit(alpha, 13824, 2, cost.Largest), 235.2, 0.005},
		{"TR-13", "split", BestFullySharded(3e6, 13824, 2, 4096), 1333, 0.04},
		{"TR-13", "step", TrainSeconds(6*3e6*13e9, 4096, 4.6e14, 0.4), 310 * ms, 0.04},
		{"TR-14", "tokens a chip", TokensPerChip(1024, 4096, 8960), 468, 0.005},
		{"TR-14", "sum", MixedLimit(alpha, 28672, 2, cost.Sum), 453.6, 0.005},
		{"TR-14", "max", MixedLimit(alpha, 28672, 2, cost.Largest), 113.4, 0.005},
		{"TR-14", "split", BestFullySharded(4194304, 28672, 2, 8960), 1618, 0.005},
		{"TR-15", "seconds", TrainSeconds(6.3e24, 8960, v5p.Matrix.BF16, 0.4), 3.83e6, 0.01},
		{"TR-15", "days", TrainSeconds(6.3e24, 8960, v5p.Matrix.BF16, 0.4) / day, 44.3, 0.01},
		{"TR-15", "token on a chip", TrainSeconds(6*70e9, 1, v5p.Matrix.BF16, 1), 0.915 * ms, 0.01},
		{"TR-15", "chip-years", TrainSeconds(6.3e24, 1, v5p.Matrix.BF16, 1) / (365 * day), 435, 0.01},
		{"TR-16", "experts", ExpertsReplicatedLimit(nodeAlpha("h100"), 32, 1), 79200, 0.005},
	}
}

// nodeAlpha is C/Wn, and chipAlpha C/Wg.
func nodeAlpha(name string) float64 {
	hw := profile(name)
	return CriticalIntensity(hw.Matrix.BF16, hw.Levels[1].Bandwidth)
}

func chipAlpha(name string) float64 {
	hw := profile(name)
	return CriticalIntensity(hw.Matrix.BF16, hw.Levels[0].Bandwidth)
}

// serving is a model on v5e chips.
func serving(params, paramBytes, kv, chips, bandwidth, flops float64) Serving {
	hw := profile("tpu-v5e")
	hw.HBMBandwidth = bandwidth
	return Serving{Params: params, ParamBytes: paramBytes, KVBytes: kv, Chips: chips, Hardware: &hw, FLOPs: flops}
}

// inferenceVectors are those of cost.md section 4.6.
func inferenceVectors() []vector {
	v5e, v5p := profile("tpu-v5e"), profile("tpu-v5p")
	quiz := serving(30e9, 30e9, 100e3*8192, 16, 8.1e11, v5e.Matrix.BF16)
	alpha := CriticalIntensity(v5e.Matrix.BF16, (2 * v5e.Torus.Link))
	ring := wrapped("tpu-v5e", "X8", cost.Book())
	sb := serving(70e9, 70e9, llama70B.KVBytes(1)*8192, 8, 8.1e11, v5e.Matrix.BF16)
	out := []vector{
		{"I-01", "step", quiz.DecodeSeconds(4), 2.57 * ms, 0.03},
		{"I-02", "step", quiz.DecodeSeconds(256), 21.05 * ms, 0.01},
		{"I-03", "KV", llama13B.KVBytes(2) * 8192, 6.711e9, 0.001},
		{"I-06", "beta 8", DecodeTensorParallelLimit(16384, 32, 8), 64, 0.01},
		{"I-06", "true beta", DecodeTensorParallelLimit(16384, 32, v5e.HBMBandwidth/(2*v5e.Torus.Link)), 56.9, 0.01},
		{"I-12", "bytes", ring.latencyBound("X"), 360e3, 0.01},
		{"I-12", "decode payload", truth(16*8192 < ring.latencyBound("X")), 1, 0},
		{"I-13", "KV", llama70B.KVBytes(1), 163840, 0},
		{"I-13", "sequence", llama70B.KVBytes(1) * 32768, 5.369e9, 0.01},
		{"I-13", "batch", llama70B.KVBytes(1) * 32768 * 240, 1.288e12, 0.01},
		{"I-13", "chips", math.Ceil(serving(70e9, 70e9, llama70B.KVBytes(1)*32768, 1, 8.1e11, 1).ChipsFor(240)), 85, 0},
		{"I-14", "bytes", sb.ParamBytes + 32*sb.KVBytes, 112.9e9, 0.01},
		{"I-14", "step", sb.DecodeSeconds(32), 17.4 * ms, 0.03},
		{"I-14", "tokens/s", 32 / sb.DecodeSeconds(32), 1836, 0.03},
		{"I-16", "prefill", serving(70e9, 0, 0, 16, 8.1e11, v5e.Matrix.BF16).PrefillSeconds(8192, 0.4), 0.910, 0.01},
		{"I-18", "two axes", TensorParallelLimit(alpha, 28672, 2, false), 26.2, 0.01},
		{"I-18", "book", TensorParallelLimit(CriticalIntensity(v5p.Matrix.BF16, (2*v5p.Torus.Link)), 28672, 2, false), 22, 0.03},
		{"I-19", "eviction", EvictionRate(8192, 4096, 32), 96, 0.01},
		{"I-19", "prefill servers", PrefillServers(0.91, 19*ms, 512, 32), 2.99, 0.01},
	}
	return append(append(append(out, matmulVectors()...), tableVectors()...), modelVectors()...)
}

// matmulVectors are single products while decoding.
func matmulVectors() []vector {
	ring := wrapped("tpu-v5e", "X8 Y4", cost.Book())
	local := bf16(64, 8192, 28672/32)
	r := ring.Hardware().LocalMatmul(local, cost.Book())
	weights := ring.Hardware().Op(cost.Work{Bytes: float64(local.BytesB())}, cost.Book()).HBM
	b := Block{B: 64, D: 1024, F: 4096}
	const n, w = 128, 9e10
	return []vector{
		{"I-17", "gather", ring.seconds(collectives.AllGather, "X", 2*64*8192), 11.65 * us, 0.01},
		{"I-17", "weights", weights, 18.12 * us, 0.01},
		{"I-17", "math", r.Math, 4.77 * us, 0.01},
		{"I-11", "two cuts", b.WeightStationary(n, b.BestDCut(n), w), 11.31 * b.B * b.D / (math.Sqrt(n) * w), 0.005},
		{"I-11", "limit", b.WeightStationaryLimit(), 72, 0},
		{"I-11", "at the limit", b.WeightStationary(72, b.BestDCut(72), w) / b.WeightStationary1D(w), 1, 0.005},
	}
}

// tableVectors are the latencies of LLaMA-2 13B on eight chips.
func tableVectors() []vector {
	full := serving(13e9, 26e9, 6.7e9, 8, 8.2e11, 1.97e14)
	fifth := serving(13e9, 26e9, 6.7e9/5, 8, 8.2e11, 1.97e14)
	out := []vector{
		{"I-04", "tokens/s of 1", 1 / full.DecodeSeconds(1), 200.6, 0.002},
		{"I-04", "tokens/s of 240", 240 / full.DecodeSeconds(240), 963.5, 0.002},
	}
	batches := []float64{1, 8, 16, 32, 64, 240}
	for i, want := range []float64{4.98, 12.13, 20.30, 36.65, 69.33, 249.09} {
		out = append(out, vector{"I-04", "step", full.DecodeSeconds(batches[i]), want * ms, 0.002})
	}
	for i, want := range []float64{4.17, 5.60, 7.23, 10.50, 17.04, 52.99} {
		out = append(out, vector{"I-05", "step", fifth.DecodeSeconds(batches[i]), want * ms, 0.002})
	}
	return out
}

// modelVectors are the worked problems of the inference chapters.
func modelVectors() []vector {
	v5e := profile("tpu-v5e")
	p := quiz7.Params()
	experts := quiz7
	experts.Experts, experts.PerToken = 16, 2
	one := quiz7
	one.KVHeads = 1
	size := float64(p.Total())
	cache := func(m *Transformer, tokens float64) Serving {
		return serving(size, size, m.KVBytes(1)*tokens, 16, v5e.HBMBandwidth, v5e.Matrix.BF16)
	}
	total := float64(experts.Params().Total())
	moe := serving(total, total, 1, 128, v5e.HBMBandwidth, v5e.Matrix.BF16)
	moeChips, moeShape := v5e.SmallestSlice(total)
	out := []vector{
		{"I-07", "params", size, 18.385e9, 0.001},
		{"I-07", "KV", quiz7.KVBytes(1), 262144, 0},
		{"I-08", "load", v5e.Op(cost.Work{Bytes: size / 16}, cost.Book()).HBM, 1.42 * ms, 0.01},
		{"I-08", "batch", float64(cache(&quiz7, 8192).BatchLimit(1)), 110, 0},
		{"I-08", "long context", float64(cache(&quiz7, 131072).BatchLimit(1)), 6, 0},
		{"I-08", "one key head", float64(cache(&one, 8192).BatchLimit(1)), 885, 0},
		{"I-09", "total", total, 211.7e9, 0.005},
		{"I-09", "active", float64(experts.ActiveParams().Total()), 31.27e9, 0.005},
		{"I-09", "KV", experts.KVBytes(1), quiz7.KVBytes(1), 0},
		{"I-09", "bf16", ExpertBatch(240, 16, 2), 1920, 0.005},
		{"I-09", "int8 weights", ExpertBatch(120, 16, 2), 960, 0.005},
		{"I-10", "load", v5e.Op(cost.Work{Bytes: total / 128}, cost.Book()).HBM, 2.04 * ms, 0.01},
		{"I-10", "free a chip", v5e.HBMBytes - total/128, 14.35e9, 0.01},
		{"I-10", "chips", moe.ChipsFor(0), 13.2, 0.01},
		{"I-10", "slice", float64(moeChips), 16, 0},
		{"I-10", "shape", float64(moeShape[0]*100 + moeShape[1]), 404, 0},
	}
	for _, q := range []struct {
		size         float64
		chips, slice float64
		shape        float64
		free         float64
	}{{2, 8.75, 16, 404, 116e9}, {1, 4.38, 8, 204, 58e9}, {0.5, 2.19, 4, 202, 29e9}} {
		chips, shape := v5e.SmallestSlice(70e9 * q.size)
		s := serving(70e9, 70e9*q.size, llama70B.KVBytes(q.size)*8192, float64(chips), v5e.HBMBandwidth, 1)
		out = append(out,
			vector{"I-15", "chips", s.ChipsFor(0), q.chips, 0.02},
			vector{"I-15", "slice", float64(chips), q.slice, 0},
			vector{"I-15", "shape", float64(shape[0]*100 + shape[1]), q.shape, 0},
			vector{"I-15", "free", float64(chips)*v5e.HBMBytes - s.ParamBytes, q.free, 0.02},
			vector{"I-15", "caches", float64(s.BatchLimit(1)), 43, 0.02})
	}
	return out
}
