package ring

import (
	"slices"

	"autoshard/ir"
)

// apart splits a candidate into those whose products need none of each other: a ring has the results of its products in the end, so one
// that needs another's result is part of a later ring. Each takes what it can in the order of the program, as long as nothing that stays
// where it is, such as the ops of some rings, has to be put off.
func (c *Candidate) apart(m *ir.Module, rings map[ir.OpID]bool) []Candidate {
	if len(c.forms) == 1 {
		return []Candidate{*c}
	}
	var out []Candidate
	left := map[ir.OpID]form{}
	for _, f := range c.forms {
		left[f.product] = f
	}
	for op := m.NextOp(c.op); len(left) > 0; op = m.NextOp(op) {
		if _, ok := left[op]; ok {
			out = append(out, c.from(m, op, left, rings))
		}
	}
	return out
}

// from takes a product of those that are left, the first, and the others that can be in one ring with it. The ring stands where the last
// of them does: what needs an earlier one is put off.
func (c Candidate) from(m *ir.Module, first ir.OpID, left map[ir.OpID]form, rings map[ir.OpID]bool) Candidate {
	c.forms = nil
	var off []ir.OpID
	needing := map[ir.OpID]bool{} // products of the ring, and what needs them
	for op, ahead := first, len(left); ahead > 0; op = m.NextOp(op) {
		f, isProduct := left[op]
		if isProduct {
			ahead--
		}
		switch needs := reads(m, op, needing); {
		case needs && stays(m, op, rings):
			return c
		case needs:
			off, needing[op] = append(off, op), true
		case isProduct:
			delete(left, op)
			c.forms, c.off = append(c.forms, f), slices.Clone(off)
			needing[op] = true
		}
	}
	return c
}

// stays says whether an op cannot be put off: one of a ring, which stand together, or one with effects, whose order is seen.
func stays(m *ir.Module, op ir.OpID, rings map[ir.OpID]bool) bool {
	if rings[op] {
		return true
	}
	for inner := range m.OpsWithin(op) {
		if !ir.HasNoEffects(m, inner) && !m.Kind(inner).Communicates() {
			return true
		}
	}
	return false
}

// reads says whether an op, or one inside it, reads what some others make.
func reads(m *ir.Module, op ir.OpID, others map[ir.OpID]bool) bool {
	made := func(v ir.ValueID) bool { return others[m.DefiningOp(v)] }
	for inner := range m.OpsWithin(op) {
		if slices.ContainsFunc(m.Operands(inner), made) {
			return true
		}
	}
	return false
}
