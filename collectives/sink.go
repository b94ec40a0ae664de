package collectives

import "autoshard/ir"

// sink moves a reshard behind the slice, or the conversion to smaller elements, that is the only reader of what it makes, and behind those
// that follow.
func (r *rewriter) sink(reshard ir.OpID) bool {
	m := r.m
	v, moved := m.Operand(reshard, 0), m.Result(reshard, 0)
	reader := m.OnlyReader(moved)
	if reader == 0 || m.OpBlock(reader) != m.OpBlock(reshard) || m.Operand(reader, 0) != moved {
		return false
	}
	result := m.Result(reader, 0)
	from, ok := r.layout(v)
	if !ok || !narrows(m, reader) || len(from.Unreduced) > 0 || !from.Divides(m.Shape(v)) {
		return false
	}
	for d, axes := range from.Dims {
		if len(axes) > 0 && m.Shape(result)[d] != m.Shape(v)[d] {
			return false
		}
	}
	to, _ := r.layout(moved)
	then, _ := r.layout(result)
	if len(then.Unreduced) > 0 || r.price(result, &from, &then) >= r.price(v, &from, &to) {
		return false
	}
	m.SetOperand(reader, 0, v)
	m.Erase(reshard)
	after := m.Sharding(result)
	m.SetSharding(result, m.InternSharding(from.Sharding(r.mesh)))
	if !from.Equal(&then) {
		later := m.BuilderAfter(reader).Reshard(result, after)
		m.Divert(result, later)
		r.sink(m.DefiningOp(later))
	}
	return true
}

// narrows says whether an op makes fewer bytes of its first operand, and moves no element along dimensions that keep their size.
func narrows(m *ir.Module, op ir.OpID) bool {
	switch m.Kind(op) {
	case ir.OpSlice, ir.OpDynamicSlice, ir.OpConvert:
		return m.ValueType(m.Result(op, 0)).Bytes() < m.ValueType(m.Operand(op, 0)).Bytes()
	}
	return false
}
