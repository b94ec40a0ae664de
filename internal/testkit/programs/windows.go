package programs

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// dim draws a dimension, false where there is none.
func (g *generator) dim(dims []int64) (int, bool) {
	if len(dims) == 0 {
		return 0, false
	}
	return rapid.IntRange(0, len(dims)-1).Draw(g.t, "dimension"), true
}

// half takes half of one dimension, one piece or every second element, and keeps the others whole.
func (g *generator) half(v ir.ValueID, dims []int64) {
	d, ok := g.dim(dims)
	if !ok || dims[d]%2 != 0 || dims[d] < 4 {
		return
	}
	start, limit, stride, out := make([]int64, len(dims)), slices.Clone(dims), slices.Repeat([]int64{1}, len(dims)), slices.Clone(dims)
	out[d] /= 2
	stride[d] = rapid.Int64Range(1, 2).Draw(g.t, "stride")
	span := (out[d]-1)*stride[d] + 1
	start[d] = rapid.Int64Range(0, dims[d]-span).Draw(g.t, "start")
	limit[d] = start[d] + span
	g.add(g.b.Op1(ir.OpSlice, g.m.TensorType(dtype.F32, out...), attrs("start_indices", ir.Ints(start),
		"limit_indices", ir.Ints(limit), "strides", ir.Ints(stride)), v))
}

// spread shifts one dimension by a few places, and perhaps takes its elements apart; it keeps the size, or doubles it.
func (g *generator) spread(v ir.ValueID, dims []int64) {
	d, ok := g.dim(dims)
	if !ok || dims[d] == 0 || dims[d] > 16 {
		return
	}
	low, high, inner, out := make([]int64, len(dims)), make([]int64, len(dims)), make([]int64, len(dims)), slices.Clone(dims)
	out[d] *= rapid.Int64Range(1, 2).Draw(g.t, "times")
	low[d], inner[d] = rapid.Int64Range(-2, 2).Draw(g.t, "low"), rapid.Int64Range(0, 1).Draw(g.t, "interior")
	high[d] = out[d] - low[d] - ((dims[d]-1)*(inner[d]+1) + 1)
	g.add(g.b.Op1(ir.OpPad, g.m.TensorType(dtype.F32, out...), attrs("edge_padding_low", ir.Ints(low), "edge_padding_high", ir.Ints(high),
		"interior_padding", ir.Ints(inner)), v, g.constant(2)))
}

func (g *generator) reverse(v ir.ValueID, dims []int64) {
	if d, ok := g.dim(dims); ok {
		g.add(g.b.Op1(ir.OpReverse, g.m.Type(v), attrs("dimensions", ir.Ints{int64(d)}), v))
	}
}

// window adds or takes the maximum of three neighbours along one dimension.
func (g *generator) window(v ir.ValueID, dims []int64) {
	d, ok := g.dim(dims)
	if !ok || dims[d] == 0 {
		return
	}
	kind, init := ir.OpAdd, 0.0
	if rapid.Bool().Draw(g.t, "maximum") {
		if kind, init = ir.OpMaximum, -2; g.Identities {
			init = math.Inf(-1)
		}
	}
	size, padding := slices.Repeat([]int64{1}, len(dims)), make([]int64, 2*len(dims))
	size[d], padding[2*d], padding[2*d+1] = 3, 1, 1
	windows, _ := ir.ParseKind("stablehlo.reduce_window")
	op := g.b.OpRegions(windows, []ir.TypeID{g.m.Type(v)}, attrs("window_dimensions", ir.Ints(size),
		"padding", g.m.DenseInts(padding, int64(len(dims)), 2)), 1, v, g.constant(init))
	combiner(g.m, op, kind)
	g.add(g.m.Result(op, 0))
}

// convolve slides a kernel of three along the middle of three dimensions, the others being batch and features.
func (g *generator) convolve(v ir.ValueID, dims []int64) {
	if len(dims) != 3 || dims[1] == 0 || dims[2] > 16 {
		return
	}
	in, features := dims[2], int64(2)
	values := make([]float64, 3*in*features)
	for i := range values {
		values[i] = float64(i%5) - 2
	}
	x := tensor.FromFloats(dtype.F32, []int64{3, in, features}, values...)
	kernel := g.b.Constant(g.m.Dense(g.m.TensorType(dtype.F32, 3, in, features), x.Data))
	numbers := &ir.ConvDims{InFeature: 2, InSpatial: []int64{1}, KernelIn: 1, KernelOut: 2, KernelSpatial: []int64{0},
		OutFeature: 2, OutSpatial: []int64{1}} // batches come first
	g.add(g.b.Op1(ir.OpConvolution, g.m.TensorType(dtype.F32, dims[0], dims[1], features), attrs("dimension_numbers", numbers,
		"padding", g.m.DenseInts([]int64{1, 1}, 1, 2), "batch_group_count", g.m.I64(1), "feature_group_count", g.m.I64(1)), v, kernel))
}
