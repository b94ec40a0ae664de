package transpose_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/transpose"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// values returns numbers that look random: integers from -3 to 3, so that sums of products are exact.
func values(seed int, d dtype.Type, shape []int64) tensor.Tensor {
	n := int64(1)
	for _, s := range shape {
		n *= s
	}
	out := make([]float64, n)
	for k := range out {
		out[k] = float64((k*k*31+k*17+seed*97+11)%101%7 - 3)
	}
	return tensor.FromFloats(d, shape, out...)
}

func arguments(p *typed.Program, seed int) (out []tensor.Tensor) {
	for k, param := range p.Params {
		typ := p.Module.TypeOf(param.Type)
		out = append(out, values(seed+k, typ.DType, typ.Dims))
	}
	return out
}

// tester is a test or a random one.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Context() context.Context
}

func results(t tester, p *typed.Program, args []tensor.Tensor) (out []tensor.Tensor) {
	t.Helper()
	inputs := make([]*tensor.Tensor, len(args))
	for i := range args {
		inputs[i] = &args[i]
	}
	result, err := run.Typed(t.Context(), p, inputs, run.Options{Debug: true})
	if err != nil {
		t.Fatalf("%v in\n%s", err, p)
	}
	for _, x := range result.Outputs {
		out = append(out, *x)
	}
	return out
}

func dot(x, y []tensor.Tensor) (sum float64) {
	for i := range x {
		a, b := x[i].Floats(), y[i].Floats()
		for k := range a {
			sum += a[k] * b[k]
		}
	}
	return sum
}

// lawful checks a program that is linear in its first n inputs and whose outputs all depend on them: <f(x), y> =
// <x, fᵀ(y)>, the transpose of the transpose computes the same, and derivatives of a linear program are the program.
func lawful(t tester, p *typed.Program, n int) {
	t.Helper()
	q, err := transpose.Linear(p, first(n))
	if err != nil {
		t.Fatalf("%v in\n%s", err, p)
	}
	args := arguments(p, 1)
	out := results(t, p, args)
	var cts []tensor.Tensor
	for k, v := range out {
		cts = append(cts, values(50+k, v.DType, v.Shape))
	}
	back := results(t, q, append(slices.Clone(cts), args[n:]...))
	if len(back) != n {
		t.Fatalf("%d results, want %d in\n%s", len(back), n, q)
	}
	if a, b := dot(out, cts), dot(args[:n], back); a != b {
		t.Fatalf("<f(x), y> = %v, <x, fᵀ(y)> = %v for\n%s\n%s", a, b, p, q)
	}
	if p.Check {
		roundTrip(t, q)
	}
	again, err := transpose.Linear(q, first(len(out)))
	if err != nil {
		t.Fatalf("%v in\n%s", err, q)
	}
	same(t, again, args, out)
	for _, v := range out {
		if v.DType != dtype.F64 {
			return
		}
	}
	vjp, err := transpose.VJP(p, first(n))
	if err != nil {
		t.Fatalf("%v in\n%s", err, p)
	}
	same(t, vjp, append(slices.Clone(cts), args...), back)
}

func same(t tester, p *typed.Program, args, want []tensor.Tensor) {
	t.Helper()
	for i, got := range results(t, p, args) {
		if !slices.Equal(got.Floats(), want[i].Floats()) {
			t.Fatalf("result %d is %v, want %v in\n%s", i, got.Floats(), want[i].Floats(), p)
		}
	}
}

// local is an op of blocks: the first n inputs are those in which it is linear.
type local struct {
	name  string
	n     int
	dims  [][]int64
	build func(b *typed.Builder, x []ir.ValueID) ir.ValueID
}

func constants(b *typed.Builder, values ...float64) (out []ir.ValueID) {
	for _, v := range values {
		out = append(out, b.Constant(dtype.I32, nil, v))
	}
	return out
}

func attrs(list ...ir.NamedAttr) ir.Attrs { return ir.MakeAttrs(list...) }

func attr(name string, a ir.Attr) ir.NamedAttr { return ir.NamedAttr{Name: name, Value: a} }

func padding(b *typed.Builder, list ...int64) *ir.Dense {
	d := &ir.Dense{Type: b.Program().Module.TensorType(dtype.I64, int64(len(list)/2), 2)}
	for _, n := range list {
		for k := range 8 {
			d.Data = append(d.Data, byte(uint64(n)>>(8*k)))
		}
	}
	return d
}

func window(b *typed.Builder, x ir.ValueID, result []int64, size, stride, base, dilation int64, pads ...int64) ir.ValueID {
	return b.Folded(ir.OpReduceWindow, b.Program().Module.TensorType(dtype.F64, result...), attrs(
		attr("window_dimensions", ir.Ints{size}), attr("window_strides", ir.Ints{stride}), attr("base_dilations", ir.Ints{base}),
		attr("window_dilations", ir.Ints{dilation}), attr("padding", padding(b, pads...))), ir.OpAdd, x, b.Constant(dtype.F64, nil, 0))
}

// windows folds dilated windows of three elements, from a value, with padding.
func windows(b *typed.Builder, kind ir.Kind, x ir.ValueID, from float64) ir.ValueID {
	return b.Folded(ir.OpReduceWindow, b.Program().Module.TensorType(dtype.F64, 4), attrs(attr("window_dimensions", ir.Ints{3}),
		attr("window_strides", ir.Ints{2}), attr("base_dilations", ir.Ints{2}), attr("window_dilations", ir.Ints{2}),
		attr("padding", padding(b, 2, 2))),
		kind, x, b.Constant(dtype.F64, nil, from))
}

// convolution convolves images [batch, space, feature] with a kernel [space, in, out].
func convolution(b *typed.Builder, x []ir.ValueID) ir.ValueID {
	i64 := func(n int64) ir.IntAttr {
		return ir.IntAttr{Value: n, Type: b.Program().Module.ScalarType(dtype.I64)}
	}
	d := &ir.ConvDims{InBatch: 0, InSpatial: []int64{1}, InFeature: 2, KernelSpatial: []int64{0}, KernelIn: 1, KernelOut: 2,
		OutBatch: 1, OutFeature: 0, OutSpatial: []int64{2}}
	return b.Op(ir.OpConvolution, b.Program().Module.TensorType(dtype.F64, 2, 2, 6),
		attrs(attr("dimension_numbers", d), attr("window_strides", ir.Ints{3}),
			attr("lhs_dilation", ir.Ints{2}), attr("rhs_dilation", ir.Ints{2}), attr("padding", padding(b, 1, 2)),
			attr("feature_group_count", i64(1)),
			attr("batch_group_count", i64(1))), x[0], x[1])
}

var locals = []local{
	{"add", 2, [][]int64{{2, 3}, {2, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID { return b.Binary(ir.OpAdd, x[0], x[1]) }},
	{"add to itself", 1, [][]int64{{2, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID { return b.Binary(ir.OpAdd, x[0], x[0]) }},
	{"add zero", 1, [][]int64{{2}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Binary(ir.OpAdd, x[0], b.Constant(dtype.F64, nil, 0))
	}},
	{"subtract", 2, [][]int64{{4}, {4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID { return b.Binary(ir.OpSubtract, x[0], x[1]) }},
	{"negate", 1, [][]int64{{4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID { return b.Unary(ir.OpNegate, x[0]) }},
	{"multiply", 1, [][]int64{{2, 2}, {2, 2}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Binary(ir.OpMultiply, x[0],
			x[1])
	}},
	{"multiply on the right", 1, [][]int64{{2, 2}, {2, 2}}, func(b *typed.Builder,
		x []ir.ValueID) ir.ValueID {
		return b.Binary(ir.OpMultiply, x[1], x[0])
	}},
	{"divide", 1, [][]int64{{4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Binary(ir.OpDivide, x[0], b.Constant(dtype.F64, []int64{4}, 1, 2, 4, -8))
	}},
	{"select", 2, [][]int64{{4}, {4}, {4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Select(b.Compare("GT", x[2], b.Constant(dtype.F64, nil, 0)), x[0], x[1])
	}},
	{"select or zero", 1, [][]int64{{4}, {4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Select(b.Compare("GT", x[1], b.Constant(dtype.F64, nil, 0)), b.Constant(dtype.F64, nil, 0), x[0])
	}},
	{"reshape", 1, [][]int64{{4, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID { return b.Reshape(x[0], 2, 6) }},
	{"transpose", 1, [][]int64{{2, 3, 4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID { return b.Transpose(x[0], 2, 0, 1) }},
	{"broadcast", 1, [][]int64{{2, 1, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Broadcast(x[0], []int64{4, 3, 5, 2}, 3, 2, 1)
	}},
	{"reverse", 1, [][]int64{{2, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Op(ir.OpReverse, b.Type(x[0]), attrs(attr("dimensions", ir.Ints{1})), x[0])
	}},
	{"sum", 1, [][]int64{{2, 3, 4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID { return b.Reduce(ir.OpAdd, x[0], 0, 2) }},
	{"dot", 1, [][]int64{{2, 3, 4}, {3, 2, 5, 4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Dot(x[0], x[1], ir.DotDims{LhsBatch: []int64{0}, RhsBatch: []int64{1}, LhsContract: []int64{2, 1}, RhsContract: []int64{3, 0}})
	}},
	{"dot on the right", 1, [][]int64{{5, 3, 4, 2}, {2, 4, 6, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Dot(x[1], x[0], ir.DotDims{LhsBatch: []int64{0}, RhsBatch: []int64{3}, LhsContract: []int64{3, 1}, RhsContract: []int64{1, 2}})
	}},
	{"slice", 1, [][]int64{{2, 7}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Slice(x[0], []int64{0, 1}, []int64{2, 7}, []int64{1, 3})
	}},
	{"pad", 1, [][]int64{{2, 4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Pad(x[0], b.Constant(dtype.F64, nil, 0), []int64{1, -1}, []int64{0, 2}, []int64{0, 2})
	}},
	{"pad with a linear value", 1, [][]int64{{3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Pad(x[0], b.Reduce(ir.OpAdd, x[0], 0), []int64{1}, []int64{2}, []int64{1})
	}},
	{"concatenate", 2, [][]int64{{2, 2}, {2, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.Concatenate(1, x[0], x[1],
			x[0])
	}},
	{"dynamic_slice", 1, [][]int64{{5, 4}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.DynamicSlice(x[0], []int64{2, 3}, constants(b, 7, -1)...)
	}},
	{"dynamic_update_slice", 2, [][]int64{{5, 4}, {2, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return b.DynamicUpdateSlice(x[0], x[1], constants(b, 2, 3)...)
	}},
	{"gather", 1, [][]int64{{5, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		index := b.Constant(dtype.I32, []int64{4, 1}, 3, 0, 9, -2)
		d := &ir.GatherDims{Offset: []int64{1}, Collapsed: []int64{0}, StartIndexMap: []int64{0}, IndexVectorDim: 1}
		return b.Op(ir.OpGather, b.Program().Module.TensorType(dtype.F64, 4, 3), attrs(attr("dimension_numbers", d),
			attr("slice_sizes", ir.Ints{1, 3})), x[0], index)
	}},
	{"scatter", 2, [][]int64{{5, 3}, {4, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		index := b.Constant(dtype.I32, []int64{4, 1}, 3, 3, 9, 0)
		d := &ir.ScatterDims{UpdateWindow: []int64{1}, InsertedWindow: []int64{0}, ToOperand: []int64{0}, IndexVectorDim: 1}
		return b.Folded(ir.OpScatter, b.Type(x[0]), attrs(attr("scatter_dimension_numbers", d)), ir.OpAdd, x[0], index, x[1])
	}},
	{"scatter that replaces", 2, [][]int64{{5, 3}, {3, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		index := b.Constant(dtype.I32, []int64{3, 1}, 3, 9, 0)
		d := &ir.ScatterDims{UpdateWindow: []int64{1}, InsertedWindow: []int64{0}, ToOperand: []int64{0}, IndexVectorDim: 1}
		return b.Folded(ir.OpScatter, b.Type(x[0]), attrs(attr("scatter_dimension_numbers", d), attr("unique_indices", ir.BoolAttr(true))), 0,
			x[0], index, x[1])
	}},
	{"convolution", 1, [][]int64{{2, 9, 3}, {3, 3, 2}}, convolution},
	{"convolution on the right", 1, [][]int64{{3, 3, 2}, {2, 9, 3}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return convolution(b, []ir.ValueID{x[1], x[0]})
	}},
	{"cumulative sum", 1, [][]int64{{5}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return window(b, x[0], []int64{5}, 5, 1, 1, 1, 4, 0)
	}},
	{"sum over windows", 1, [][]int64{{6}}, func(b *typed.Builder, x []ir.ValueID) ir.ValueID {
		return window(b, x[0], []int64{6}, 3, 2, 2, 2, 3, 2)
	}},
}

// Local ops transpose and have themselves for derivatives, with the check on and off.
func TestLocalOps(t *testing.T) {
	for _, op := range locals {
		for _, unchecked := range []bool{false, true} {
			t.Run(fmt.Sprint(op.name, " unchecked=", unchecked), func(t *testing.T) {
				b := typed.NewBuilder("f", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "i", Size: 2}}}, typed.Setup{Unchecked: unchecked})
				var in []ir.ValueID
				for k, dims := range op.dims {
					global := slices.Clone(dims)
					global[0] *= 2
					in = append(in, b.Param(fmt.Sprint("x", k), dtype.F64, global, typed.P("i")))
				}
				v := op.build(b, in)
				if v != 0 && len(b.Program().Module.Shape(v)) == 0 {
					v = b.Reshape(v, 1)
				}
				b.Result(v, typed.P("i"))
				p, err := b.Finish()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.Elaborate(typed.Options{}); err != nil {
					t.Fatal(err)
				}
				lawful(t, p, op.n)
			})
		}
	}
}

// function is an elementwise function with inputs between 0.2 and 1.8, or between -1 and 1 if signed.
type function struct {
	name   string
	signed bool
	build  func(b *typed.Builder, x, y ir.ValueID) ir.ValueID
}

func unary(kind ir.Kind) func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
	return func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		return b.Binary(ir.OpMultiply, b.Unary(kind, x), y)
	}
}

func binary(kind ir.Kind) func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
	return func(b *typed.Builder, x, y ir.ValueID) ir.ValueID { return b.Binary(kind, x, y) }
}

var functions = []function{
	{"exp", true, unary(ir.OpExponential)}, {"expm1", true, unary(ir.OpExponentialMinusOne)}, {"log", false, unary(ir.OpLog)},
	{"log1p", false, unary(ir.OpLogPlusOne)}, {"tanh", true, unary(ir.OpTanh)}, {"logistic", true, unary(ir.OpLogistic)},
	{"sqrt", false, unary(ir.OpSqrt)},
	{"rsqrt", false, unary(ir.OpRsqrt)}, {"cbrt", false, unary(ir.OpCbrt)}, {"sin", true, unary(ir.OpSine)}, {"cos", true, unary(ir.OpCosine)},
	{"tan", true, unary(ir.OpTan)}, {"abs", true, unary(ir.OpAbs)}, {"erf", true, unary(ir.OpChloErf)},
	{"square", true, unary(ir.OpChloSquare)},
	{"sinh", true, unary(ir.OpChloSinh)}, {"cosh", true, unary(ir.OpChloCosh)}, {"floor", false, unary(ir.OpFloor)},
	{"asin", true, unary(ir.OpChloAsin)}, {"acos", true, unary(ir.OpChloAcos)}, {"atan", true, unary(ir.OpChloAtan)},
	{"asinh", true, unary(ir.OpChloAsinh)},
	{"atanh", true, unary(ir.OpChloAtanh)}, {"erf_inv", true, unary(ir.OpChloErfInv)}, {"lgamma", false, unary(ir.OpChloLgamma)},
	{"digamma", false, unary(ir.OpChloDigamma)}, {"remainder", false, binary(ir.OpRemainder)},
	{"acosh", false, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		two := b.Constant(dtype.F64, nil, 2)
		return b.Binary(ir.OpMultiply, b.Unary(ir.OpChloAcosh, b.Binary(ir.OpAdd, x, two)), y)
	}},
	{"mul", true, binary(ir.OpMultiply)}, {"div", false, binary(ir.OpDivide)}, {"power", false, binary(ir.OpPower)},
	{"atan2", false, binary(ir.OpAtan2)},
	{"max", true, binary(ir.OpMaximum)}, {"min", true, binary(ir.OpMinimum)}, {"sub", true, binary(ir.OpSubtract)},
	{"softmax", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		e := b.Unary(ir.OpExponential, b.Binary(ir.OpSubtract, x, b.Reduce(ir.OpMaximum, x, 0)))
		return b.Binary(ir.OpMultiply, b.Binary(ir.OpDivide, e, b.Reduce(ir.OpAdd, e, 0)), y)
	}},
	{"product", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		return b.Binary(ir.OpMultiply, y, b.Reduce(ir.OpMultiply, b.Broadcast(x, []int64{2, 4}, 1), 0, 1))
	}},
	{"product with zeros", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		one := b.Constant(dtype.F64, []int64{4}, 1, 0, 1, 1)
		return b.Binary(ir.OpMultiply, y, b.Reduce(ir.OpMultiply, b.Binary(ir.OpMultiply, x, one), 0))
	}},
	{"sort", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		z := b.Concatenate(0, x, y)
		both := b.Sort(0, true, func(p, q []ir.ValueID) ir.ValueID { return b.Compare("GT", p[0], q[0]) }, z, b.Binary(ir.OpMultiply, z, z))
		weights := b.Constant(dtype.F64, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
		sum := b.Binary(ir.OpAdd, both[0], b.Binary(ir.OpMultiply, both[1], weights))
		return b.Slice(sum, []int64{1}, []int64{8}, []int64{2})
	}},
	{"maximum of windows", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		return b.Binary(ir.OpAdd, windows(b, ir.OpMaximum, x, -9), windows(b, ir.OpMinimum, b.Binary(ir.OpMultiply, x, y), 9))
	}},
	{"clamp", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		return b.Op(ir.OpClamp, b.Type(x), nil, b.Constant(dtype.F64, nil, -0.5), x, y)
	}},
	{"outer product", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		return b.Reduce(ir.OpAdd, b.Dot(x, y, ir.DotDims{LhsBatch: []int64{}, RhsBatch: []int64{}, LhsContract: []int64{},
			RhsContract: []int64{}}), 1)
	}},
	{"mean over devices", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		return b.Unary(ir.OpTanh, b.Binary(ir.OpMultiply, b.Pmean(b.Binary(ir.OpMultiply, x, x), "i"), y))
	}},
	{"recurrence", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		last, rows := b.Scan([]ir.ValueID{x, b.Constant(dtype.F64, nil, 1)}, []ir.ValueID{b.Broadcast(y, []int64{3, 4}, 1)}, 3, false,
			func(c, row []ir.ValueID) (next, out []ir.ValueID) {
				h := b.Unary(ir.OpTanh, b.Binary(ir.OpAdd, b.Binary(ir.OpMultiply, c[0], row[0]), b.Binary(ir.OpMultiply, x, c[1])))
				inner, _ := b.Scan([]ir.ValueID{h}, nil, 2, true, func(d, _ []ir.ValueID) (next, out []ir.ValueID) {
					return []ir.ValueID{b.Binary(ir.OpMultiply, b.Unary(ir.OpSine, d[0]), c[0])}, nil
				})
				sum := b.Psum(inner[0], "i")
				return []ir.ValueID{sum, b.Binary(ir.OpAdd, c[1], b.Constant(dtype.F64, nil, 0.5))}, []ir.ValueID{b.Binary(ir.OpMultiply, h, c[1])}
			})
		if rows == nil {
			return 0
		}
		return b.Binary(ir.OpAdd, last[0], b.Reduce(ir.OpAdd, rows[0], 0))
	}},
	{"loop", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		return b.While([]ir.ValueID{b.Constant(dtype.I32, nil, 0), x},
			func(c []ir.ValueID) ir.ValueID { return b.Compare("LT", c[0], b.Constant(dtype.I32, nil, 3)) },
			func(c []ir.ValueID) []ir.ValueID {
				return []ir.ValueID{b.Binary(ir.OpAdd, c[0], b.Constant(dtype.I32, nil, 1)), b.Unary(ir.OpSine, b.Binary(ir.OpMultiply, c[1], y))}
			})[1]
	}},
	{"branches", true, func(b *typed.Builder, x, y ir.ValueID) ir.ValueID {
		positive := b.Compare("GT", b.Reduce(ir.OpAdd, y, 0), b.Constant(dtype.F64, nil, 0))
		return b.Cond(positive, func() []ir.ValueID { return []ir.ValueID{b.Unary(ir.OpExponential, x)} }, func() []ir.ValueID {
			last, _ := b.Scan([]ir.ValueID{x}, nil, 2, false, func(c, _ []ir.ValueID) (next, out []ir.ValueID) {
				return []ir.ValueID{b.Binary(ir.OpMultiply, c[0], b.Unary(ir.OpSine, y))}, nil
			})
			return last
		})[0]
	}},
}

// Derivatives are the limits of differences.
func TestDerivatives(t *testing.T) {
	const step = 1e-6
	for _, f := range functions {
		for _, unchecked := range []bool{false, true} {
			t.Run(fmt.Sprint(f.name, " unchecked=", unchecked), func(t *testing.T) {
				p := f.program(t, unchecked)
				args := arguments(p, 3)
				for i := range args {
					data := args[i].Floats()
					for k := range data {
						data[k] = data[k]/4 + 0.01*float64(k)
						if !f.signed {
							data[k]++
						}
					}
					args[i] = tensor.FromFloats(dtype.F64, args[i].Shape, data...)
				}
				out := results(t, p, args)
				ct := values(9, dtype.F64, out[0].Shape)
				q, err := transpose.VJP(p, []int{0, 1})
				if err != nil {
					t.Fatal(err)
				}
				grads := results(t, q, append([]tensor.Tensor{ct}, args...))
				for i := range args {
					data, grad := args[i].Floats(), grads[i].Floats()
					for k := range data {
						difference := 0.0
						for _, sign := range []float64{1, -1} {
							moved := slices.Clone(data)
							moved[k] += sign * step
							with := slices.Clone(args)
							with[i] = tensor.FromFloats(dtype.F64, args[i].Shape, moved...)
							difference += sign * dot(results(t, p, with), []tensor.Tensor{ct}) / (2 * step)
						}
						if math.Abs(difference-grad[k]) > 1e-6*math.Max(1, math.Abs(difference)) {
							t.Fatalf("derivative by element %d of input %d is %v, by differences %v in\n%s", k, i, grad[k], difference, q)
						}
					}
				}
			})
		}
	}
}

// program makes a program of a function: x is cut, and y is the same on all devices.
func (f *function) program(t *testing.T, unchecked bool) *typed.Program {
	b := typed.NewBuilder("f", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "i", Size: 2}}}, typed.Setup{Unchecked: unchecked})
	x, y := b.Param("x", dtype.F64, []int64{8}, typed.P("i")), b.Param("y", dtype.F64, []int64{4}, typed.P())
	b.Result(f.build(b, x, y), typed.P("i"))
	p, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Elaborate(typed.Options{}); err != nil {
		t.Fatal(err)
	}
	return p
}
