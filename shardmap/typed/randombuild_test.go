package typed_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// builds makes a program of this package of a random one.
type builds struct {
	*typed.Builder
	p *randomProgram
}

// build returns the program; value k is named v and k.
func (p *randomProgram) build(unchecked bool) (*typed.Program, error) {
	b := &builds{typed.NewBuilder("random", subaxis.Mesh{Axes: p.axes}, typed.Setup{Manual: p.Manual, Unchecked: unchecked}), p}
	env := map[int]ir.ValueID{}
	for k, in := range p.Inputs {
		env[k] = b.Param(fmt.Sprint("v", k), typeNamed(in.DType), in.Shape, specOf(in.Spec))
	}
	b.steps(p.Steps, env)
	for _, out := range p.Outputs {
		b.Result(env[out.Value], specOf(out.Spec))
	}
	return b.Finish()
}

func specOf(spec [][]string) typed.Spec {
	var dims []string
	for _, axes := range spec {
		dims = append(dims, strings.Join(axes, ","))
	}
	return typed.P(dims...)
}

func (b *builds) steps(steps []*randomStep, env map[int]ir.ValueID) {
	for _, s := range steps {
		x := make([]ir.ValueID, len(s.In))
		for i, k := range s.In {
			x[i] = env[k]
		}
		for i, v := range b.step(s, x, env) {
			env[s.Out[i]] = b.Name(v, fmt.Sprint("v", s.Out[i]))
		}
	}
}

// body builds what stands inside a loop or branch.
func (b *builds) body(body *randomBody, env map[int]ir.ValueID, params []ir.ValueID) (out []ir.ValueID) {
	inner := map[int]ir.ValueID{}
	for k, v := range env {
		inner[k] = v
	}
	for i, k := range body.Params {
		inner[k] = b.Name(params[i], fmt.Sprint("v", k))
	}
	b.steps(body.Steps, inner)
	for _, k := range body.Results {
		out = append(out, inner[k])
	}
	return out
}

func (b *builds) step(s *randomStep, x []ir.ValueID, env map[int]ir.ValueID) []ir.ValueID {
	if b.Err() != nil || slices.Contains(x, 0) {
		return make([]ir.ValueID, len(s.Out))
	}
	switch s.Op {
	case "scan":
		n := int(s.Source)
		last, rows := b.Scan(x[:n], x[n:], s.Length, s.Reverse, func(carry, row []ir.ValueID) (next, out []ir.ValueID) {
			all := b.body(&s.Bodies[0], env, slices.Concat(carry, row))
			return all[:n], all[n:]
		})
		return slices.Concat(last, rows)
	case "while":
		return b.while(s, x, env)
	case "cond":
		var branches []func() []ir.ValueID
		for k := range s.Bodies {
			branches = append(branches, func() []ir.ValueID { return b.body(&s.Bodies[k], env, nil) })
		}
		return b.Cond(x[0], branches...)
	case "sort":
		return b.Sort(s.Dim, true, func(a, c []ir.ValueID) ir.ValueID { return b.Compare("LT", a[0], c[0]) }, x...)
	case "collective":
		return []ir.ValueID{b.collective(s, x)}
	}
	if v := b.shaped(s, x); v != 0 || b.Err() != nil {
		return []ir.ValueID{v}
	}
	return []ir.ValueID{b.local(s, x)}
}

func (b *builds) while(s *randomStep, x []ir.ValueID, env map[int]ir.ValueID) []ir.ValueID {
	limit, carry := func() ir.ValueID { return b.Constant(dtype.I32, nil, float64(s.Length)) }, x
	if s.Mode == "dynamic" {
		limit, carry = func() ir.ValueID { return x[0] }, x[1:]
	}
	init := append([]ir.ValueID{b.Constant(dtype.I32, nil, 0)}, carry...)
	return b.While(init, func(c []ir.ValueID) ir.ValueID { return b.Compare("LT", c[0], limit()) }, func(c []ir.ValueID) []ir.ValueID {
		next := []ir.ValueID{b.Binary(ir.OpAdd, c[0], b.Constant(dtype.I32, nil, 1))}
		return append(next, b.body(&s.Bodies[0], env, c[1:])...)
	})[1:]
}

func (b *builds) collective(s *randomStep, in []ir.ValueID) ir.ValueID {
	var x ir.ValueID
	if len(in) > 0 {
		x = in[0]
	}
	switch s.Mode {
	case "psum":
		if s.Groups != nil {
			return b.PsumGroups(x, s.Groups, s.Axes...)
		}
		return b.Psum(x, s.Axes...)
	case "pmean":
		return b.Pmean(x, s.Axes...)
	case "pmax":
		return b.Pmax(x, s.Groups, s.Axes...)
	case "pmin":
		return b.Pmin(x, s.Groups, s.Axes...)
	case "all_gather":
		return b.AllGather(x, s.Dim, !s.Untiled, typed.ToVarying, s.Groups, s.Axes...)
	case "all_gather_invariant":
		return b.AllGather(x, s.Dim, !s.Untiled, typed.ToInvariant, nil, s.Axes...)
	case "psum_scatter":
		return b.PsumScatter(x, s.Dim, !s.Untiled, s.Groups, s.Axes...)
	case "all_to_all":
		return b.AllToAll(x, s.Dim, s.Concat, !s.Untiled, s.Groups, s.Axes...)
	case "ppermute":
		return b.Ppermute(x, s.Perm, s.Axes...)
	case "pshuffle":
		return b.Pshuffle(x, s.Dims, s.Axes...)
	case "axis_index":
		return b.AxisIndex(s.Axes...)
	case "cast":
		return b.Cast(x, s.Axes...)
	case "pscatter":
		return b.Pscatter(x, s.Dim, true, s.Axes...)
	}
	return b.Pbroadcast(x, s.Source, s.Axes...)
}

// kinds are the ops of elementwise modes.
var kinds = map[string]ir.Kind{
	"neg": ir.OpNegate, "abs": ir.OpAbs, "sign": ir.OpSign, "floor": ir.OpFloor, "ceil": ir.OpCeil, "tanh": ir.OpTanh,
	"logistic": ir.OpLogistic,
	"sin":      ir.OpSine, "cos": ir.OpCosine, "erf": ir.OpChloErf, "erfc": ir.OpChloErfc, "atan": ir.OpChloAtan, "asinh": ir.OpChloAsinh,
	"square": ir.OpChloSquare, "round_even": ir.OpRoundNearestEven, "round_away": ir.OpRoundNearestAfz, "not": ir.OpNot, "popcnt": ir.OpPopcnt,
	"clz": ir.OpCountLeadingZeros, "exp": ir.OpExponential, "expm1": ir.OpExponentialMinusOne, "tan": ir.OpTan, "sinh": ir.OpChloSinh,
	"cosh": ir.OpChloCosh, "log": ir.OpLog, "log1p": ir.OpLogPlusOne, "sqrt": ir.OpSqrt, "rsqrt": ir.OpRsqrt, "cbrt": ir.OpCbrt,
	"asin": ir.OpChloAsin,
	"acos": ir.OpChloAcos, "atanh": ir.OpChloAtanh, "acosh": ir.OpChloAcosh, "lgamma": ir.OpChloLgamma, "erf_inv": ir.OpChloErfInv,
	"digamma": ir.OpChloDigamma,
	"add":     ir.OpAdd, "sub": ir.OpSubtract, "mul": ir.OpMultiply, "max": ir.OpMaximum, "min": ir.OpMinimum, "and": ir.OpAnd, "or": ir.OpOr,
	"xor": ir.OpXor, "shl": ir.OpShiftLeft, "sra": ir.OpShiftRightArithmetic, "srl": ir.OpShiftRightLogical, "div": ir.OpDivide,
	"rem": ir.OpRemainder,
	"pow": ir.OpPower, "atan2": ir.OpAtan2, "sum": ir.OpAdd, "prod": ir.OpMultiply,
}

func (b *builds) dtype(v ir.ValueID) dtype.Type { return b.Program().Module.ValueType(v).DType }

func (b *builds) dims(v ir.ValueID) []int64 { return b.Program().Module.Shape(v) }

func (b *builds) with(kind ir.Kind, x ir.ValueID, c float64) ir.ValueID {
	return b.Binary(kind, x, b.Constant(b.dtype(x), nil, c))
}

func (b *builds) squarePlus1(x ir.ValueID) ir.ValueID {
	return b.with(ir.OpAdd, b.Binary(ir.OpMultiply, x, x), 1)
}

// unary builds an op of numbers on which it is defined and smooth.
func (b *builds) unary(mode string, x ir.ValueID) ir.ValueID {
	switch mode {
	case "exp", "expm1", "tan", "sinh", "cosh":
		x = b.Unary(ir.OpSine, x)
	case "log", "sqrt", "rsqrt", "cbrt", "lgamma", "digamma":
		x = b.squarePlus1(x)
	case "log1p":
		x = b.Binary(ir.OpMultiply, x, x)
	case "asin", "acos", "atanh", "erf_inv":
		x = b.with(ir.OpMultiply, b.Unary(ir.OpSine, x), 0.875)
	case "acosh":
		x = b.with(ir.OpAdd, b.squarePlus1(x), 1)
	case "is_finite":
		return b.Op(ir.OpIsFinite, b.Program().Module.TensorType(dtype.I1, b.dims(x)...), nil, x)
	case "barrier":
		return b.Op(ir.OpOptimizationBarrier, b.Type(x), nil, x)
	case "half_precision":
		i32 := b.Program().Module.ScalarType(dtype.I32)
		return b.Op(ir.OpReducePrecision, b.Type(x), ir.MakeAttrs(named("exponent_bits", ir.IntAttr{Value: 5, Type: i32}),
			named("mantissa_bits", ir.IntAttr{Value: 10, Type: i32})), x)
	}
	return b.Unary(kinds[mode], x)
}

func named(name string, a ir.Attr) ir.NamedAttr { return ir.NamedAttr{Name: name, Value: a} }

func (b *builds) binary(mode string, x, y ir.ValueID) ir.ValueID {
	isFloat := b.dtype(y).Kind() == dtype.Float
	switch mode {
	case "div", "rem":
		if isFloat {
			y = b.squarePlus1(y)
		} else {
			y = b.with(ir.OpOr, y, 1)
		}
	case "pow":
		x, y = b.squarePlus1(x), b.Unary(ir.OpSine, y)
	case "atan2":
		y = b.squarePlus1(y)
	}
	return b.Binary(kinds[mode], x, y)
}

// local builds an elementwise op, or one of indices or windows.
func (b *builds) local(s *randomStep, x []ir.ValueID) ir.ValueID {
	switch s.Op {
	case "unary":
		return b.unary(s.Mode, x[0])
	case "binary":
		return b.binary(s.Mode, x[0], x[1])
	case "with":
		return b.with(kinds[s.Mode], x[0], s.Value)
	case "compare":
		return b.Compare(s.Mode, x[0], x[1])
	case "select":
		return b.Op(ir.OpSelect, b.Type(x[1]), nil, x...)
	case "clamp":
		return b.Op(ir.OpClamp, b.Type(x[1]), nil, x...)
	case "convert":
		return b.Convert(x[0], typeNamed(s.DType))
	case "dot":
		return b.Dot(x[0], x[1], ir.DotDims{LhsBatch: s.Batch[0], RhsBatch: s.Batch[1], LhsContract: s.Contract[0], RhsContract: s.Contract[1]})
	case "reduce":
		return b.Reduce(kinds[s.Mode], x[0], s.Dims...)
	case "cumulative":
		return b.cumulative(s, x[0])
	case "window":
		ones := slices.Repeat([]int64{1}, len(s.Shape))
		return b.window(kinds[s.Mode], x[0], s.Shape, s.Interior, ones, s.Low, s.High)
	case "take":
		return b.take(s.Dim, x[0], x[1])
	case "scatter":
		return b.scatter(s, x[0], x[1], x[2])
	case "dynamic_slice":
		return b.DynamicSlice(x[0], s.Shape, x[1:]...)
	case "dynamic_update_slice":
		return b.DynamicUpdateSlice(x[0], x[1], x[2:]...)
	}
	return b.conv(s, x[0], x[1])
}

// shaped builds a constant, or an op that moves elements; 0 for others.
func (b *builds) shaped(s *randomStep, x []ir.ValueID) ir.ValueID {
	switch s.Op {
	case "const":
		return b.Constant(typeNamed(s.DType), s.Shape, s.Value)
	case "iota":
		m := b.Program().Module
		return b.Op(ir.OpIota, m.TensorType(typeNamed(s.DType), s.Shape...), ir.MakeAttrs(named("iota_dimension", b.i64(s.Dim))))
	case "reshape":
		return b.Reshape(x[0], s.Shape...)
	case "transpose":
		return b.Transpose(x[0], s.Dims...)
	case "broadcast":
		return b.Broadcast(x[0], s.Shape, s.Dims...)
	case "reverse":
		return b.Op(ir.OpReverse, b.Type(x[0]), ir.MakeAttrs(named("dimensions", ir.Ints(s.Dims))), x[0])
	case "slice":
		return b.Slice(x[0], s.Low, s.High, s.Interior)
	case "pad":
		return b.Pad(x[0], x[1], s.Low, s.High, s.Interior)
	case "concatenate":
		return b.Concatenate(s.Dim, x...)
	}
	return 0
}

func (b *builds) i64(n int64) ir.IntAttr {
	return ir.IntAttr{Value: n, Type: b.Program().Module.ScalarType(dtype.I64)}
}

func (b *builds) neutral(kind ir.Kind, t dtype.Type) float64 {
	lo, hi := math.Inf(-1), math.Inf(1)
	if t.Kind() != dtype.Float {
		l, h := dtype.IntRange(t)
		lo, hi = float64(l), float64(h)
	}
	return map[ir.Kind]float64{ir.OpMaximum: lo, ir.OpMinimum: hi, ir.OpMultiply: 1}[kind]
}

// window builds a reduction of windows.
func (b *builds) window(kind ir.Kind, x ir.ValueID, size, stride, dilation, low, high []int64) ir.ValueID {
	var dims, pads []int64
	for k, n := range b.dims(x) {
		dims = append(dims, (n+low[k]+high[k]-size[k])/stride[k]+1)
		pads = append(pads, low[k], high[k])
	}
	m := b.Program().Module
	return b.Folded(ir.OpReduceWindow, m.TensorType(b.dtype(x), dims...), ir.MakeAttrs(named("window_dimensions", ir.Ints(size)),
		named("window_strides", ir.Ints(stride)), named("window_dilations", ir.Ints(dilation)), named("padding", pairs(m, pads))),
		kind, x, b.Constant(b.dtype(x), nil, b.neutral(kind, b.dtype(x))))
}

// pairs returns numbers as a constant of two columns.
func pairs(m *ir.Module, list []int64) *ir.Dense {
	d := &ir.Dense{Type: m.TensorType(dtype.I64, int64(len(list)/2), 2)}
	for _, n := range list {
		for k := range 8 {
			d.Data = append(d.Data, byte(uint64(n)>>(8*k)))
		}
	}
	return d
}

// cumulative builds a reduction of windows that begin or end at each element.
func (b *builds) cumulative(s *randomStep, x ir.ValueID) ir.ValueID {
	rank := len(b.dims(x))
	size, ones, low, high := slices.Repeat([]int64{1}, rank), slices.Repeat([]int64{1}, rank), make([]int64, rank), make([]int64, rank)
	n := b.dims(x)[s.Dim]
	size[s.Dim] = n
	if s.Reverse {
		high[s.Dim] = n - 1
	} else {
		low[s.Dim] = n - 1
	}
	return b.window(kinds[s.Mode], x, size, ones, ones, low, high)
}

func (b *builds) take(dim int64, x, index ir.ValueID) ir.ValueID {
	sizes, dims := slices.Clone(b.dims(x)), slices.Clone(b.dims(x))
	sizes[dim] = 1
	dims[dim] = b.dims(index)[0]
	d := &ir.GatherDims{Offset: rest(len(dims), dim), Collapsed: []int64{dim}, StartIndexMap: []int64{dim}, IndexVectorDim: 1}
	return b.Op(ir.OpGather, b.Program().Module.TensorType(b.dtype(x), dims...), ir.MakeAttrs(named("dimension_numbers", d),
		named("slice_sizes", ir.Ints(sizes))), x, b.Reshape(index, b.dims(index)[0], 1))
}

// rest returns the dimensions but one.
func rest(rank int, dim int64) (out []int64) {
	for k := range int64(rank) {
		if k != dim {
			out = append(out, k)
		}
	}
	return out
}

func (b *builds) scatter(s *randomStep, x, index, updates ir.ValueID) ir.ValueID {
	d := &ir.ScatterDims{UpdateWindow: rest(len(b.dims(x)), s.Dim), InsertedWindow: []int64{s.Dim}, ToOperand: []int64{s.Dim},
		IndexVectorDim: 1}
	attrs := ir.MakeAttrs(named("scatter_dimension_numbers", d))
	kind := kinds[s.Mode]
	if s.Mode == "set" {
		attrs = attrs.With("unique_indices", ir.BoolAttr(true))
	}
	return b.Folded(ir.OpScatter, b.Type(x), attrs, kind, x, b.Reshape(index, b.dims(index)[0], 1), updates)
}

// conv builds a convolution. Letters of its form stand for dimensions: batch or output feature, feature, and space.
func (b *builds) conv(s *randomStep, x, k ir.ValueID) ir.ValueID {
	rank := len(b.dims(x))
	places := func(form string, letter byte) (out []int64) {
		for i, c := range []byte(expand(form, rank-2)) {
			if c == letter {
				out = append(out, int64(i))
			}
		}
		return out
	}
	in, kernel, out := s.Form[:3], s.Form[4:7], s.Form[8:]
	d := &ir.ConvDims{InBatch: places(in, 'N')[0], InFeature: places(in, 'C')[0], InSpatial: places(in, 'S'),
		KernelOut: places(kernel, 'O')[0],
		KernelIn:  places(kernel, 'I')[0], KernelSpatial: places(kernel, 'S'), OutBatch: places(out, 'N')[0], OutFeature: places(out, 'C')[0],
		OutSpatial: places(out, 'S')}
	dims := make([]int64, rank)
	dims[d.OutBatch], dims[d.OutFeature] = b.dims(x)[d.InBatch]/s.Source, b.dims(k)[d.KernelOut]
	var pads []int64
	for i, at := range d.OutSpatial {
		size := (b.dims(x)[d.InSpatial[i]]-1)*s.Interior[i] + 1 + s.Low[i] + s.High[i] - (b.dims(k)[d.KernelSpatial[i]]-1)*s.Dims[i]
		dims[at] = (size-1)/s.Shape[i] + 1
		pads = append(pads, s.Low[i], s.High[i])
	}
	m := b.Program().Module
	return b.Op(ir.OpConvolution, m.TensorType(b.dtype(x), dims...), ir.MakeAttrs(named("dimension_numbers", d),
		named("window_strides", ir.Ints(s.Shape)),
		named("lhs_dilation", ir.Ints(s.Interior)), named("rhs_dilation", ir.Ints(s.Dims)), named("padding", pairs(m, pads)),
		named("feature_group_count", b.i64(s.Length)), named("batch_group_count", b.i64(s.Source))), x, k)
}
