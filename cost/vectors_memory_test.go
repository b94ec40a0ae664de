package cost_test

import (
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/ir/dtype"
)

// memoryVectors are those of cost.md section 4.8.
func memoryVectors() []vector {
	v5p := profile("tpu-v5p")
	p70 := llama70B.Params()
	size := float64(p70.Total())
	one := ZeRO(0, 1, 1)
	out := []vector{
		{"M-01", "MLP", float64(p70.MLP), 56.371e9, 1e-4},
		{"M-01", "attention", float64(p70.Attention), 12.080e9, 1e-4},
		{"M-01", "vocab", float64(p70.Vocab), 2.101e9, 2e-4}, // printed to four digits: 2.10135
		{"M-01", "total", size, 70.552e9, 1e-4},
		{"M-04", "weights", 2 * size, 141.1e9, 0.001},
		{"M-04", "Adam", BookState.Static(size, one), 705.5e9, 0.001},
		{"M-04", "gradients", MixedState.Static(size, one), 846.6e9, 0.001},
		{"M-04", "master copy", MasterState.Static(size, one), 1.129e12, 0.001},
		{"M-05", "largest model", v5p.HBMBytes / BookState.PerParam(), 9.6e9, 0.07},
		{"M-07", "everything", Activations{Tokens: 4e6}.Everything(8192) * 64, 8.39e13, 0.005},
		{"M-07", "block inputs", Activations{Tokens: 4e6}.Checkpoints(1, 8192) * 64, 4.19e12, 0.005},
		{"M-07", "seven tensors", Activations{Tokens: 4e6}.Checkpoints(7, 8192) * 64, 2.94e13, 0.005},
		{"M-08", "KV", (&Transformer{Layers: 64, KVHeads: 64, HeadDim: 128}).KVBytes(1) * 8192, 8 << 30, 0},
		{"M-09", "activation", Activations{Tokens: 8192}.Checkpoints(1, 5120), 83.9e6, 0.05},
		{"M-13", "padded", float64(cost.PaddedBytes([]int64{3, 5}, 4, 2, 2)), 4 * 6 * 4, 0},
		{"M-13", "ratio", float64(cost.PaddedBytes([]int64{3, 5}, 4, 2, 2)) / float64(LocalBytes([]int64{3, 5}, []int64{1, 1}, 4)), 1.6, 0},
	}
	p13 := float64(llama13B.Params().Total())
	out = append(out,
		vector{"M-14", "master copy", MasterState.Static(p13, one), 208.2e9, 0.005},
		vector{"M-14", "book", BookState.Static(p13, one), 130.2e9, 0.005})
	for _, q := range []struct {
		k                             int64
		checkpoints, all, chips, each float64
	}{{3, 1.573e13, 1.643e13, 171.1, 1.83e9}, {4, 2.097e13, 2.167e13, 225.7, 2.42e9}} {
		bytes := Activations{Tokens: 4e6}.Checkpoints(q.k, 8192) * 80
		all := bytes + BookState.Static(size, one)
		out = append(out,
			vector{"M-06", "checkpoints", bytes, q.checkpoints, 0.005},
			vector{"M-06", "total", all, q.all, 0.005},
			vector{"M-06", "chips", all / v5p.HBMBytes, q.chips, 0.005},
			vector{"M-06", "each of 8960", all / 8960, q.each, 0.005})
	}
	return append(append(out, llamaVectors()...), programVectors()...)
}

// llamaVectors are two more sizes of LLaMA-3.
func llamaVectors() []vector {
	small := Transformer{Layers: 32, D: 4096, F: 14336, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 128256, Gated: true}
	large := Transformer{Layers: 126, D: 16384, F: 53248, Heads: 128, KVHeads: 8, HeadDim: 128, Vocab: 128256, Gated: true}
	size := float64(small.Params().Total())
	s := serving(size, size, small.KVBytes(1)*8192, 1, 8.1e11, 1.97e14)
	v5e := profile("tpu-v5e")
	chips, shape := v5e.SmallestSlice(s.ParamBytes + 240*s.KVBytes)
	return []vector{
		{"M-02", "params", size, 8.030e9, 1e-4},
		{"M-02", "KV", small.KVBytes(2), 131072, 0},
		{"M-03", "params", float64(large.Params().Total()), 405.85e9, 1e-4},
		{"M-03", "KV", large.KVBytes(2), 516096, 0},
		{"M-03", "flops", large.ForwardFLOPs(), 8.12e11, 0.001},
		{"M-10", "params", s.ParamBytes, 8.03e9, 0.01},
		{"M-10", "caches", 240 * s.KVBytes, 128.8e9, 0.01},
		{"M-10", "total", s.ParamBytes + 240*s.KVBytes, 136.9e9, 0.01},
		{"M-10", "chips", s.ChipsFor(240), 8.6, 0.01},
		{"M-10", "slice", float64(chips), 16, 0},
		{"M-10", "shape", float64(shape[0]*100 + shape[1]), 404, 0},
	}
}

// programVectors are peaks: of one product, and of fully sharded training.
func programVectors() []vector {
	x := LocalBytes([]int64{4096, 8192}, []int64{4, 1}, 2)
	shard := LocalBytes([]int64{8192, 8192}, []int64{4, 1}, 2)
	whole := LocalBytes([]int64{8192, 8192}, []int64{1, 1}, 2)
	y := LocalBytes([]int64{4096, 8192}, []int64{4, 1}, 2)
	// op 0 is the entry, 1 gathers W, 2 multiplies, 3 returns.
	peak := cost.Peak([]cost.Buffer{
		{Def: 0, Last: 3, Bytes: x}, {Def: 0, Last: 3, Bytes: shard}, {Def: 1, Last: 2, Bytes: whole}, {Def: 2, Last: 3, Bytes: y},
	}, nil)
	after := cost.Peak([]cost.Buffer{
		{Def: 0, Last: 3, Bytes: x}, {Def: 0, Last: 3, Bytes: shard}, {Def: 2, Last: 3, Bytes: y},
	}, nil)
	fsdp := FullyShardedPeak{
		Static:      MixedState.Static(float64(llama70B.Params().Total()), ZeRO(3, 256, 1)),
		Checkpoints: Activations{Tokens: 16384}.Checkpoints(1, 8192) * 80,
		LayerBytes:  2 * float64(llama70B.LayerParams()),
	}
	ahead := fsdp
	ahead.Prefetch = 1
	return []vector{
		{"M-11", "x", float64(x), 16777216, 0},
		{"M-11", "W shard", float64(shard), 33554432, 0},
		{"M-11", "W", float64(whole), 134217728, 0},
		{"M-11", "gather scratch", float64(cost.CollectiveScratch(collectives.AllGather, 4, whole)), 134217728 + 33554432, 0},
		{"M-11", "peak", float64(peak.Bytes), 201326592, 0},
		{"M-11", "where", float64(peak.At), 2, 0},
		{"M-11", "after", float64(after.Bytes), 67108864, 0},
		{"M-12", "state", fsdp.Static, 3.307e9, 0.005},
		{"M-12", "one layer", fsdp.Gathered(), 1.711e9, 0.005},
		{"M-12", "two layers", ahead.Gathered(), 3.423e9, 0.005},
		{"M-12", "checkpoints", fsdp.Checkpoints, 21.47e9, 0.005},
		{"M-12", "peak", ahead.Bytes(), 3.307e9 + 3.423e9 + 21.47e9, 0.005},
	}
}

// v2 is a chip that only calibration knows.
func v2() cost.Hardware {
	return cost.Hardware{
		Name: "tpu-v2", Matrix: cost.Rates{BF16: 4.6e13}, VectorFLOPs: 3e12, HBMBytes: 16e9, HBMBandwidth: 7e11,
		Torus: &cost.Torus{Link: 6e10, Shape: []int64{16, 16}, Wrap: cost.WrapFull, HopLatency: 1e-6},
	}
}

// calibrationVectors are those of cost.md section 4.9: want is the measurement.
func calibrationVectors() []vector {
	line := lines("tpu-v5e", "X8 Y4", fitted())
	old := onHardware(v2(), "X4 Y2", exact(), cost.SliceShape{Shape: []int64{4, 2}})
	hw := v2()
	product := cost.Matmul{I: 32 * 1024 / 4, J: 8192, K: 32768, SizeA: 2, SizeB: 2, SizeC: 2, DType: dtype.BF16}
	eight := on("tpu-v5e", "X8", exact())
	v5e := profile("tpu-v5e")
	v5e.HBMBandwidth = 8.2e11
	return []vector{
		{"C-01", "gather 33.5 MB", line.seconds(collectives.AllGather, "Y", 33554432), 680 * us, 0.25},
		{"C-02", "gather 131 kB", line.seconds(collectives.AllGather, "Y", 131072), 8 * us, 0.25},
		{"C-03", "share of link rate at 10 MB", 1e7 * 15 / 16 / on("tpu-v5e", "X8 Y16", fitted()).seconds(collectives.AllGather, "Y", 1e7),
			0.95 * 9e10, 0.15},
		{"C-04", "reduce-scatter over two", old.cost(collectives.ReduceScatter, "Y", 134.2e6).Bandwidth, 1.13 * ms, 0.05},
		{"C-05", "large product", hw.LocalMatmul(product, cost.Book()).Math, 96 * ms, 0.05},
		{"C-06", "blocking", cost.Sum.Of(224*us, 87*us), 311 * us, 0.01},
		{"C-06", "overlapped", CollectiveMatmul(224*us, 87*us, 4, 5*us, false), 244 * us, 0.01},
		{"C-07", "decode layer", v5e.Op(cost.Work{Bytes: 2 * 2 * 8192 * 32768 / 4}, fitted()).Seconds, 365 * us, 0.05},
		{"C-08", "ideal gather, eight chips", eight.cost(collectives.AllGather, "X", 2048<<20).Bandwidth, 20.9 * ms, 0.05},
		{"NCCL", "gather 64 MiB on 8xH100", on("h100", "X8", fitted()).seconds(collectives.AllGather, "X", 64<<20), 30*us + (64<<20)/394e9, 0.25},
		{"NCCL", "gather 1 GiB on 8xH100", on("h100", "X8", fitted()).seconds(collectives.AllGather, "X", 1<<30), 30*us + (1<<30)/394e9, 0.25},
		{"NCCL", "gather 1 GiB on 64 H100", on("h100", "X64", fitted()).seconds(collectives.AllGather, "X", 1<<30), 297*us + (1<<30)/390e9, 0.35},
	}
}
