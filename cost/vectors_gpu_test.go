package cost_test

import (
	"math"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/ir/dtype"
)

// gpuVectors are those of cost.md section 4.7.
func gpuVectors() []vector {
	var out []vector
	for _, section := range []func() []vector{kernelVectors, nodeVectors, clusterVectors, switchVectors, limitVectors} {
		out = append(out, section()...)
	}
	return out
}

// kernelVectors run on one GPU.
func kernelVectors() []vector {
	b200, h100 := profile("b200"), profile("h100")
	prose := b200
	prose.Matrix.BF16 = 2.3e15
	small, large := bf16(64, 4096, 8192), bf16(512, 4096, 8192)
	small.DType, large.DType = dtype.F16, dtype.F16
	bytes := float64(small.BytesA() + small.BytesB() + small.BytesC())
	add := cost.Work{FLOPs: 1 << 30, Bytes: 3 * 4 << 30, DType: dtype.F32}
	tiny := cost.Work{FLOPs: 65536, Bytes: 3 * 4 * 65536, DType: dtype.F32}
	return []vector{
		{"G-01", "bytes", bytes, 68.68e6, 0.01},
		{"G-01", "bound by memory", b200.LocalMatmul(small, cost.Book()).Seconds, 8.59 * us, 0.01},
		{"G-01", "in practice", b200.LocalMatmul(small, fitted()).Seconds, 11 * us, 0.25},
		{"G-02", "math", prose.LocalMatmul(large, cost.Book()).Seconds, 14.9 * us, 0.01},
		{"G-02", "memory", prose.LocalMatmul(large, cost.Book()).HBM, 10.0 * us, 0.01},
		{"G-02", "in practice", prose.LocalMatmul(large, fitted()).Seconds, 20 * us, 0.25},
		{"G-03", "add", h100.Op(add, cost.Book()).Seconds, 3.846 * ms, 0.01},
		{"G-03", "measured", h100.Op(add, fitted()).Seconds, 4.1 * ms, 0.10},
		{"G-04", "add", h100.Op(tiny, cost.Book()).Seconds, 0.235 * us, 0.01},
		{"G-04", "measured", h100.Op(tiny, fitted()).Seconds, 1.5 * us, 0.30},
	}
}

// nodeVectors run within eight GPUs.
func nodeVectors() []vector {
	h100 := profile("h100")
	book, tight := on("h100", "X8", cost.Book()), on("h100", "X8", exact())
	reduced := func(r cost.Reduction) float64 {
		o := exact()
		o.Reduction = r
		return on("h100", "X8", o).seconds(collectives.AllReduce, "X", 1e9)
	}
	v6 := LocalBytes([]int64{4096, 65536}, []int64{1, 1}, 2)
	v7 := LocalBytes([]int64{1024, 16384}, []int64{1, 1}, 2)
	return []vector{
		{"G-05", "node", float64(h100.Levels[0].Degree) * h100.Levels[0].Bandwidth, 3.6e12, 0},
		{"G-05", "bisection", float64(h100.Levels[0].Degree) * h100.Levels[0].Bandwidth, 3.6e12, 0},
		{"G-06", "V", float64(v6), 536.9e6, 0.001},
		{"G-06", "exact", tight.seconds(collectives.AllGather, "X", v6), 1.044 * ms, 0.01},
		{"G-06", "measured", on("h100", "X8", fitted()).seconds(collectives.AllGather, "X", v6), 1.5 * ms, 0.15},
		{"G-07", "asymptotic", book.seconds(collectives.AllGather, "X", v7), 74.6 * us, 0.01},
		{"G-07", "exact", tight.seconds(collectives.AllGather, "X", v7), 65.2 * us, 0.01},
		{"G-08", "ring", reduced(cost.RingReduction), 3.889 * ms, 0.01},
		{"G-08", "in the switches", reduced(cost.IdealReduction), 2.222 * ms, 0.01},
		{"G-08", "in practice", reduced(cost.MeasuredReduction), 2.991 * ms, 0.01},
	}
}

// clusterVectors run across nodes.
func clusterVectors() []vector {
	const v = 1e9
	exchange := func(mesh string, o cost.Options) float64 {
		return on("h100", mesh, o).cost(collectives.AllToAll, "X", v).Bandwidth
	}
	all := on("h100", "X1024", exact())
	levels := all.LevelTimes(collectives.AllGather, all.axes("X"), v)
	two := on("h100", "X16", exact())
	pair := two.LevelTimes(collectives.AllGather, two.axes("X"), v)
	approx, expected := RaggedAllToAll(8, 4)
	approx64, expected64 := RaggedAllToAll(64, 8)
	out := []vector{
		{"G-09", "8", exchange("X8", exact()), 243.1 * us, 0.005},
		{"G-09", "16", exchange("X16", exact()), 625.0 * us, 0.005},
		{"G-09", "64", exchange("X64", exact()), 273.4 * us, 0.005},
		{"G-10", "asymptotic", exchange("X16", cost.Book()) / exchange("X8", cost.Book()), 4.5, 0.01},
		{"G-10", "exact", exchange("X16", exact()) / exchange("X8", exact()), 2.57, 0.01},
		{"G-11", "8 to 4", approx, 0.4375, 0.001},
		{"G-11", "8 to 4 expected", expected, 0.3621, 0.001},
		{"G-11", "64 to 8", approx64, 0.1230, 0.001},
		{"G-11", "64 to 8 expected", expected64, 0.1165, 0.001},
		{"G-12", "node", v / levels[0], 514.3e9, 0.001},
		{"G-12", "leaf", v / levels[1], 412.9e9, 0.001},
		{"G-12", "spine", v / levels[2], 17.07e12, 0.001},
		{"G-13", "exact", all.cost(collectives.AllReduce, "X", v).Bandwidth, 4.844 * ms, 0.005},
		{"G-13", "book", on("h100", "X1024", cost.Book()).cost(collectives.AllReduce, "X", v).Bandwidth, 5.0 * ms, 0.005},
		{"G-14", "node", v / pair[0], 514.3e9, 0.001},
		{"G-14", "leaf", v / pair[1], 800e9, 0.001},
		{"G-14", "seconds", two.cost(collectives.AllGather, "X", v).Bandwidth, 1.944 * ms, 0.005},
		{"G-28", "72", on("gb200", "X72", exact()).cost(collectives.AllGather, "X", v).Bandwidth, 1.096 * ms, 0.005},
		{"G-28", "576", on("gb200", "X576", exact()).cost(collectives.AllGather, "X", v).Bandwidth, 1.096 * ms, 0.005},
	}
	gb200 := on("gb200", "X576", exact())
	out = append(out, vector{"G-28", "leaf", gb200.LevelTimes(collectives.AllGather, gb200.axes("X"), v)[1], 0.243 * ms, 0.005})
	for _, q := range []struct {
		mesh        string
		inner       int64
		book, exact float64
	}{{"X32 Y8", 8, 0, 1.300}, {"X16 Y16", 16, 0.671, 0.629}, {"X4 Y64", 64, 0.168, 0.126}} {
		local := LocalBytes([]int64{8192, 32768}, []int64{1, q.inner}, 2)
		out = append(out, vector{"G-15", "exact " + q.mesh, on("h100", q.mesh, exact()).cost(collectives.AllGather, "X", local).Bandwidth,
			q.exact * ms, 0.005})
		if q.book > 0 {
			out = append(out, vector{"G-15", "book " + q.mesh, on("h100", q.mesh, cost.Book()).cost(collectives.AllGather, "X", local).Bandwidth,
				q.book * ms, 0.005})
		}
	}
	return out
}

// switchVectors are the traffic of switches.
func switchVectors() []vector {
	const b = 1e9
	gather, reduce := GatherTraffic(b, 32, 8), ReduceTraffic(b, 8)
	spine := func(bandwidth float64) float64 {
		hw := profile("h100")
		hw.Levels[2].Bandwidth = bandwidth
		o := cost.Book()
		o.Reduction = cost.IdealReduction
		v := LocalBytes([]int64{8192, 32768}, []int64{1, 256}, 2)
		return onHardware(hw, "X4 Y256", o, cost.SliceShape{}).cost(collectives.AllReduce, "X", v).Bandwidth
	}
	const full = 2 * 8192 * 32768
	return []vector{
		{"G-16", "node in", gather.NodeIn, b, 0},
		{"G-16", "node out", gather.NodeOut, 8 * b, 0},
		{"G-16", "leaf in", gather.LeafIn, b, 0},
		{"G-16", "leaf out", gather.LeafOut, 31 * b, 0},
		{"G-16", "seconds", gather.Seconds(8, 4.5e11, 32, 4e11), b * 31 / (32 * 4e11), 0},
		{"G-17", "in", reduce.NodeIn, 8 * b, 0},
		{"G-17", "out", reduce.NodeOut, 8 * b, 0},
		{"G-17", "seconds", reduce.Seconds(8, 4.5e11, 1, 4e11), b / 4.5e11, 0},
		{"G-18", "links of the text", spine(12.8e12), full / 12.8e12, 0},
		{"G-18", "links of the answer", spine(6.4e12), full / 6.4e12, 0},
	}
}

// limitVectors are the limits of training on GPUs.
func limitVectors() []vector {
	state := BookState
	h100 := profile("h100")
	gb200 := profile("gb200")
	pipelined := CriticalIntensity(h100.Matrix.BF16, 8*h100.Levels[1].Bandwidth)
	return []vector{
		{"G-19", "in a node", DataParallelLimit(chipAlpha("h100"), 1), 2200, 0.005},
		{"G-19", "across nodes", DataParallelLimit(nodeAlpha("h100"), 1), 2475, 0.005},
		{"G-19", "two nodes", TwoReplicaLimit(nodeAlpha("h100"), 2), 1237, 0.005},
		{"G-20", "tokens", DataParallelLimit(nodeAlpha("h100"), 1) * 16000, 39.6e6, 0.01},
		{"G-21", "tokens a GPU", DataParallelLimit(CriticalIntensity(990e12, 300e9), 1), 3300, 0.01},
		{"G-21", "tokens", DataParallelLimit(CriticalIntensity(990e12, 300e9), 1) * 2048, 6.76e6, 0.01},
		{"G-22", "in a node", TensorParallelLimit(chipAlpha("h100"), 28672, 1, false), 13.0, 0.01},
		{"G-22", "across nodes", TensorParallelLimit(nodeAlpha("h100"), 28672, 1, false), 11.6, 0.01},
		{"G-22", "over two nodes", TensorParallelNodeLimit(nodeAlpha("h100"), 28672, 8), 19.6, 0.01},
		{"G-23", "B200 in a node", chipAlpha("b200"), 2500, 0.005},
		{"G-23", "B200 across", nodeAlpha("b200"), 5625, 0.005},
		{"G-23", "NVL72 node", gb200.Levels[1].Bandwidth, 3.6e12, 0},
		{"G-23", "NVL72 across", nodeAlpha("gb200"), 625, 0.005},
		{"G-24", "GPUs", state.Static(70e9, ZeRO(0, 1, 1)) / h100.HBMBytes, 8.75, 0.005},
		{"G-24", "whole GPUs", math.Ceil(state.Static(70e9, ZeRO(0, 1, 1)) / h100.HBMBytes), 9, 0},
		{"G-24", "eight ways", state.Static(70e9, ZeRO(3, 8, 1)), 87.5e9, 0.005},
		{"G-24", "fits", truth(state.Static(70e9, ZeRO(3, 8, 1)) <= h100.HBMBytes), 0, 0},
		{"G-25", "days", TrainSeconds(6*70e9*15e12, 4096, h100.Matrix.BF16, 0.45) / day, 40.0, 0.01},
		{"G-25", "tokens a GPU", TokensPerChip(1, 4e6, 4096), 976, 0.01},
		{"G-25", "pipelined limit", DataParallelLimit(pipelined, 1), 309, 0.01},
		{"G-26", "16B", TokensPerChip(192, 4096, 192), 4096, 0},
		{"G-26", "70B", TokensPerChip(384, 4096, 768), 2048, 0},
		{"G-26", "314B", TokensPerChip(1536, 4096, 3072), 2048, 0},
		{"G-27", "64 GPUs", ExpertsOnNodesLimit(nodeAlpha("h100"), 64, 8), 17325, 0.005},
		{"G-27", "128 GPUs", ExpertsOnNodesLimit(nodeAlpha("h100"), 128, 4), 18562, 0.005},
	}
}
