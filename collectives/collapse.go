package collectives

import (
	"autoshard/ir"
	"autoshard/subaxis"
)

// Collapse is the inverse of [Expand]: collectives of a module that follow each other, each the only reader of the one before, become
// the one sdy.reshard that they carry out, behind an sdy.all_reduce where they reduce. Those inside manual computations stay.
func Collapse(m *ir.Module) {
	for _, last := range m.OpsWhere(m.Body(), isStep) {
		if m.ManualAround(last) != 0 || follows(m, last) {
			continue
		}
		collapse(m, last)
	}
}

// isStep says whether an op is what Expand makes of steps.
func isStep(k ir.Kind) bool {
	_, collective := k.CollectiveAxes()
	return collective
}

// follows says whether the only reader of a collective is a collective, which is collapsed with it.
func follows(m *ir.Module, op ir.OpID) bool {
	v := m.Result(op, 0)
	if !m.HasOneUse(v) {
		return false
	}
	for use := range m.Uses(v) {
		return isStep(m.Kind(use.Op))
	}
	return false
}

// collapse replaces a chain of collectives, of which the last one is given.
func collapse(m *ir.Module, last ir.OpID) {
	chain := []ir.OpID{last}
	v := m.Operand(last, 0)
	for op := m.DefiningOp(v); op != 0 && isStep(m.Kind(op)) && follows(m, op); op = m.DefiningOp(v) {
		chain, v = append(chain, op), m.Operand(op, 0)
	}
	b, want := m.BuilderBefore(last), m.Sharding(m.Result(last, 0))
	v = completed(m, b, v, m.ShardingOf(want).Unreduced)
	from, to := LayoutOf(m.ShardingOf(m.Sharding(v))), LayoutOf(m.ShardingOf(want))
	if !from.Equal(&to) || m.ShardingOf(m.Sharding(v)).Mesh != m.ShardingOf(want).Mesh {
		v = b.Reshard(v, want)
	}
	m.ReplaceUses(m.Result(last, 0), v)
	for _, op := range chain {
		m.Erase(op)
	}
}

// completed returns a value reduced along all axes along which it is partial, but for those that stay so.
func completed(m *ir.Module, b *ir.Builder, v ir.ValueID, stay []subaxis.Ref) ir.ValueID {
	have := m.ShardingOf(m.Sharding(v))
	gone := subaxis.Difference(have.Unreduced, stay)
	if len(gone) == 0 {
		return v
	}
	after := LayoutOf(have)
	after.Unreduced = stay
	return emit(b, m, v, []Step{{Kind: AllReduce, Axes: gone, After: after}}, have.Mesh, have.Mesh)
}
