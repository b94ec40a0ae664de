package ir

// in returns the type of an operand, out that of a result.
func (v *verifier) in(op OpID, i int) *Type  { return v.m.ValueType(v.m.Operand(op, i)) }
func (v *verifier) out(op OpID, i int) *Type { return v.m.ValueType(v.m.Result(op, i)) }

func (v *verifier) inText(op OpID, i int) string  { return v.m.FormatType(v.m.Type(v.m.Operand(op, i))) }
func (v *verifier) outText(op OpID, i int) string { return v.m.FormatType(v.m.Type(v.m.Result(op, i))) }

// unlike is the error of a result that should have the type of the operands.
func (v *verifier) unlike(op OpID) error {
	return badType("requires compatible types for all operands and results: operand #0 is '%s', the result is '%s'", v.inText(op, 0),
		v.outText(op, 0))
}

func checkShapeOnly(v *verifier, op OpID) error {
	if !sameShape(v.in(op, 0).Dims, v.out(op, 0).Dims) {
		return v.unlike(op)
	}
	return nil
}

func checkConvert(v *verifier, op OpID) error {
	if v.in(op, 0).quantized() || v.out(op, 0).quantized() {
		return badType("operand and result must not be quantized: use uniform_quantize or uniform_dequantize")
	}
	return checkShapeOnly(v, op)
}

func checkConstant(v *verifier, op OpID) error {
	value := v.m.Attr(op, "value").(*Dense)
	if value.Type == v.m.Type(v.m.Result(op, 0)) {
		return nil
	}
	have, out := v.m.TypeOf(value.Type), v.out(op, 0)
	if !out.isRanked() || !sameShape(have.Dims, out.Dims) || have.DType != out.DType {
		return mismatch(v.m.FormatType(value.Type), v.outText(op, 0))
	}
	return nil
}
