package ir

import (
	"slices"

	"autoshard/ir/dtype"
)

// elementwiseChecks are the rules of ops that work on single elements, beside those of checkElementwise.
var elementwiseChecks = map[Kind]func(*verifier, OpID) error{
	OpAbs:               checkAbs,
	OpReal:              checkPart,
	OpImag:              checkPart,
	OpIsFinite:          checkIsFinite,
	OpConvert:           checkConvert,
	OpReducePrecision:   checkReducePrecision,
	OpUniformQuantize:   checkShapeOnly,
	OpUniformDequantize: checkShapeOnly,
	OpComplex:           checkComplex,
	OpCompare:           checkCompare,
	OpClamp:             checkClamp,
	OpSelect:            checkSelect,
	OpConstant:          checkConstant,
}

// classes of element types, as bits.
type elemClass uint8

const (
	boolElem elemClass = 1 << iota
	signedElem
	unsignedElem
	floatElem
	complexElem
	intElem = signedElem | unsignedElem
)

func classOf(t *Type) elemClass {
	if t.DType == dtype.Invalid {
		return 0
	}
	return map[dtype.Kind]elemClass{dtype.Bool: boolElem, dtype.Signed: signedElem, dtype.Unsigned: unsignedElem, dtype.Float: floatElem,
		dtype.Complex: complexElem}[t.DType.Kind()]
}

// elemClasses are the element types that ops take; the others take all.
var elemClasses = map[Kind]elemClass{
	OpAbs: signedElem | floatElem | complexElem, OpCbrt: floatElem | complexElem, OpCeil: floatElem, OpCosine: floatElem | complexElem,
	OpCountLeadingZeros: intElem, OpExponential: floatElem | complexElem, OpExponentialMinusOne: floatElem | complexElem, OpFloor: floatElem,
	OpImag: floatElem | complexElem, OpReal: floatElem | complexElem, OpIsFinite: floatElem, OpLog: floatElem | complexElem,
	OpLogPlusOne: floatElem | complexElem, OpLogistic: floatElem | complexElem, OpNegate: intElem | floatElem | complexElem,
	OpNot: boolElem | intElem, OpPopcnt: intElem, OpReducePrecision: floatElem, OpRoundNearestAfz: floatElem, OpRoundNearestEven: floatElem,
	OpRsqrt: floatElem | complexElem, OpSign: signedElem | floatElem | complexElem, OpSine: floatElem | complexElem,
	OpSqrt: floatElem | complexElem, OpTan: floatElem | complexElem, OpTanh: floatElem | complexElem,
	OpAnd: boolElem | intElem, OpOr: boolElem | intElem, OpXor: boolElem | intElem, OpAtan2: floatElem | complexElem, OpComplex: floatElem,
	OpDivide: intElem | floatElem | complexElem, OpPower: intElem | floatElem | complexElem, OpRemainder: intElem | floatElem | complexElem,
	OpSubtract: intElem | floatElem | complexElem, OpShiftLeft: intElem, OpShiftRightArithmetic: intElem, OpShiftRightLogical: intElem,
}

// checkClasses checks the element types of all operands.
func (v *verifier) checkClasses(op OpID) error {
	m := v.m
	allowed, limited := elemClasses[m.Kind(op)]
	for i := range m.NumOperands(op) {
		t := m.ValueType(m.Operand(op, i))
		if t.Quant != 0 || !limited {
			continue
		}
		if classOf(t)&allowed == 0 {
			return badType("operand #%d must be a tensor of %s values, but got '%s'", i, allowed, m.FormatType(m.Type(m.Operand(op, i))))
		}
	}
	return nil
}

// String names the classes for a message.
func (c elemClass) String() string {
	text := ""
	for _, part := range []struct {
		bits elemClass
		name string
	}{{boolElem, "i1"}, {intElem, "integer"}, {floatElem, "float"}, {complexElem, "complex"}} {
		if c&part.bits != 0 {
			if text != "" {
				text += " or "
			}
			text += part.name
		}
	}
	return text
}

// agree says whether two sizes may be equal: a dynamic one fits any.
func agree(a, b int64) bool { return a == b || a == Dynamic || b == Dynamic }

// sameShape says whether two shapes may be equal.
func sameShape(a, b []int64) bool { return slices.EqualFunc(a, b, agree) }

// sameElem says whether two tensors have one element type; quantized ones are compared by their storage.
func sameElem(a, b *Type) bool {
	if a.Quant != 0 || b.Quant != 0 {
		return a.Quant == b.Quant || a.DType == b.DType || a.DType == dtype.Invalid || b.DType == dtype.Invalid
	}
	return a.DType == b.DType
}

// quantized says whether the element type is a quantized one.
func (t *Type) quantized() bool { return t.Quant != 0 }

// in returns the type of an operand, out that of a result.
func (v *verifier) in(op OpID, i int) *Type  { return v.m.ValueType(v.m.Operand(op, i)) }
func (v *verifier) out(op OpID, i int) *Type { return v.m.ValueType(v.m.Result(op, i)) }

func (v *verifier) inText(op OpID, i int) string  { return v.m.FormatType(v.m.Type(v.m.Operand(op, i))) }
func (v *verifier) outText(op OpID, i int) string { return v.m.FormatType(v.m.Type(v.m.Result(op, i))) }

// infers checks a result against the type that follows from the operands.
func (v *verifier) infers(op OpID, i int, elem *Type, dims []int64) error {
	have := v.out(op, i)
	if have.isRanked() && sameElem(have, elem) && sameShape(have.Dims, dims) {
		return nil
	}
	want := Type{Kind: TensorKind, DType: elem.DType, Quant: elem.Quant, Dims: dims}
	return badType("inferred type(s) '%s' are incompatible with return type(s) of operation '%s'", v.m.appendTensor(nil, &want), v.outText(op, i))
}

// elemOf returns a scalar of an element type, for infers.
func elemOf(e dtype.Type) *Type { return &Type{Kind: TensorKind, DType: e} }

// sameShapes checks that all operands and the result have one shape.
func (v *verifier) sameShapes(op OpID) error {
	first := v.in(op, 0)
	for i := 1; i < v.m.NumOperands(op); i++ {
		if !sameShape(first.Dims, v.in(op, i).Dims) {
			return badType("requires compatible types for all operands and results: operand #0 is '%s', operand #%d is '%s'",
				v.inText(op, 0), i, v.inText(op, i))
		}
	}
	if !sameShape(first.Dims, v.out(op, 0).Dims) {
		return badType("requires compatible types for all operands and results: operand #0 is '%s', the result is '%s'",
			v.inText(op, 0), v.outText(op, 0))
	}
	return nil
}

func checkElementwise(v *verifier, op OpID) error {
	if err := v.checkClasses(op); err != nil {
		return err
	}
	if err := v.sameShapes(op); err != nil {
		return err
	}
	first := v.in(op, 0)
	for i := 1; i < v.m.NumOperands(op); i++ {
		if t := v.in(op, i); !t.quantized() && !first.quantized() && !sameElem(first, t) {
			return badType("requires compatible types for all operands and results: operand #0 is '%s', operand #%d is '%s'",
				v.inText(op, 0), i, v.inText(op, i))
		}
	}
	if out := v.out(op, 0); !out.quantized() && !first.quantized() && !sameElem(first, out) {
		return badType("requires compatible types for all operands and results: operand #0 is '%s', the result is '%s'",
			v.inText(op, 0), v.outText(op, 0))
	}
	return nil
}

// realPart returns the element type of the parts of complex numbers, any other type itself.
func realPart(t *Type) *Type {
	switch t.DType {
	case dtype.C64:
		return elemOf(dtype.F32)
	case dtype.C128:
		return elemOf(dtype.F64)
	}
	return t
}

func checkAbs(v *verifier, op OpID) error {
	if err := v.checkClasses(op); err != nil {
		return err
	}
	return v.infers(op, 0, realPart(v.in(op, 0)), v.in(op, 0).Dims)
}

func checkPart(v *verifier, op OpID) error { return checkAbs(v, op) }

func checkIsFinite(v *verifier, op OpID) error {
	if err := v.checkClasses(op); err != nil {
		return err
	}
	return v.infers(op, 0, elemOf(dtype.I1), v.in(op, 0).Dims)
}

func checkConvert(v *verifier, op OpID) error {
	if v.in(op, 0).quantized() || v.out(op, 0).quantized() {
		return badType("operand and result must not be quantized: use uniform_quantize or uniform_dequantize")
	}
	return v.sameShapes(op)
}

func checkShapeOnly(v *verifier, op OpID) error { return v.sameShapes(op) }

func checkReducePrecision(v *verifier, op OpID) error {
	a := v.m.OpAttrs(op)
	if a.Int("exponent_bits", 1) < 1 {
		return badAttr("exponent_bits must be at least 1")
	}
	if a.Int("mantissa_bits", 0) < 0 {
		return badAttr("mantissa_bits must be at least 0")
	}
	return checkElementwise(v, op)
}

func checkComplex(v *verifier, op OpID) error {
	parts := map[dtype.Type]dtype.Type{dtype.F32: dtype.C64, dtype.F64: dtype.C128}
	for i := range 2 {
		if t := v.in(op, i); parts[t.DType] == dtype.Invalid {
			return badType("operand #%d must be a tensor of f32 or f64 values, but got '%s'", i, v.inText(op, i))
		}
	}
	a, b := v.in(op, 0), v.in(op, 1)
	if a.DType != b.DType || !sameShape(a.Dims, b.Dims) {
		return badType("requires the same type for both operands: '%s' vs '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	return v.infers(op, 0, elemOf(parts[a.DType]), a.Dims)
}

func checkCompare(v *verifier, op OpID) error {
	a, b := v.in(op, 0), v.in(op, 1)
	if !sameElem(a, b) || !sameShape(a.Dims, b.Dims) {
		return badType("requires compatible types for both operands: '%s' vs '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	if !slices.Contains([]string{"EQ", "NE", "GE", "GT", "LE", "LT"}, v.m.OpAttrs(op).Str("comparison_direction")) {
		return badAttr("requires attribute 'comparison_direction'")
	}
	return v.infers(op, 0, elemOf(dtype.I1), a.Dims)
}

func checkClamp(v *verifier, op OpID) error {
	x := v.in(op, 1)
	for _, i := range []int{0, 2} {
		b := v.in(op, i)
		if !sameElem(b, x) {
			return badType("requires the same element type for all operands: '%s' vs '%s'", v.inText(op, i), v.inText(op, 1))
		}
		if len(b.Dims) != 0 && !sameShape(b.Dims, x.Dims) {
			return badType("bound #%d shape %s is not scalar and is not compatible to operand shape %s", i, v.inText(op, i), v.inText(op, 1))
		}
	}
	return v.infers(op, 0, x, x.Dims)
}

func checkSelect(v *verifier, op OpID) error {
	pred, a, b := v.in(op, 0), v.in(op, 1), v.in(op, 2)
	if pred.DType != dtype.I1 || pred.quantized() {
		return badType("operand #0 must be a tensor of i1 values, but got '%s'", v.inText(op, 0))
	}
	if !sameElem(a, b) || !sameShape(a.Dims, b.Dims) {
		return badType("requires compatible types for non-predicate operands: '%s' vs '%s'", v.inText(op, 1), v.inText(op, 2))
	}
	if len(pred.Dims) != 0 && !sameShape(pred.Dims, a.Dims) {
		return badType("requires the same shape for all operands: predicate '%s' vs '%s'", v.inText(op, 0), v.inText(op, 1))
	}
	return v.infers(op, 0, a, a.Dims)
}

func checkConstant(v *verifier, op OpID) error {
	value, ok := v.m.Attr(op, "value").(*Dense)
	if !ok {
		return badAttr("requires attribute 'value' with a constant")
	}
	if value.Type == v.m.Type(v.m.Result(op, 0)) {
		return nil
	}
	have, out := v.m.TypeOf(value.Type), v.out(op, 0)
	if !out.isRanked() || !sameShape(have.Dims, out.Dims) || have.DType != out.DType {
		return badType("inferred type(s) '%s' are incompatible with return type(s) of operation '%s'", v.m.FormatType(value.Type), v.outText(op, 0))
	}
	return nil
}
