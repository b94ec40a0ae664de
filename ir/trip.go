package ir

import "encoding/binary"

// TripCount returns how often the body of a stablehlo.while runs, where that is plain to see: a carried counter
// starts at a constant, the condition compares it with a constant, and the body adds a constant to it, as in the
// loops that scans and fori loops become.
func TripCount(m *Module, while OpID) (int64, bool) {
	cond, body := m.RegionBlock(while, 0), m.RegionBlock(while, 1)
	compare := m.DefiningOp(m.Operand(m.LastOp(cond), 0))
	if compare == 0 || m.Kind(compare) != OpCompare {
		return 0, false
	}
	counter := m.Operand(compare, 0)
	if m.ArgBlock(counter) != cond {
		return 0, false
	}
	i := m.Index(counter)
	limit, ok1 := m.resolve(while, m.Operand(compare, 1), cond)
	start, ok2 := m.ConstantInt(m.Operand(while, i))
	step, ok3 := m.increment(body, i)
	if !ok1 || !ok2 || !ok3 || step <= 0 {
		return 0, false
	}
	switch m.OpAttrs(compare).Str("comparison_direction") {
	case "LT":
	case "LE":
		limit++
	default:
		return 0, false
	}
	return max(0, (limit-start+step-1)/step), true
}

// resolve reads a constant, also through a loop-carried argument that the body passes on unchanged.
func (m *Module) resolve(while OpID, v ValueID, cond BlockID) (int64, bool) {
	if m.ArgBlock(v) != cond {
		return m.ConstantInt(v)
	}
	i, body := m.Index(v), m.RegionBlock(while, 1)
	if m.Operand(m.LastOp(body), i) != m.BlockArgs(body)[i] {
		return 0, false
	}
	return m.ConstantInt(m.Operand(while, i))
}

func (m *Module) increment(body BlockID, i int) (int64, bool) {
	add := m.DefiningOp(m.Operand(m.LastOp(body), i))
	if add == 0 || m.Kind(add) != OpAdd {
		return 0, false
	}
	arg := m.BlockArgs(body)[i]
	switch {
	case m.Operand(add, 0) == arg:
		return m.ConstantInt(m.Operand(add, 1))
	case m.Operand(add, 1) == arg:
		return m.ConstantInt(m.Operand(add, 0))
	}
	return 0, false
}

// ConstantInt returns the value of a splat integer constant of at most 64 bits.
func (m *Module) ConstantInt(v ValueID) (int64, bool) {
	op := m.DefiningOp(v)
	if op == 0 || m.Kind(op) != OpConstant && m.Kind(op) != OpSdyConstant {
		return 0, false
	}
	dense, ok := m.Attr(op, "value").(*Dense)
	if !ok || !dense.Splat || len(dense.Data) > 8 || len(dense.Data) == 0 {
		return 0, false
	}
	raw := make([]byte, 8)
	copy(raw, dense.Data)
	shift := 64 - 8*len(dense.Data)
	return int64(binary.LittleEndian.Uint64(raw)) << shift >> shift, true
}
