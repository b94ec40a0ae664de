package ir

func checkIota(v *verifier, op OpID) error {
	out := v.out(op, 0)
	if classOf(out)&boolElem != 0 {
		return badType("result #0 must be a tensor of integer or float or complex values, but got '%s'", v.outText(op, 0))
	}
	if !out.IsStatic() {
		return badType("result must have a static shape, but got '%s'", v.outText(op, 0))
	}
	if out.Rank() == 0 {
		return badType("does not support scalars")
	}
	if d := v.m.OpAttrs(op).Int("iota_dimension", -1); d < 0 || d >= int64(out.Rank()) {
		return badAttr("iota dimension cannot go beyond the output rank or be negative")
	}
	return nil
}

func checkBroadcastInDim(v *verifier, op OpID) error {
	x, out := v.in(op, 0), v.out(op, 0)
	dims := v.at.attrs.Ints("broadcast_dimensions")
	if err := broadcastDims(dims, x, out); err != nil {
		return err
	}
	if !out.IsStatic() && out.Encoding == "" {
		return badType("result must be statically shaped, but got '%s'", v.outText(op, 0))
	}
	if !sameElem(x, out) {
		return badType("requires the same element type for operand and result: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	return nil
}

func broadcastDims(dims []int64, x, out *Type) error {
	if len(dims) != x.Rank() {
		return badAttr("broadcast_dimensions size (%d) does not match operand rank (%d)", len(dims), x.Rank())
	}
	if !unique(dims) {
		return badAttr("broadcast_dimensions should not have duplicates")
	}
	for i, d := range dims {
		if d < 0 || d >= int64(out.Rank()) {
			return badAttr("broadcast_dimensions contains invalid value %d for result with rank %d", d, out.Rank())
		}
		if n := x.Dims[i]; n != Dynamic && n != 1 && !agree(n, out.Dims[d]) {
			return badType("size of operand dimension %d (%d) is not equal to 1 or size of result dimension %d (%d)", i, n, d, out.Dims[d])
		}
	}
	return nil
}

func checkReshape(v *verifier, op OpID) error {
	x, out := v.in(op, 0), v.out(op, 0)
	if !out.IsStatic() {
		return badType("result must be statically shaped, but got '%s'", v.outText(op, 0))
	}
	if !sameElem(x, out) {
		return badType("requires the same element type for operand and result: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	if x.IsStatic() && x.Elements() != out.Elements() {
		return badType("number of output elements (%d) doesn't match expected number of elements (%d)", out.Elements(), x.Elements())
	}
	return nil
}

func checkBitcast(v *verifier, op OpID) error {
	x, out := v.in(op, 0), v.out(op, 0)
	if x.quantized() || out.quantized() {
		return nil
	}
	if (classOf(x) == complexElem) != (classOf(out) == complexElem) {
		return badType("cannot convert between real and complex types, but got: '%s' and '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	a, b := int64(x.DType.Bits()), int64(out.DType.Bits())
	wide, narrow, wideDims, narrowDims := a, b, x.Dims, out.Dims
	if a < b {
		wide, narrow, wideDims, narrowDims = b, a, out.Dims, x.Dims
	}
	if wide == narrow {
		if !sameShape(x.Dims, out.Dims) {
			return badType("operand and result shapes must match: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
		}
		return nil
	}
	if wide%narrow != 0 || len(narrowDims) != len(wideDims)+1 || !sameShape(narrowDims[:len(wideDims)], wideDims) ||
		!agree(narrowDims[len(wideDims)], wide/narrow) {
		return badType("requires compatible bit widths and shapes: '%s' and '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	return nil
}
