package propagate_test

import (
	"fmt"
	"slices"
)

// matrix factors a matrix or solves a triangular system.
func (g *generator) matrix() {
	x := g.where("f32", func(v value) bool {
		n := len(v.dims)
		return v.elem == "f32" && n >= 2 && v.dims[n-1] == v.dims[n-2]
	}, 0)
	if len(x.dims) < 2 {
		n := g.pick(2, 4, 6)
		x = g.like(shape{append(g.dims()[:0:0], g.pick(2, 4), n, n), "f32"})
	}
	if g.chance(2) {
		g.op("stablehlo.cholesky", "lower = true", "", []value{x}, x.shape)
		return
	}
	n := len(x.dims)
	b := slices.Clone(x.dims)
	left := g.chance(2)
	if left {
		b[n-1] = g.pick(1, 2, 4, 8)
	} else {
		b[n-2] = g.pick(1, 2, 4, 8)
	}
	y := g.like(x.with(b))
	g.op("stablehlo.triangular_solve",
		fmt.Sprintf("left_side = %t, lower = true, transpose_a = #stablehlo<transpose %s>, unit_diagonal = false",
			left, g.word("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")), "", []value{x, y}, y.shape)
}

// fft transforms the last dimensions, of complex or of real numbers.
func (g *generator) fft() {
	x := g.where("f32", func(v value) bool {
		return (v.elem == "f32" || v.elem == "complex<f32>") && len(v.dims) > 0 && !slices.Contains(v.dims, 0)
	}, 2)
	n := min(len(x.dims), 1+g.r.Intn(3))
	length, out := slices.Clone(x.dims[len(x.dims)-n:]), x.shape
	kind := g.word("FFT", "IFFT")
	last := len(x.dims) - 1
	switch {
	case x.elem == "f32":
		kind, out = "RFFT", shape{slices.Clone(x.dims), "complex<f32>"}
		out.dims[last] = out.dims[last]/2 + 1
	case g.chance(3) && x.dims[last] > 1:
		kind, out = "IRFFT", shape{slices.Clone(x.dims), "f32"}
		length[n-1] = (x.dims[last] - 1) * 2
		out.dims[last] = length[n-1]
	}
	g.op("stablehlo.fft", fmt.Sprintf("fft_length = %s, fft_type = #stablehlo<fft_type %s>", ints(length), kind), "", []value{x}, out)
}

// random makes random numbers, of a state or not.
func (g *generator) random() {
	dims := g.dims()
	if g.chance(2) {
		state := g.like(shape{[]int64{2}, "ui64"})
		g.op("stablehlo.rng_bit_generator", "rng_algorithm = #stablehlo<rng_algorithm "+g.word("DEFAULT", "THREE_FRY")+">", "",
			[]value{state}, state.shape, shape{dims, "ui32"})
		return
	}
	name := g.name()
	g.line("%s = stablehlo.constant dense<%s> : tensor<%dxi64>", name, list(dims), len(dims))
	n := value{name, shape{[]int64{int64(len(dims))}, "i64"}}
	zero, one := g.like(shape{nil, "f32"}), g.like(shape{nil, "f32"})
	g.op("stablehlo.rng", "rng_distribution = #stablehlo<rng_distribution UNIFORM>", "", []value{zero, one, n}, shape{dims, "f32"})
}

var pointwiseTargets = []string{"annotate_device_placement", "Cholesky", "CompactWyHelper", "InspectSharding", "LayoutConstraint",
	"mhlo.erf",
	"MoveToDevice", "MoveToHost", "X64SplitHigh", "xla.megascale.provide_metadata", "_SPMDInternalOp_RotateRight", "X64Combine",
	"sdy_testonly", "tpu_custom_call", "xla_ffi_python_cpu_callback", "unheard_of"}

func (g *generator) customCall() {
	x := g.any()
	call := func(target string, operands []value, results ...shape) {
		g.op("stablehlo.custom_call", fmt.Sprintf("call_target_name = %q", target), "", operands, results...)
	}
	if n := len(x.dims); n >= 2 && g.chance(2) {
		g.matrixCall(x, call)
		return
	} else if n > 0 && !slices.Contains(x.dims, 0) && g.chance(3) {
		g.searchCall(x, call)
		return
	}
	operands, results := []value{x}, []shape{x.shape}
	if g.chance(3) {
		operands = append(operands, g.like(x.shape))
	}
	if g.chance(5) {
		results = append(results, x.shape)
	}
	call(g.word(pointwiseTargets...), operands, results...)
}

type caller func(target string, operands []value, results ...shape)

func (g *generator) matrixCall(x value, call caller) {
	n := len(x.dims)
	vector := x.with(slices.Clone(x.dims[:n-1]))
	vector.dims[n-2] = min(x.dims[n-1], x.dims[n-2])
	switch g.r.Intn(4) {
	case 0:
		call("Eigh", []value{x}, x.shape, x.with(x.dims[:n-1]))
	case 1:
		call(g.word("Qr", "QrDecompositionBlock"), []value{x}, x.shape, vector)
	case 2:
		call("ProductOfElementaryHouseholderReflectors", []value{x, g.like(vector)}, x.shape)
	default:
		call(g.word("_SPMDInternalOp_MultiPad", "InvertDiagBlocksLowerTriangular"), []value{x}, x.shape)
	}
}

// searchCall finds the best elements of one dimension.
func (g *generator) searchCall(x value, call caller) {
	d := g.r.Intn(len(x.dims))
	out := slices.Clone(x.dims)
	out[d] = 1 + int64(g.r.Intn(int(out[d])))
	if g.chance(2) {
		call("mhlo.topk", []value{x}, x.with(out), shape{out, "i32"})
		return
	}
	scalar, place := g.like(shape{nil, x.elem}), g.like(shape{nil, "i32"})
	call(g.word("ApproxTopK", "PartialReduce"), []value{x, g.like(shape{x.dims, "i32"}), scalar, place}, x.with(out), shape{out, "i32"})
}

// batchNorm normalises along a feature dimension.
func (g *generator) batchNorm() {
	x := g.positive(2)
	d := g.r.Intn(len(x.dims))
	feature := x.with(x.dims[d : d+1])
	operands := []value{x}
	properties := fmt.Sprintf("epsilon = 1.0e-03 : f32, feature_index = %d : i64", d)
	switch g.r.Intn(4) {
	case 0:
		operands = append(operands, g.like(feature), g.like(feature))
		g.op("stablehlo.batch_norm_training", properties, "", operands, x.shape, feature, feature)
	case 1:
		operands = append(operands, g.like(feature), g.like(feature), g.like(feature), g.like(x.shape))
		g.op("stablehlo.batch_norm_grad", properties, "", operands, x.shape, feature, feature)
	default:
		for range 4 {
			operands = append(operands, g.like(feature))
		}
		g.op("stablehlo.batch_norm_inference", properties, "", operands, x.shape)
	}
}

// collective lets pairs of devices talk.
func (g *generator) collective() {
	x := g.positive(1)
	const groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>"
	d := g.r.Intn(len(x.dims))
	out := slices.Clone(x.dims)
	sum := g.combiner([]string{"f32", "f32"}, 1, "add")
	switch g.r.Intn(6) {
	case 0:
		out[d] *= 2
		g.op("stablehlo.all_gather", fmt.Sprintf("all_gather_dim = %d : i64, %s", d, groups), "", []value{x}, x.with(out))
	case 1:
		g.op("stablehlo.all_reduce", groups, sum, []value{x}, x.shape)
	case 2:
		if out[d]%2 == 0 {
			out[d] /= 2
			g.op("stablehlo.reduce_scatter", fmt.Sprintf("scatter_dimension = %d : i64, %s", d, groups), sum, []value{x}, x.with(out))
		}
	case 3:
		if e := g.r.Intn(len(x.dims)); out[d]%2 == 0 {
			out[d] /= 2
			out[e] *= 2
			g.op("stablehlo.all_to_all", fmt.Sprintf("split_dimension = %d : i64, concat_dimension = %d : i64, split_count = 2 : i64, %s", d, e,
				groups),
				"", []value{x}, x.with(out))
		}
	case 4:
		g.op("stablehlo.collective_permute", "source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>", "", []value{x}, x.shape)
	default:
		g.op("stablehlo.collective_broadcast", groups, "", []value{x}, x.shape)
	}
}
