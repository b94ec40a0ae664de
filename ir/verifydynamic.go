package ir

import "slices"

// sizesOperand checks that an operand is a list of sizes: integers, as many as its static type says.
func (v *verifier) sizesOperand(op OpID, i int) error {
	t := v.in(op, i)
	if len(t.Dims) != 1 || t.Dims[0] == Dynamic || !v.isSize(t) {
		return badType("operand #%d must be statically shaped 1-dimensional tensor of index or integer values, but got '%s'", i, v.inText(op, i))
	}
	return nil
}

// isSize says whether the elements of a tensor are integers or of type index.
func (v *verifier) isSize(t *Type) bool {
	return t.Quant == 0 && classOf(t)&intElem != 0 || t.Quant != 0 && v.m.TypeOf(t.Quant).Kind == IndexKind
}

func checkDynamicReshape(v *verifier, op OpID) error {
	if !sameElem(v.in(op, 0), v.out(op, 0)) {
		return badType("requires the same element type for operand and result: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	if err := v.sizesOperand(op, 1); err != nil {
		return err
	}
	if n := v.in(op, 1).Dims[0]; n != int64(v.out(op, 0).Rank()) {
		return badType("output should have a rank equal to the number of elements in output_shape: %d vs %d", v.out(op, 0).Rank(), n)
	}
	return nil
}

func checkDynamicIota(v *verifier, op OpID) error {
	if d := v.m.OpAttrs(op).Int("iota_dimension", -1); d < 0 || d >= int64(v.out(op, 0).Rank()) {
		return badAttr("iota dimension cannot go beyond the output rank or be negative")
	}
	return v.sizesOperand(op, 0)
}

func checkDynamicBroadcast(v *verifier, op OpID) error {
	x, out := v.in(op, 0), v.out(op, 0)
	dims := v.at.attrs.Ints("broadcast_dimensions")
	if err := v.sizesOperand(op, 1); err != nil {
		return err
	}
	if !sameElem(x, out) {
		return badType("expects operand and result to have compatible element type. Got: '%s' and '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	if err := broadcastDims(dims, x, out); err != nil {
		return err
	}
	expanding, _ := v.at.ints("known_expanding_dimensions")
	other, _ := v.at.ints("known_nonexpanding_dimensions")
	hints := append(slices.Clone(expanding), other...)
	if !unique(hints) {
		return badAttr("duplicate expansion hint for at least one operand dimension")
	}
	if !within(hints, x.Rank()) {
		return badAttr("hint for expanding or nonexpanding dimensions %v does not refer to a valid operand dimension", hints)
	}
	return nil
}

// sameSizes checks operands from one to another: lists of sizes of one type, with one entry for each dimension.
func (v *verifier) sameSizes(op OpID, from, to, rank int) error {
	for i := from; i < to; i++ {
		if err := v.sizesOperand(op, i); err != nil {
			return err
		}
		if v.m.Type(v.m.Operand(op, i)) != v.m.Type(v.m.Operand(op, from)) {
			return badType("operands #%d and #%d must have same type: '%s' vs '%s'", from, i, v.inText(op, from), v.inText(op, i))
		}
	}
	if n := v.in(op, from).Dims[0]; n != int64(rank) {
		return badType("operand #%d must have one entry for each of the %d dimensions, but got %d", from, rank, n)
	}
	return nil
}

func checkRealDynamicSlice(v *verifier, op OpID) error {
	x := v.in(op, 0)
	if !sameElem(x, v.out(op, 0)) {
		return badType("requires the same element type for operand and result: '%s' vs '%s'", v.inText(op, 0), v.outText(op, 0))
	}
	return v.sameSizes(op, 1, 4, x.Rank())
}

func checkDynamicPad(v *verifier, op OpID) error {
	x, value, out := v.in(op, 0), v.in(op, 1), v.out(op, 0)
	if len(value.Dims) != 0 {
		return badType("padding value type should be a rank-0 tensor")
	}
	if !sameElem(x, value) || !sameElem(x, out) {
		return badType("operand, padding value and result must have same element type: '%s', '%s', '%s'", v.inText(op, 0), v.inText(op, 1),
			v.outText(op, 0))
	}
	if x.Rank() != out.Rank() {
		return badType("operand rank(%d) must match result(%d)", x.Rank(), out.Rank())
	}
	return v.sameSizes(op, 2, 5, x.Rank())
}

// checkDynamicConv checks the padding; MLIR leaves the rest to whoever knows it.
func checkDynamicConv(v *verifier, op OpID) error {
	d := v.m.Attr(op, "dimension_numbers").(*ConvDims)
	t := v.in(op, 2)
	if len(t.Dims) != 2 || slices.Contains(t.Dims, Dynamic) || classOf(t)&intElem == 0 {
		return badType("operand #2 must be statically shaped 2-dimensional integer tensor, but got '%s'", v.inText(op, 2))
	}
	if t.Dims[0] != int64(len(d.InSpatial)) || t.Dims[1] != 2 {
		return badType("expects padding to be of shape [%d, 2], but got %v", len(d.InSpatial), t.Dims)
	}
	return nil
}
