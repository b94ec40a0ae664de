package cost_test

import (
	"errors"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

func bf16(i, j, k int64) cost.Matmul {
	return cost.Matmul{I: i, J: j, K: k, SizeA: 2, SizeB: 2, SizeC: 2, DType: dtype.BF16}
}

// shardingVectors are those of cost.md section 4.1.
func shardingVectors() []vector {
	h100 := profile("h100")
	h100.HBMBandwidth = 3.4e12
	s01 := LocalBytes([]int64{1024, 4096}, []int64{16, 1}, 4)
	v5e := lines("tpu-v5e", "X8 Y4", exact())
	ring := wrapped("tpu-v5e", "X8 Y4", cost.Book())
	v04 := LocalBytes([]int64{2048, 8192}, []int64{1, 1}, 2)
	v05 := LocalBytes([]int64{256, 256}, []int64{1, 1}, 2)
	small := v5e.cost(collectives.AllGather, "Y", v05)
	measured := lines("tpu-v5e", "X8 Y4", fitted())
	long := onHardware(profile("tpu-v5e"), "X8 Y16", fitted(), cost.SliceShape{Shape: []int64{8, 16}})
	out := []vector{
		{"S-01", "bytes", float64(s01), 1048576, 1e-9},
		{"S-01", "load", h100.Op(cost.Work{Bytes: float64(s01)}, cost.Book()).HBM, 308.4e-9, 0.01},
		{"S-02", "local", float64(LocalBytes([]int64{128, 2048}, []int64{16, 1}, 1)), 16384, 0},
		{"S-02", "fleet", float64(32 * LocalBytes([]int64{128, 2048}, []int64{16, 1}, 1)), 524288, 0},
		{"S-03", "A", float64(LocalBytes([]int64{8, 2048}, []int64{4, 2}, 2)), 2 * 2 * 1024, 0},
		{"S-03", "B", float64(LocalBytes([]int64{2048, 8192}, []int64{1, 2}, 2)), 2 * 2048 * 4096, 0},
		{"S-03", "C", float64(LocalBytes([]int64{8, 8192}, []int64{4, 2}, 2)), 2 * 2 * 4096, 0},
		{"S-04a", "V", float64(v04), 33554432, 0},
		{"S-04a", "book", ring.seconds(collectives.AllGather, "Y", v04), 372.8 * us, 0.02},
		{"S-04b", "line", v5e.seconds(collectives.AllGather, "Y", v04), 559.2 * us, 0.01},
		{"S-04c", "measured", measured.seconds(collectives.AllGather, "Y", v04), 680 * us, 0.25},
		{"S-05a", "V", float64(v05), 131072, 0},
		{"S-05a", "hops", float64(small.Hops), 3, 0},
		{"S-05a", "seconds", small.Seconds, 3 * us, 0.01},
		{"S-05a", "bandwidth term of a hop", small.Bandwidth / 3, 0.728 * us, 0.01},
		{"S-05b", "measured", measured.seconds(collectives.AllGather, "Y", v05), 8 * us, 0.25},
		{"S-06", "bytes a hop", wrapped("tpu-v5e", "X8", cost.Book()).latencyBound("X") / 8, 45000, 0.01},
		{"S-14", "share of link rate", 1e7 * 15 / 16 / long.seconds(collectives.AllGather, "Y", 1e7) / 9e10, 0.95, 0.10},
	}
	return append(append(out, caseVectors()...), exchangeVectors()...)
}

func (f fixture) latencyBound(letters string) float64 {
	c := f.cost(collectives.AllGather, letters, 1)
	return c.Latency / c.Bandwidth
}

// caseVectors are the four cases of sharded products.
func caseVectors() []vector {
	f := wrapped("tpu-v5p", "X4 Y4", cost.Book())
	whole := bf16(1024, 2048, 4096)
	case1 := f.matmul(bf16(1024/4, 2048, 4096), "Y", cost.Nowhere, cost.OnK, "1", cost.OnK)
	case2 := f.matmul(whole, "X", cost.OnJ, cost.Nowhere, "2a", cost.Nowhere)
	reduce := f.matmul(whole, "X", cost.OnJ, cost.OnJ, "3a", cost.Nowhere)
	scatter := f.matmul(whole, "X", cost.OnJ, cost.OnJ, "3b", cost.OnK)
	_, diagonal := cost.ProductSide(cost.OnI, cost.OnK)
	gatherA := f.matmul(whole, "X", cost.OnI, cost.OnK, "4a", cost.OnK)
	gatherB := f.matmul(whole, "X", cost.OnI, cost.OnK, "4b", cost.OnI)
	const w = 1.8e11
	return []vector{
		{"S-07", "moves", float64(len(case1.Moves)), 0, 0},
		{"S-07", "flops", case1.FLOPs, 2 * 1024 * 2048 * 4096 / 16, 0},
		{"S-08", "V", float64(case2.Moves[0].V), 2 * 1024 * 2048, 0},
		{"S-08", "seconds", case2.Net, 2 * 1024 * 2048 / w, 0},
		{"S-08", "flops", case2.FLOPs, 2 * 1024 * 2048 * 4096, 0},
		{"S-09", "all-reduce", reduce.Net, 2 * 2 * 1024 * 4096 / w, 0},
		{"S-09", "reduce-scatter", scatter.Net, 2 * 1024 * 4096 / w, 0},
		{"S-09", "flops", reduce.FLOPs, 2 * 1024 * 2048 * 4096 / 4, 0},
		{"S-10", "diagonal blocks rejected", truth(errors.Is(diagonal, diag.ErrInvalid)), 1, 0},
		{"S-10", "gather A", gatherA.Net, 2 * 1024 * 2048 / w, 0},
		{"S-10", "gather B", gatherB.Net, 2 * 2048 * 4096 / w, 0},
	}
}

// exchangeVectors are all-to-alls.
func exchangeVectors() []vector {
	const v = 1e9
	ring := wrapped("tpu-v5e", "X16", cost.Book())
	plane := on("tpu-v5e", "X16 Y16", cost.Book())
	cube := onHardware(profile("tpu-v5p"), "X4 Y8 Z16", cost.Book(), cost.SliceShape{Shape: []int64{4, 8, 16}})
	return []vector{
		{"S-11", "of a gather", ring.seconds(collectives.AllToAll, "X", v) / ring.seconds(collectives.AllGather, "X", v), 0.25, 0},
		{"S-11", "seconds", ring.seconds(collectives.AllToAll, "X", v), v / (4 * 9e10), 0},
		{"S-12", "16x16", plane.seconds(collectives.AllToAll, "XY", v), 173.6 * us, 0.001},
		{"S-12", "ring of 16", ring.seconds(collectives.AllToAll, "X", v), 2.778 * ms, 0.001},
		{"S-12", "line of 4", lines("tpu-v5e", "X4", cost.Book()).seconds(collectives.AllToAll, "X", v), 5.556 * ms, 0.001},
		{"S-13", "4x8x16", cube.seconds(collectives.AllToAll, "XYZ", v), 43.4 * us, 0.001},
	}
}

// problemVectors are those of cost.md section 4.2.
func problemVectors() []vector {
	book := on("tpu-v4p", "X4 Y4 Z4", cost.Book())
	tight := on("tpu-v4p", "X4 Y4 Z4", exact())
	bd := []int64{1024, 4096}
	overX, overXY := LocalBytes(bd, []int64{1, 4}, 2), LocalBytes(bd, []int64{1, 1}, 2)
	cut := LocalBytes(bd, []int64{4, 4}, 2)
	p1 := float64(64) * float64(LocalBytes([]int64{8, 8, 8}, []int64{4, 1, 1}, 2)) / (8 * 8 * 8 * 2)
	out := []vector{
		{"S-P1", "fleet bytes", p1, 16, 0},
		{"S-P2a", "V", float64(overX), 2097152, 0},
		{"S-P2a", "book", book.seconds(collectives.AllGather, "X", overX), 23.3 * us, 0.01},
		{"S-P2a", "exact", tight.seconds(collectives.AllGather, "X", overX), 17.48 * us, 0.01},
		{"S-P2b", "V", float64(overXY), 8388608, 0},
		{"S-P2b", "book", book.seconds(collectives.AllGather, "XY", overXY), 46.6 * us, 0.01},
		{"S-P2b", "exact", tight.seconds(collectives.AllGather, "XY", overXY), 43.7 * us, 0.01},
		{"S-P2b", "latency", book.cost(collectives.AllGather, "XY", overXY).Latency, 4 * us, 0.01},
		{"S-P2c", "V", float64(cut), 524288, 0},
		{"S-P2c", "book", book.seconds(collectives.AllReduce, "Z", cut), 11.65 * us, 0.01},
		{"S-P2c", "exact", tight.seconds(collectives.AllReduce, "Z", cut), 8.74 * us, 0.01},
		{"S-P2d", "book", book.seconds(collectives.AllGather, "Y", LocalBytes(bd, []int64{4, 1}, 2)), 23.3 * us, 0.01},
		{"S-P3", "seconds", book.seconds(collectives.AllGather, "X", 256), 2 * us, 0.01},
		{"S-P8", "all-reduce", book.seconds(collectives.AllReduce, "X", 1e9) / book.seconds(collectives.AllGather, "X", 1e9), 2, 0.3},
		{"S-P8", "reduce-scatter", book.seconds(collectives.ReduceScatter, "X", 1e9) / book.seconds(collectives.AllGather, "X", 1e9), 1, 0.3},
		{"S-P8", "all-to-all", book.seconds(collectives.AllToAll, "X", 1e9) / book.seconds(collectives.AllGather, "X", 1e9), 0.25, 0.3},
	}
	for _, more := range [][]vector{thresholdVectors(), cubeVectors(), planeVectors(), decodeVectors(), linkVectors()} {
		out = append(out, more...)
	}
	return out
}

// thresholdVectors are problem 4: gather the weights, or reduce local products.
func thresholdVectors() []vector {
	hw := profile("tpu-v5p")
	alpha := CriticalIntensity(hw.Matrix.BF16, (2 * hw.Torus.Link))
	batch, shards, scatterShards := GatherOrReduceLimits(8192, alpha)
	out := []vector{
		{"S-P4a", "alpha", alpha, 2550, 0.01},
		{"S-P4a", "gather limit", batch, 2550, 0.01},
		{"S-P4a", "all-reduce limit", shards, 8192. / 5100, 0.01},
		{"S-P4a", "reduce-scatter limit", scatterShards, 8192. / 2550, 0.01},
	}
	for _, p := range []struct {
		id                      string
		mesh                    string
		b, d, f                 int64
		gather, reduce, scatter float64
	}{
		{"S-P4b", "X4", 1024, 8192, 32768, 2982.6, 745.7, 372.8},
		{"S-P4c", "X4", 4096, 8192, 32768, 4790.9, 2982.6, 1491.3},
		{"S-P4d", "X8", 8192, 4096, 16384, 2395.5, 2982.6, 1491.3},
		{"S-P4e", "X4", 1024, 1024, 8192, 93.2, 186.4, 93.2},
	} {
		f := wrapped("tpu-v5p", p.mesh, cost.Book())
		m := bf16(p.b, p.d, p.f)
		gather := f.matmul(m, "X", cost.Nowhere, cost.OnJ, "2a", cost.Nowhere)
		reduce := f.matmul(m, "X", cost.Nowhere, cost.OnJ, "2b", cost.Nowhere)
		scatter := f.matmul(m, "X", cost.Nowhere, cost.OnJ, "2b'", cost.OnK)
		out = append(out,
			vector{p.id, "gather", gather.Seconds(cost.Largest), p.gather * us, 0.005},
			vector{p.id, "all-reduce", reduce.Seconds(cost.Largest), p.reduce * us, 0.005},
			vector{p.id, "reduce-scatter", scatter.Seconds(cost.Largest), p.scatter * us, 0.005},
			vector{p.id, "rule", truth(ReduceWins(float64(p.b), float64(p.d), alpha, false)), truth(p.reduce < p.gather), 0},
			vector{p.id, "rule of scatter", truth(ReduceWins(float64(p.b), float64(p.d), alpha, true)), truth(p.scatter < p.gather), 0},
		)
	}
	b := wrapped("tpu-v5p", "X4", cost.Book())
	m := bf16(1024, 8192, 32768)
	return append(out,
		vector{"S-P4b", "gather math", b.matmul(m, "X", cost.Nowhere, cost.OnJ, "2a", cost.Nowhere).Local.Math, 1197.7 * us, 0.005},
		vector{"S-P4b", "local math", b.matmul(m, "X", cost.Nowhere, cost.OnJ, "2b", cost.Nowhere).Local.Math, 299.4 * us, 0.005})
}

// cubeVectors are problems 5 and 9.
func cubeVectors() []vector {
	f := on("tpu-v5p", "X4 Y4 Z4", cost.Book())
	m := bf16(8192, 8192, 8192)
	cut := f.matmul(m, "XYZ", cost.OnI, cost.Nowhere, "1 gather C", cost.Nowhere)
	ring := wrapped("tpu-v5p", "X4", cost.Book())
	p9 := bf16(1000, 4000, 8000) // N, M, K
	gather := ring.matmul(p9, "X", cost.OnJ, cost.Nowhere, "2a", cost.Nowhere)
	scatter := ring.matmul(p9, "X", cost.OnJ, cost.Nowhere, "2b'", cost.OnK)
	reduce := ring.matmul(p9, "X", cost.OnJ, cost.Nowhere, "2b", cost.Nowhere)
	return []vector{
		{"S-P5", "math", cut.Local.Math, 37.4 * us, 0.005},
		{"S-P5", "gather", cut.Net, 248.6 * us, 0.005},
		{"S-P5", "contracted", f.matmul(m, "XYZ", cost.OnJ, cost.OnJ, "3a", cost.Nowhere).Net, 497.1 * us, 0.005},
		{"S-P5", "no sharding", f.matmul(m, "XYZ", cost.Nowhere, cost.Nowhere, "1", cost.Nowhere).Seconds(cost.Largest), 2395.5 * us, 0.005},
		{"S-P5", "cut result", f.matmul(m, "XYZ", cost.OnI, cost.Nowhere, "1", cost.OnI).Net, 0, 0},
		{"S-P9", "gather : reduce-scatter", gather.Net / scatter.Net, 4000. / 8000, 0},
		{"S-P9", "all-reduce : gather", reduce.Net / gather.Net, 2 * 8000. / 4000, 0},
	}
}

// planeVectors are problem 6.
func planeVectors() []vector {
	const n = 8192
	f := lines("tpu-v5e", "X4 Y4", exact())
	ideal := wrapped("tpu-v5e", "X4 Y4", cost.Book())
	a := f.matmul(bf16(n/4, n, n), "Y", cost.OnJ, cost.OnJ, "3a", cost.Nowhere)
	even := f.matmul(bf16(n/4, 26268, n), "Y", cost.OnJ, cost.OnJ, "3a", cost.Nowhere)
	idealEven := ideal.matmul(bf16(n/4, 17512, n), "Y", cost.OnJ, cost.OnJ, "3a", cost.Nowhere)
	b := f.matmul(bf16(n, n, n/4), "X", cost.OnI, cost.OnJ, "fsdp gather B", cost.OnI)
	evenB := f.matmul(bf16(13132, n, n/4), "X", cost.OnI, cost.OnJ, "fsdp gather B", cost.OnI)
	idealB := ideal.matmul(bf16(8756, n, n/4), "X", cost.OnI, cost.OnJ, "fsdp gather B", cost.OnI)
	c := f.matmul(bf16(n/4, n, n), "Y", cost.Nowhere, cost.OnK, "1", cost.OnK)
	return []vector{
		{"S-P6a", "V", float64(a.Moves[0].V), 33554432, 0},
		{"S-P6a", "net", a.Net, 1118.5 * us, 0.005},
		{"S-P6a", "ideal", ideal.matmul(bf16(n/4, n, n), "Y", cost.OnJ, cost.OnJ, "3a", cost.Nowhere).Net, 745.7 * us, 0.005},
		{"S-P6a", "math", a.Local.Math, 348.8 * us, 0.005},
		{"S-P6a", "break-even", even.Local.Math / even.Net, 1, 0.005},
		{"S-P6a", "ideal break-even", idealEven.Local.Math / idealEven.Net, 1, 0.005},
		{"S-P6b", "net", b.Net, 559.2 * us, 0.005},
		{"S-P6b", "ideal", ideal.matmul(bf16(n, n, n/4), "X", cost.OnI, cost.OnJ, "fsdp gather B", cost.OnI).Net, 372.8 * us, 0.005},
		{"S-P6b", "math", b.Local.Math, 348.8 * us, 0.005},
		{"S-P6b", "break-even", evenB.Local.Math / evenB.Net, 1, 0.005},
		{"S-P6b", "ideal break-even", idealB.Local.Math / idealB.Net, 1, 0.005},
		{"S-P6c", "net", c.Net, 0, 0},
		{"S-P6c", "math", c.Local.Math, 348.8 * us, 0.005},
	}
}

// decodeVectors are problem 7: two products whose hidden width is cut over a 2x2 slice.
func decodeVectors() []vector {
	const d, f, b = 8192, 32768, 128
	t := on("tpu-v5e", "X2 Y2", exact())
	ideal := wrapped("tpu-v5e", "X4 Y4", cost.Book())
	x := LocalBytes([]int64{b, d}, []int64{1, 1}, 2)
	weights := 2 * LocalBytes([]int64{d, f}, []int64{1, 4}, 2)
	in := t.matmul(bf16(b, d, f), "XY", cost.Nowhere, cost.OnK, "1", cost.OnK)
	out := t.matmul(bf16(b, f, d), "XY", cost.OnJ, cost.OnJ, "3a", cost.Nowhere)
	return []vector{
		{"S-P7", "weights a chip", float64(weights), 268.4e6, 0.01},
		{"S-P7", "x", float64(x), 2.1e6, 0.01},
		{"S-P7", "h", float64(LocalBytes([]int64{b, f}, []int64{1, 1}, 2)), 8.4e6, 0.01},
		{"S-P7", "math", in.Local.Math + out.Local.Math, 174.4 * us, 0.01},
		{"S-P7", "load", t.Hardware().Op(cost.Work{Bytes: float64(weights)}, cost.Book()).HBM, 331.4 * us, 0.01},
		{"S-P7", "gather x", t.seconds(collectives.AllGather, "XY", x), 17.5 * us, 0.01},
		{"S-P7", "all-reduce", out.Net, 35.0 * us, 0.01},
		{"S-P7", "reduce-scatter", t.seconds(collectives.ReduceScatter, "XY", x), 17.5 * us, 0.01},
		{"S-P7", "gather on rings", ideal.seconds(collectives.AllGather, "XY", x), 11.7 * us, 0.01},
		{"S-P7", "all-reduce on rings", ideal.seconds(collectives.AllReduce, "XY", x), 23.3 * us, 0.01},
	}
}

// linkVectors are problem 10: what one link of a ring carries.
func linkVectors() []vector {
	const v, n = 1024 * 1024, 8
	return []vector{
		{"S-P10a", "gather one way", RingLoad(collectives.AllGather, n, v, false), 917504, 0},
		{"S-P10a", "reduce-scatter one way", RingLoad(collectives.ReduceScatter, n, v, false), 917504, 0},
		{"S-P10b", "exchange one way", RingLoad(collectives.AllToAll, n, v, false), 458752, 0},
		{"S-P10c", "gather both ways", RingLoad(collectives.AllGather, n, v, true), 458752, 0},
		{"S-P10c", "exchange both ways", RingLoad(collectives.AllToAll, n, v, true), 131072, 0},
		{"S-P10d", "one way", RingLoad(collectives.AllToAll, n, v, false) / RingLoad(collectives.AllGather, n, v, false), 0.5, 0},
		{"S-P10d", "both ways", RingLoad(collectives.AllToAll, n, v, true) / RingLoad(collectives.AllGather, n, v, true), 0.25 * 8 / 7, 0},
	}
}
