package interp

import (
	"maps"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// builder fills the kernel or control of an instruction. The instruction's operands are set already.
type builder func(c *compiler, op ir.OpID, i *instr) error

// builders are the ops that can be run. The tables of the op families are joined here.
var builders map[ir.Kind]builder

func init() {
	builders = map[ir.Kind]builder{}
	for _, family := range []map[ir.Kind]builder{
		elementwise, shapeOps, dynamicOps, linearOps, indexOps, reductions, controlOps, collectiveOps, chloOps, sdyOps, checkOps,
	} {
		maps.Copy(builders, family)
	}
	for kind, compute := range unaryOps {
		builders[kind] = inPlace(pure1(compute))
	}
	for kind, op := range binaryOps {
		builders[kind] = overwriting(op)
	}
	for kind, compute := range mixedOps {
		builders[kind] = pure2(compute)
	}
	for kind := range ir.NumKinds {
		compute, ok := mixedOps[kind.Plain()]
		if op, plain := binaryOps[kind.Plain()]; plain {
			compute, ok = op.Of, true
		}
		if ok {
			builders[kind] = broadcasting(2, func(in []tensor.Tensor) tensor.Tensor { return compute(in[0], in[1]) })
		}
	}
}

// notComplex are ops whose rows let them have complex numbers although nobody says what they make of them.
var notComplex = []ir.Kind{ir.OpRemainder, ir.OpChloBesselI1e, ir.OpChloBroadcastRemainder}

// computable says that an elementwise op has no meaning on its elements, which verification lets pass.
func (c *compiler) computable(op ir.OpID) error {
	k := c.m.Kind(op)
	if !k.IsUnary() && !k.IsBinary() && !k.IsBroadcasting() {
		return nil
	}
	e := c.m.ValueType(c.m.Operand(op, 0)).DType
	if !k.Takes(e) || e.Kind() == dtype.Complex && slices.Contains(notComplex, k) {
		return diag.Unsupported(diag.NotSupported, diag.Position{}, "it cannot be run on elements of type %s", e)
	}
	return nil
}

// one makes a kernel of a function with one result.
func one(compute func(in []tensor.Tensor) tensor.Tensor) kernel {
	return func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		return f.p.only(compute(in)), nil
	}
}

// many makes a kernel of a function with several results.
func many(compute func(in []tensor.Tensor) []tensor.Tensor) kernel {
	return func(_ *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) { return compute(in), nil }
}

// results lists the results of a call.
func results(list ...tensor.Tensor) []tensor.Tensor { return list }

// pure1, pure2 and pure3 are builders of ops without attributes.
func pure1(compute func(x tensor.Tensor) tensor.Tensor) builder {
	return func(_ *compiler, _ ir.OpID, i *instr) error {
		i.kernel = one(func(in []tensor.Tensor) tensor.Tensor { return compute(in[0]) })
		return nil
	}
}

func pure2(compute func(x, y tensor.Tensor) tensor.Tensor) builder {
	return func(_ *compiler, _ ir.OpID, i *instr) error {
		i.kernel = one(func(in []tensor.Tensor) tensor.Tensor { return compute(in[0], in[1]) })
		return nil
	}
}

func pure3(compute func(x, y, z tensor.Tensor) tensor.Tensor) builder {
	return func(_ *compiler, _ ir.OpID, i *instr) error {
		i.kernel = one(func(in []tensor.Tensor) tensor.Tensor { return compute(in[0], in[1], in[2]) })
		return nil
	}
}

// reading is the builder of an op whose kernel follows from its attributes and types.
func reading(build func(r *attrReader) kernel) builder {
	return func(c *compiler, op ir.OpID, i *instr) error {
		r := c.attrs(op)
		i.kernel = build(r)
		return r.err
	}
}

// identity passes operands on.
func identity(_ *compiler, _ ir.OpID, i *instr) error {
	i.kernel = func(_ *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) { return in, nil }
	return nil
}

var unaryOps = map[ir.Kind]func(tensor.Tensor) tensor.Tensor{
	ir.OpAbs:                 tensor.Abs,
	ir.OpCbrt:                tensor.Cbrt,
	ir.OpCeil:                tensor.Ceil,
	ir.OpCosine:              tensor.Cosine,
	ir.OpCountLeadingZeros:   tensor.CountLeadingZeros,
	ir.OpExponential:         tensor.Exponential,
	ir.OpExponentialMinusOne: tensor.ExponentialMinusOne,
	ir.OpFloor:               tensor.Floor,
	ir.OpImag:                tensor.Imag,
	ir.OpIsFinite:            tensor.IsFinite,
	ir.OpLog:                 tensor.Log,
	ir.OpLogPlusOne:          tensor.LogPlusOne,
	ir.OpLogistic:            tensor.Logistic,
	ir.OpNegate:              tensor.Negate,
	ir.OpNot:                 tensor.Not,
	ir.OpPopcnt:              tensor.Popcnt,
	ir.OpReal:                tensor.Real,
	ir.OpRoundNearestAfz:     tensor.RoundNearestAfz,
	ir.OpRoundNearestEven:    tensor.RoundNearestEven,
	ir.OpRsqrt:               tensor.Rsqrt,
	ir.OpSign:                tensor.Sign,
	ir.OpSine:                tensor.Sine,
	ir.OpSqrt:                tensor.Sqrt,
	ir.OpTan:                 tensor.Tan,
	ir.OpTanh:                tensor.Tanh,
	ir.OpChloAcos:            tensor.Acos,
	ir.OpChloAcosh:           tensor.Acosh,
	ir.OpChloAsin:            tensor.Asin,
	ir.OpChloAsinh:           tensor.Asinh,
	ir.OpChloAtan:            tensor.Atan,
	ir.OpChloAtanh:           tensor.Atanh,
	ir.OpChloBesselI1e:       tensor.BesselI1e,
	ir.OpChloConj:            tensor.Conj,
	ir.OpChloCosh:            tensor.Cosh,
	ir.OpChloDigamma:         tensor.Digamma,
	ir.OpChloErf:             tensor.Erf,
	ir.OpChloErfInv:          tensor.ErfInv,
	ir.OpChloErfc:            tensor.Erfc,
	ir.OpChloIsInf:           tensor.IsInf,
	ir.OpChloIsNegInf:        tensor.IsNegInf,
	ir.OpChloIsPosInf:        tensor.IsPosInf,
	ir.OpChloLgamma:          tensor.Lgamma,
	ir.OpChloSinh:            tensor.Sinh,
	ir.OpChloSquare:          tensor.Square,
	ir.OpChloTan:             tensor.Tan,
}

// inPlace is the builder of an elementwise op that puts its result into the memory of an operand of as many bytes that nobody else needs, a
// tile at a time.
func inPlace(build builder) builder {
	return func(c *compiler, op ir.OpID, i *instr) error {
		err := build(c, op, i)
		var places []int
		for k, v := range c.m.Operands(op) {
			if c.m.ValueType(v).Bytes() == c.m.ValueType(c.m.Result(op, 0)).Bytes() {
				places = append(places, k)
			}
		}
		if compute := i.kernel; len(places) > 0 {
			i.kernel = func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
				at := slices.IndexFunc(places, func(k int) bool { return f.mayOverwrite(i, in, k) })
				if at < 0 {
					return compute(f, i, in)
				}
				return f.overwrite(i, in, places[at], compute)
			}
		}
		return err
	}
}

// mayOverwrite says whether a result of as many elements can take the place of operand k, which is held, and no scalar that stands for a
// value that repeats it.
func (f *frame) mayOverwrite(i *instr, in []tensor.Tensor, k int) bool {
	larger := func(x tensor.Tensor) bool { return len(x.Shape) > len(in[k].Shape) }
	return len(in[k].Data) > 0 && f.holds(i, k) && !slices.ContainsFunc(in, larger) && f.spends(i, k, in[k])
}

// overwrite has a kernel compute tile by tile, and puts what it makes in the place of an operand. The others are scalars, or of its shape.
func (f *frame) overwrite(i *instr, in []tensor.Tensor, over int, compute kernel) ([]tensor.Tensor, error) {
	x := in[over]
	whole := lists.Product(x.Shape)
	part := slices.Clone(in)
	for from := int64(0); from < whole; from += mostTile {
		n := min(mostTile, whole-from)
		for k := range in {
			if bytes := int64(in[k].DType.Bytes()); len(in[k].Shape) > 0 {
				part[k].Shape, part[k].Data = []int64{n}, in[k].Data[from*bytes:(from+n)*bytes]
			}
		}
		out, err := compute(f, i, part)
		if err != nil {
			return nil, err
		}
		made := out[0]
		copy(part[over].Data, made.Data)
		if !slices.ContainsFunc(part, func(t tensor.Tensor) bool { return memory.Within(made.Data, t.Data) }) {
			memory.Give(made.Data)
		}
		x.DType = made.DType
	}
	return f.p.only(x), nil
}

// overwriting is the builder of an op on two operands, which puts its result into the memory of one that nobody else needs.
func overwriting(op tensor.BinaryOp) builder {
	return func(_ *compiler, _ ir.OpID, i *instr) error {
		i.kernel = func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
			x, y := in[0], in[1]
			switch {
			case len(x.Shape) >= len(y.Shape) && f.spends(i, 0, x):
				op.Into(x, x, y)
				return f.p.only(x), nil
			case len(y.Shape) >= len(x.Shape) && f.spends(i, 1, y):
				op.Into(y, x, y)
				return f.p.only(y), nil
			}
			return f.p.only(op.Of(x, y)), nil
		}
		return nil
	}
}

var binaryOps = map[ir.Kind]tensor.BinaryOp{
	ir.OpAdd:                  tensor.OpAdd,
	ir.OpAnd:                  tensor.OpAnd,
	ir.OpAtan2:                tensor.OpAtan2,
	ir.OpDivide:               tensor.OpDivide,
	ir.OpMaximum:              tensor.OpMaximum,
	ir.OpMinimum:              tensor.OpMinimum,
	ir.OpMultiply:             tensor.OpMultiply,
	ir.OpOr:                   tensor.OpOr,
	ir.OpPower:                tensor.OpPower,
	ir.OpRemainder:            tensor.OpRemainder,
	ir.OpShiftLeft:            tensor.OpShiftLeft,
	ir.OpShiftRightArithmetic: tensor.OpShiftRightArithmetic,
	ir.OpShiftRightLogical:    tensor.OpShiftRightLogical,
	ir.OpSubtract:             tensor.OpSubtract,
	ir.OpXor:                  tensor.OpXor,
	ir.OpChloMulhi:            tensor.OpMulhi,
	ir.OpChloPolygamma:        tensor.OpPolygamma,
	ir.OpChloZeta:             tensor.OpZeta,
}

// mixedOps are ops on two operands whose results are of another type, or that take no scalar for an operand that repeats one element.
var mixedOps = map[ir.Kind]func(x, y tensor.Tensor) tensor.Tensor{
	ir.OpComplex:       tensor.Complex,
	ir.OpChloNextAfter: tensor.NextAfter,
}

var elementwise = map[ir.Kind]builder{
	ir.OpConvert:             inPlace(reading(buildConvert)),
	ir.OpCompare:             reading(buildCompare),
	ir.OpSelect:              inPlace(pure3(tensor.Select)),
	ir.OpClamp:               inPlace(pure3(tensor.Clamp)),
	ir.OpReducePrecision:     inPlace(reading(buildReducePrecision)),
	ir.OpUniformQuantize:     buildQuantize,
	ir.OpUniformDequantize:   buildDequantize,
	ir.OpOptimizationBarrier: identity,
}

// elementwiseOps returns the ops that make each element of those at its place, or of one that is repeated.
func elementwiseOps() []ir.Kind {
	kinds := []ir.Kind{ir.OpConvert, ir.OpCompare, ir.OpSelect, ir.OpClamp, ir.OpReducePrecision}
	kinds = slices.AppendSeq(kinds, maps.Keys(unaryOps))
	kinds = slices.AppendSeq(kinds, maps.Keys(binaryOps))
	return slices.AppendSeq(kinds, maps.Keys(mixedOps))
}

func buildConvert(r *attrReader) kernel {
	to := r.element(r.op)
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.Convert(in[0], to) })
}

func buildCompare(r *attrReader) kernel {
	d := direction(r)
	total := r.str("compare_type") == "TOTALORDER"
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.Compare(in[0], in[1], d, total) })
}

func direction(r *attrReader) tensor.Direction {
	if r.str("comparison_direction") == "" {
		r.missing("comparison_direction")
	}
	return enumOf(r, "comparison_direction", tensor.EQ, tensor.NE, tensor.GE, tensor.GT, tensor.LE, tensor.LT)
}

func buildReducePrecision(r *attrReader) kernel {
	exponent, mantissa := int(r.int("exponent_bits", 0)), int(r.int("mantissa_bits", -1))
	if exponent < 1 || mantissa < 0 {
		r.missing("exponent_bits")
	}
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.ReducePrecision(in[0], exponent, mantissa) })
}

func buildQuantize(c *compiler, op ir.OpID, i *instr) error {
	t := c.m.ValueType(c.m.Result(op, 0))
	if c.m.ValueType(c.m.Operand(op, 0)).Quant != 0 {
		return diag.Unsupported(diag.NotSupported, diag.Position{}, "requantization cannot be run")
	}
	q, err := c.quantization(t)
	i.kernel = one(func(in []tensor.Tensor) tensor.Tensor { return tensor.UniformQuantize(in[0], q, t.DType) })
	return err
}

func buildDequantize(c *compiler, op ir.OpID, i *instr) error {
	q, err := c.quantization(c.m.ValueType(c.m.Operand(op, 0)))
	if err != nil {
		return err
	}
	to := c.m.ValueType(c.m.Result(op, 0)).DType
	i.kernel = one(func(in []tensor.Tensor) tensor.Tensor { return tensor.UniformDequantize(in[0], q, to) })
	return nil
}

// scalarable says which ops take a scalar for an operand that repeats one element, beside an operand of the full
// shape.
func scalarable(k ir.Kind) bool {
	_, binary := binaryOps[k]
	return binary && k != ir.OpChloMulhi || k == ir.OpCompare || k == ir.OpSelect
}

// repeats says whether a value repeats one element: a splat, or a scalar broadcast.
func (c *compiler) repeats(v ir.ValueID) bool {
	op := c.m.DefiningOp(v)
	if op == 0 || len(c.m.Shape(v)) == 0 || !c.m.ValueType(v).IsStatic() {
		return false
	}
	switch c.m.Kind(op) {
	case ir.OpConstant, ir.OpSdyConstant:
		return c.m.IsSplat(op)
	case ir.OpBroadcastInDim:
		t := c.m.ValueType(c.m.Operand(op, 0))
		return len(t.Dims) == 0 && t.Kind == ir.TensorKind
	}
	return false
}

// staysScalar says whether a value that repeats one element need not be spread out: every use is elementwise and
// has another operand of the full shape.
func (c *compiler) staysScalar(v ir.ValueID) bool {
	if !c.repeats(v) {
		return false
	}
	for use := range c.m.Uses(v) {
		if !scalarable(c.m.Kind(use.Op)) {
			return false
		}
		full := false
		for k := range c.m.NumOperands(use.Op) {
			w := c.m.Operand(use.Op, k)
			full = full || len(c.m.Shape(w)) > 0 && !c.repeats(w)
			if c.m.Kind(use.Op) == ir.OpSelect && k == 0 && (c.repeats(w) || len(c.m.Shape(w)) == 0) {
				return false
			}
		}
		if !full {
			return false
		}
	}
	return true
}
