package rule

import (
	"bytes"
	"encoding/binary"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
)

// mergePartial cuts the reduced dimensions of a reduction whose partial results devices exchange, where its region merges these as it
// merges elements, whatever part of them the initial values were merged into.
func mergePartial(v *verdict) {
	if len(v.rule.Permutation) == 0 || !repeatsInits(v.m, v.op) {
		v.keep("its region may count the initial values of several devices", v.rule.Permutation...)
		return
	}
	for _, f := range v.rule.Permutation {
		v.cut(f, v.rule.Sizes[f])
	}
}

// fetchOrRun cuts what windows slide over, and what running sums and their like run over: every device goes on from what those before it
// have folded.
func fetchOrRun(v *verdict) {
	v.keep("a window reaches from end to end of it", v.rule.Permutation...)
	v.fetch()
	run, ok := localform.Running(v.m, v.op, v.m.Shape)
	switch {
	case !ok:
		return
	case !runs(v.m, v.op):
		v.keep("its region may count the initial values of several devices", v.rule.Results[0][run.Dim]...)
		return
	}
	var dims [][]int32
	for _, mapping := range slices.Concat(v.rule.Operands[:v.m.NumResults(v.op)], v.rule.Results) {
		dims = append(dims, mapping[run.Dim])
	}
	if f := dims[0][0]; v.alone(f, dims) {
		v.cut(f, v.rule.Sizes[f])
	}
}

// fetchTouching cuts what the windows of a select_and_scatter slide over: every device fetches what windows see that touch its block. What
// nobody sends must change nothing. Where windows reach over both ends, it is cut evenly.
func fetchTouching(v *verdict) {
	v.fetch()
	_, neutral := ir.ReductionOf(v.m, v.op, 1)
	for _, d := range localform.Dims(v.m, v.op, v.m.Shape) {
		switch f := v.rule.Results[0][d.Out]; {
		case !neutral:
			v.keep("what is scattered is combined in no known way", f...)
		case d.Overlaps():
			v.why[f[0]] = "windows reach over both of its ends, and would choose what pads it"
		}
	}
}

// runs says whether what is folded may be folded with the initial values once more. Paddings are such values, so that regions may ask for
// neutral ones; sums and products are known to need them.
func runs(m *ir.Module, op ir.OpID) bool {
	if _, ok := ir.ReducerOf(m, op, 0, ir.Computed); ok {
		return repeatsInits(m, op)
	}
	return !captures(m, m.RegionBlock(op, 0))
}

// repeatsInits says whether a region may merge its initial values more than once. It may where it only chooses among what it is given, as
// those of argmax do, adds zeros or multiplies by ones. The exclusive or of zeros is a sum of bits.
func repeatsInits(m *ir.Module, op ir.OpID) bool {
	inits := m.Operands(op)[m.NumResults(op):]
	switch kind, _ := ir.ReducerOf(m, op, 0, ir.Computed); kind {
	case ir.OpAdd, ir.OpXor:
		return !slices.ContainsFunc(inits, func(v ir.ValueID) bool { return !IsZero(m, v) })
	case ir.OpMultiply:
		return !slices.ContainsFunc(inits, func(v ir.ValueID) bool { return !isOne(m, v) })
	}
	body := m.RegionBlock(op, 0)
	for inner := range m.Ops(body) {
		if !m.Kind(inner).IsTerminator() && !slices.Contains(choosing, m.Kind(inner)) {
			return false
		}
	}
	return !captures(m, body)
}

// choosing are the kinds of ops whose results are among their operands, or say which of them to choose.
var choosing = []ir.Kind{ir.OpConstant, ir.OpCompare, ir.OpSelect, ir.OpMaximum, ir.OpMinimum, ir.OpAnd, ir.OpOr, ir.OpNot}

// captures says whether a region that is one block reads values from outside.
func captures(m *ir.Module, body ir.BlockID) bool {
	for op := range m.Ops(body) {
		for _, v := range m.Operands(op) {
			if by := m.DefiningOp(v); by != 0 && m.OpBlock(by) != body || by == 0 && m.ArgBlock(v) != body {
				return true
			}
		}
	}
	return false
}

// IsZero says whether a value is a constant of zeros, of either sign.
func IsZero(m *ir.Module, v ir.ValueID) bool {
	data, ok := constant(m, v)
	if !ok {
		return false
	}
	width := m.ValueType(v).DType.Bytes()
	for i, b := range data {
		sign := i%width == width-1 && b == 0x80 && m.ValueType(v).DType.Kind() >= dtype.Float
		if b != 0 && !sign {
			return false
		}
	}
	return true
}

// isOne says whether a value is a constant of one 1.
func isOne(m *ir.Module, v ir.ValueID) bool {
	e, one := m.ValueType(v).DType, uint64(1)
	if e.Kind() == dtype.Float {
		one = dtype.Encode(e, 1)
	}
	data, ok := constant(m, v)
	return ok && e.Kind() != dtype.Complex && bytes.Equal(data, binary.LittleEndian.AppendUint64(nil, one)[:e.Bytes()])
}

// constant returns the elements of a constant that are in the program. JAX writes the initial values of running sums as broadcasts of
// scalars to scalars.
func constant(m *ir.Module, v ir.ValueID) ([]byte, bool) {
	op := m.DefiningOp(v)
	for op != 0 && (m.Kind(op) == ir.OpBroadcastInDim || m.Kind(op) == ir.OpReshape) && m.Type(m.Operand(op, 0)) == m.Type(v) {
		op = m.DefiningOp(m.Operand(op, 0))
	}
	if op == 0 || m.Kind(op) != ir.OpConstant && m.Kind(op) != ir.OpSdyConstant {
		return nil, false
	}
	dense, ok := m.Attr(op, "value").(*ir.Dense)
	if !ok || dense.Resource != "" {
		return nil, false
	}
	return dense.Data, true
}
