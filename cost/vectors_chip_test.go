package cost_test

import (
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/ir/dtype"
)

// chipVectors are those of cost.md section 4.3.
func chipVectors() []vector {
	v5e, v6e, h100 := profile("tpu-v5e"), profile("tpu-v6e"), profile("h100")
	batched := cost.Matmul{Batch: 1 << 12, I: 1, J: 1 << 12, K: 1 << 12, SizeA: 1, SizeB: 1, SizeC: 1}
	out := []vector{
		{"R-01", "prose", CriticalBatch(2, v5e.Matrix.BF16, 8.2e11), 240.2, 0.005},
		{"R-01", "table", CriticalBatch(2, v5e.Matrix.BF16, v5e.HBMBandwidth), 243.2, 0.005},
		{"R-02", "short", DotIntensity(10, 2), 19. / 42, 0},
		{"R-02", "long", DotIntensity(1<<40, 2), 0.5, 1e-9},
		{"R-03", "later", ContractionBound(2, 2, 1.97e14, 4.5e10), 8755, 0.005},
		{"R-03", "first", ContractionBound(2, 2, 1.97e14, 5e10), 7880, 0.005},
		{"R-04", "int8", CriticalBatch(1, v5e.MatrixFLOPs(dtype.I8), v5e.HBMBandwidth), 243, 0.005},
		{"R-05", "int8 weights", CriticalBatch(1, v5e.Matrix.BF16, v5e.HBMBandwidth), 120, 0.02},
		{"R-06", "batched", Intensity(&batched), 2, 0.01},
		{"R-07", "nominal", CriticalBatch(2, 1e15, h100.HBMBandwidth), 298, 0.01},
		{"R-07", "table", CriticalBatch(2, 9.89e14, h100.HBMBandwidth), 295, 0.01},
		{"T-01", "quiz", load("tpu-v4p", 1.23e12, 4e11/32), 10.16 * ms, 0.01},
		{"T-01", "table", load("tpu-v4p", 1.2e12, 4e11/32), 10.42 * ms, 0.01},
		{"T-04", "PCIe of the quiz", CriticalBatch(2, v6e.Matrix.BF16, 1.5e10), 61333, 0.01},
		{"T-04", "PCIe of v6e", CriticalBatch(2, v6e.Matrix.BF16, v6e.PCIe), 28750, 0.01},
		{"T-05", "from HBM", CriticalRows(4096, 16384, 1, v5e.Matrix.Int8, v5e.HBMBandwidth), 262.7, 0.01},
		{"T-06", "from VMEM", CriticalRows(4096, 16384, 1, v5e.Matrix.Int8, 22*v5e.HBMBandwidth), 11.1, 0.02},
		{"T-09", "vector unit", profile("tpu-v5p").VectorFLOPs, 1.43e13, 0.01},
		{"T-10", "v5e", v5e.Torus.DCN, 3.125e9, 0},
		{"T-10", "v5p", profile("tpu-v5p").Torus.DCN, 6.25e9, 0},
	}
	return append(append(out, podVectors()...), transferVectors()...)
}

// podVectors are the largest slices.
func podVectors() []vector {
	var out []vector
	for _, p := range []struct {
		id, name                         string
		chips, hosts, cores, flops, size float64
		tol                              float64
	}{
		{"T-02", "tpu-v5e", 256, 32, 256, 5.04e16, 4096e9, 0.02},
		{"T-03", "tpu-v5p", 8960, 2240, 17920, 4.11e18, 860e12, 0.03},
	} {
		hw := profile(p.name)
		chips := int64(1)
		for _, s := range hw.Torus.Shape {
			chips *= s
		}
		out = append(out,
			vector{p.id, "chips", float64(chips), p.chips, 0},
			vector{p.id, "hosts", float64(chips / hw.HostChips), p.hosts, 0},
			vector{p.id, "cores", float64(chips * hw.Cores), p.cores, 0},
			vector{p.id, "flops", float64(chips) * hw.Matrix.BF16, p.flops, p.tol},
			vector{p.id, "memory", float64(chips) * hw.HBMBytes, p.size, p.tol})
	}
	return out
}

// transferVectors are quiz questions 5 and 6 of the TPU chapter, on a v5e 4x4 slice.
func transferVectors() []vector {
	book := on("tpu-v5e", "X4 Y4", cost.Book())
	added := cost.Book()
	added.Latency = cost.AddLatency
	v := LocalBytes([]int64{8, 128, 8192}, []int64{1, 1, 1}, 2)
	corner := cost.Pair{Source: 0, Target: 15}
	array := LocalBytes([]int64{131072, 131072}, []int64{1, 1}, 1)
	hw := book.Hardware()
	return []vector{
		{"T-07", "first byte", book.PointToPoint(corner, v).Latency, 6 * us, 0.01},
		{"T-07", "bandwidth", book.PointToPoint(corner, v).Bandwidth, 186.4 * us, 0.01},
		{"T-07", "total", on("tpu-v5e", "X4 Y4", added).PointToPoint(corner, v).Seconds, 192.4 * us, 0.01},
		{"T-08", "V", float64(array), 17.18e9, 0.001},
		{"T-08", "PCIe", float64(array) / 16 / hw.PCIe, 71.6 * ms, 0.01},
		{"T-08", "gather to a corner", book.seconds(collectives.AllGather, "XY", array), 179.0 * ms, 0.01},
		{"T-08", "HBM", hw.Op(cost.Work{Bytes: float64(array)}, cost.Book()).HBM, 21.2 * ms, 0.01},
		{"T-08", "math", hw.Op(cost.Work{FLOPs: 2.75e11, DType: dtype.BF16, Matrix: true}, cost.Book()).Math, 1.40 * ms, 0.01},
	}
}

// load returns the seconds to read bytes on a chip with another memory bandwidth.
func load(name string, bandwidth, bytes float64) float64 {
	hw := profile(name)
	hw.HBMBandwidth = bandwidth
	return hw.Op(cost.Work{Bytes: bytes}, cost.Book()).HBM
}
