package emit

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

func contractions() map[ir.Kind]handler {
	return map[ir.Kind]handler{
		ir.OpDotGeneral:         single((*emitter).dotGeneral),
		ir.OpDot:                single((*emitter).dot),
		ir.OpEinsum:             single((*emitter).einsum),
		ir.OpUnaryEinsum:        single((*emitter).einsum),
		ir.OpConvolution:        single((*emitter).convolution),
		ir.OpDynamicConv:        single((*emitter).convolution),
		ir.OpFft:                single((*emitter).fft),
		ir.OpCholesky:           single((*emitter).cholesky),
		ir.OpTriangularSolve:    single((*emitter).triangularSolve),
		ir.OpBatchNormTraining:  func(e *emitter, op ir.OpID) error { return e.batchNorm(op, "batch_norm_training") },
		ir.OpBatchNormInference: func(e *emitter, op ir.OpID) error { return e.batchNorm(op, "batch_norm_inference") },
		ir.OpBatchNormGrad:      func(e *emitter, op ir.OpID) error { return e.batchNorm(op, "batch_norm_grad") },
		ir.OpRngBitGenerator:    (*emitter).rngBitGenerator,
	}
}

// factors returns the operands of a product in one element type, rounded as the algorithm says, and whether the type
// of the result has to be asked for.
func (e *emitter) factors(op ir.OpID) (x, y *expr, preferred bool) {
	v, w := e.m.Operand(op, 0), e.m.Operand(op, 1)
	out := e.m.ValueType(e.m.Result(op, 0)).DType
	a, b := e.m.ValueType(v).DType, e.m.ValueType(w).DType
	x, y = e.ref(v), e.ref(w)
	if a != b {
		return e.cast(v, out), e.cast(w, out), false
	}
	if algorithm, ok := e.m.Attr(op, "algorithm").(*ir.DotAlgorithm); ok && algorithm.Operations <= 1 {
		x, y = e.rounded(x, a, algorithm.LhsType), e.rounded(y, b, algorithm.RhsType)
	}
	return x, y, a != out
}

// rounded rounds an operand to the type that an algorithm computes with.
func (e *emitter) rounded(x *expr, t dtype.Type, to ir.TypeID) *expr {
	if r := e.m.TypeOf(to).DType; (r == dtype.BF16 || r == dtype.TF32) && (t == dtype.F32 || t == dtype.F64) {
		return call("lax.reduce_precision", x, number(int64(r.Exponent())), number(int64(r.Mantissa())))
	}
	return x
}

// precision returns the precision argument, nil for the default.
func (e *emitter) precision(op ir.OpID) *expr {
	names, _ := e.m.Attr(op, "precision_config").(ir.ArrayAttr)
	var out []*expr
	plain := true
	for _, a := range names {
		v, _ := a.(ir.EnumAttr)
		plain = plain && (v.Value == "DEFAULT" || v.Value == "")
		out = append(out, atom("lax.Precision."+v.Value))
	}
	switch {
	case plain || len(out) != 2:
		return nil
	case out[0].head == out[1].head:
		return out[0]
	}
	return tuple(out...)
}

func (e *emitter) contract(op ir.OpID, d *ir.DotDims) *expr {
	x, y, preferred := e.factors(op)
	precision := e.precision(op)
	ranks := [2]int{len(e.m.Shape(e.m.Operand(op, 0))), len(e.m.Shape(e.m.Operand(op, 1)))}
	if !preferred && precision == nil && ranks == [2]int{2, 2} && len(d.LhsContract) == 1 && len(d.LhsBatch) == 0 && !x.list && !y.list {
		return infix(turned(x, d.LhsContract[0] == 0), "@", turned(y, d.RhsContract[0] == 1))
	}
	args := []*expr{x, y, tuple(tuple(ints(d.LhsContract), ints(d.RhsContract)), tuple(ints(d.LhsBatch), ints(d.RhsBatch)))}
	return call("lax.dot_general", append(args, e.accuracy(op, precision, preferred)...)...)
}

// accuracy returns the arguments that say how a product is computed, and the type of its elements where it has to be asked for.
func (e *emitter) accuracy(op ir.OpID, precision *expr, preferred bool) (args []*expr) {
	if precision != nil {
		args = append(args, keyword("precision", precision))
	}
	if preferred {
		args = append(args, keyword("preferred_element_type", e.dtypeOf(e.m.ValueType(e.m.Result(op, 0)).DType)))
	}
	return args
}

// turned returns a matrix, or its transpose.
func turned(x *expr, transpose bool) *expr {
	if transpose {
		return atom(x.String() + ".T")
	}
	return x
}

func (e *emitter) dotGeneral(op ir.OpID) (*expr, error) {
	d, ok := e.m.Attr(op, "dot_dimension_numbers").(*ir.DotDims)
	if !ok {
		return nil, e.invalid(op, "dot_dimension_numbers")
	}
	return e.contract(op, d), nil
}

// dot contracts the last dimension of lhs with the first of rhs.
func (e *emitter) dot(op ir.OpID) (*expr, error) {
	rank := int64(len(e.m.Shape(e.m.Operand(op, 0))))
	return e.contract(op, &ir.DotDims{LhsContract: []int64{rank - 1}, RhsContract: []int64{0}}), nil
}

func (e *emitter) einsum(op ir.OpID) (*expr, error) {
	out := e.m.ValueType(e.m.Result(op, 0)).DType
	args := lists.Map(e.m.Operands(op), func(v ir.ValueID) *expr { return e.cast(v, out) })
	return call("jnp.einsum", slices.Insert(args, 0, atom(quoted(e.m.OpAttrs(op).Str("einsum_config"))))...), nil
}

// layout names the dimensions of an operand of a convolution: two letters for the first two, digits for the spatial
// ones.
func layout(letters string, first, second int64, spatial []int64) *expr {
	text := make([]byte, 2+len(spatial))
	text[first], text[second] = letters[0], letters[1]
	for i, d := range spatial {
		text[d] = "HWD3456789"[i]
	}
	return atom(quoted(string(text)))
}

func (e *emitter) convolution(op ir.OpID) (*expr, error) {
	m, a := e.m, e.m.OpAttrs(op)
	d, ok := m.Attr(op, "dimension_numbers").(*ir.ConvDims)
	if !ok || len(d.InSpatial) > 8 {
		return nil, e.invalid(op, "dimension_numbers")
	}
	x, y, preferred := e.factors(op)
	if reversal, _ := a.Get("window_reversal").(ir.Bools); slices.Contains(reversal, true) {
		var dims []int64
		for i, r := range reversal {
			if r {
				dims = append(dims, d.KernelSpatial[i])
			}
		}
		y = call("lax.rev", y, ints(dims))
	}
	w, err := e.windows(op, "lhs_dilation", "rhs_dilation")
	if err != nil {
		return nil, err
	}
	if m.Kind(op) == ir.OpDynamicConv {
		values, ok := e.constantInts(m.Operand(op, 2))
		if !ok || len(values) != 2*len(d.InSpatial) {
			return nil, e.unsupported(op, "JAX needs paddings that are constants")
		}
		w.padding = pairs(values)
	}
	args := append([]*expr{x, y, w.strides, w.padding}, w.dilations...)
	args = append(args, keyword("dimension_numbers", tuple(layout("NC", d.InBatch, d.InFeature, d.InSpatial),
		layout("IO", d.KernelIn, d.KernelOut, d.KernelSpatial), layout("NC", d.OutBatch, d.OutFeature, d.OutSpatial))))
	for _, name := range []string{"feature_group_count", "batch_group_count"} {
		if k := a.Int(name, 1); k != 1 {
			args = append(args, keyword(name, number(k)))
		}
	}
	return call("lax.conv_general_dilated", append(args, e.accuracy(op, e.precision(op), preferred)...)...), nil
}

// windows are the windows of an op as arguments.
type windows struct {
	sizes, strides, padding *expr
	dilations               []*expr // those that are not 1, by their names
}

// windows reads the windows of an op; dilations of what it slides over, and of the windows, get these names.
func (e *emitter) windows(op ir.OpID, base, dilation string) (w windows, err error) {
	list := ir.Windows(e.m, op)
	if list == nil {
		return w, e.invalid(op, "padding")
	}
	var padding []int64
	for _, x := range list {
		padding = append(padding, x.Low, x.High)
	}
	each := func(field func(ir.Window) int64) []int64 {
		return lists.Map(list, field)
	}
	w.sizes = ints(each(func(x ir.Window) int64 { return x.Size }))
	w.strides = ints(each(func(x ir.Window) int64 { return x.Stride }))
	w.padding = pairs(padding)
	add := func(name string, list []int64) {
		if slices.ContainsFunc(list, func(k int64) bool { return k != 1 }) {
			w.dilations = append(w.dilations, keyword(name, ints(list)))
		}
	}
	add(base, each(func(x ir.Window) int64 { return x.BaseDilation }))
	add(dilation, each(func(x ir.Window) int64 { return x.Dilation }))
	return w, nil
}

// pairs returns a list of pairs of numbers.
func pairs(flat []int64) *expr {
	return list(lists.Of(len(flat)/2, func(i int) *expr { return ints(flat[2*i : 2*i+2]) })...)
}

func (e *emitter) fft(op ir.OpID) (*expr, error) {
	a := e.m.OpAttrs(op)
	return call("lax.fft", e.ref(e.m.Operand(op, 0)), atom("lax.FftType."+a.Str("fft_type")), ints(a.Ints("fft_length"))), nil
}

func (e *emitter) cholesky(op ir.OpID) (*expr, error) {
	if e.m.OpAttrs(op).Bool("lower") {
		return call("lax.linalg.cholesky", e.ref(e.m.Operand(op, 0)), keyword("symmetrize_input", atom("False"))), nil
	}
	return e.helper("cholesky_upper", e.ref(e.m.Operand(op, 0))), nil
}

func (e *emitter) triangularSolve(op ir.OpID) (*expr, error) {
	a := e.m.OpAttrs(op)
	how := a.Str("transpose_a")
	return call("lax.linalg.triangular_solve", e.ref(e.m.Operand(op, 0)), e.ref(e.m.Operand(op, 1)),
		keyword("left_side", truth(a.Bool("left_side"))), keyword("lower", truth(a.Bool("lower"))),
		keyword("transpose_a", truth(how == "TRANSPOSE" || how == "ADJOINT")), keyword("conjugate_a", truth(how == "ADJOINT")),
		keyword("unit_diagonal", truth(a.Bool("unit_diagonal")))), nil
}

func (e *emitter) batchNorm(op ir.OpID, fn string) error {
	epsilon, ok := e.m.Attr(op, "epsilon").(ir.FloatAttr)
	if !ok {
		return e.invalid(op, "epsilon")
	}
	text, _ := floatLiteral(e.m.TypeOf(epsilon.Type).DType, epsilon.Bits)
	args := append(e.refs(op), atom(text), number(e.m.OpAttrs(op).Int("feature_index", 0)))
	e.assign(op, e.helper(fn, args...), e.m.ResultValues(op)...)
	return nil
}

var rngAlgorithms = map[string]string{"DEFAULT": "RNG_DEFAULT", "THREE_FRY": "RNG_THREE_FRY", "PHILOX": "RNG_PHILOX"}

// rngBitGenerator draws unsigned bits and reads them as the type of the result.
func (e *emitter) rngBitGenerator(op ir.OpID) error {
	algorithm, ok := rngAlgorithms[e.m.OpAttrs(op).Str("rng_algorithm")]
	if !ok {
		return e.invalid(op, "rng_algorithm")
	}
	t := e.m.ValueType(e.m.Result(op, 1))
	drawn, known := map[int]dtype.Type{8: dtype.UI8, 16: dtype.UI16, 32: dtype.UI32, 64: dtype.UI64}[t.DType.Bits()]
	if !known || t.DType.Kind() == dtype.Complex {
		return e.unsupported(op, "JAX does not draw bits of %s", t.DType)
	}
	e.assign(op, e.helper("random_bits", e.ref(e.m.Operand(op, 0)), ints(t.Dims), e.dtypeOf(drawn), e.dtypeOf(t.DType),
		atom("lax.RandomAlgorithm."+algorithm)), e.m.ResultValues(op)...)
	return nil
}
