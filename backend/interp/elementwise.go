package interp

import (
	"maps"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
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
		builders[kind] = pure1(compute)
	}
	for kind, compute := range binaryOps {
		builders[kind] = pure2(compute)
	}
	for kind := range ir.NumKinds {
		if compute, ok := binaryOps[kind.Plain()]; ok {
			builders[kind] = broadcasting(2, func(in []tensor.Tensor) tensor.Tensor { return compute(in[0], in[1]) })
		}
	}
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

var binaryOps = map[ir.Kind]func(x, y tensor.Tensor) tensor.Tensor{
	ir.OpAdd:                  tensor.Add,
	ir.OpAnd:                  tensor.And,
	ir.OpAtan2:                tensor.Atan2,
	ir.OpComplex:              tensor.Complex,
	ir.OpDivide:               tensor.Divide,
	ir.OpMaximum:              tensor.Maximum,
	ir.OpMinimum:              tensor.Minimum,
	ir.OpMultiply:             tensor.Multiply,
	ir.OpOr:                   tensor.Or,
	ir.OpPower:                tensor.Power,
	ir.OpRemainder:            tensor.Remainder,
	ir.OpShiftLeft:            tensor.ShiftLeft,
	ir.OpShiftRightArithmetic: tensor.ShiftRightArithmetic,
	ir.OpShiftRightLogical:    tensor.ShiftRightLogical,
	ir.OpSubtract:             tensor.Subtract,
	ir.OpXor:                  tensor.Xor,
	ir.OpChloMulhi:            tensor.Mulhi,
	ir.OpChloNextAfter:        tensor.NextAfter,
	ir.OpChloPolygamma:        tensor.Polygamma,
	ir.OpChloZeta:             tensor.Zeta,
}

var elementwise = map[ir.Kind]builder{
	ir.OpConvert:             reading(buildConvert),
	ir.OpCompare:             reading(buildCompare),
	ir.OpSelect:              pure3(tensor.Select),
	ir.OpClamp:               pure3(tensor.Clamp),
	ir.OpReducePrecision:     reading(buildReducePrecision),
	ir.OpUniformQuantize:     buildQuantize,
	ir.OpUniformDequantize:   buildDequantize,
	ir.OpOptimizationBarrier: identity,
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
	return binary && k != ir.OpComplex && k != ir.OpChloNextAfter && k != ir.OpChloMulhi || k == ir.OpCompare || k == ir.OpSelect
}

// repeats says whether a value repeats one element: a splat, or a scalar broadcast.
func (c *compiler) repeats(v ir.ValueID) bool {
	op := c.m.DefiningOp(v)
	if op == 0 || len(c.m.Shape(v)) == 0 || !c.m.ValueType(v).IsStatic() {
		return false
	}
	switch c.m.Kind(op) {
	case ir.OpConstant, ir.OpSdyConstant:
		d, ok := c.m.Attr(op, "value").(*ir.Dense)
		return ok && d.Splat
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
