package ir

// EraseDead removes ops without side effects whose results nobody uses, until none is left.
func EraseDead(m *Module) {
	for f := range m.Definitions() {
		m.eraseDeadIn(m.Func(f).Body)
	}
}

func (m *Module) eraseDeadIn(b BlockID) {
	for op := m.LastOp(b); op != 0; {
		prev := m.PrevOp(op)
		if m.isDead(op) {
			m.Erase(op)
		} else {
			for inner := range m.InnerBlocks(op) {
				m.eraseDeadIn(inner)
			}
		}
		op = prev
	}
}

func (m *Module) isDead(op OpID) bool {
	return !m.isUsed(op) && !m.Kind(op).IsTerminator() && m.isPure(op)
}

// isPure says whether the op and everything inside it has no side effects.
func (m *Module) isPure(op OpID) bool {
	if !m.Kind(op).IsPure() && !m.Kind(op).IsTerminator() {
		return false
	}
	for b := range m.InnerBlocks(op) {
		for inner := range m.Ops(b) {
			if !m.isPure(inner) {
				return false
			}
		}
	}
	return true
}

// EraseIdentities removes conversions of tensors to their own type, which JAX writes of weakly typed numbers, but for those that the user
// gave a sharding.
func EraseIdentities(m *Module) {
	for f := range m.Definitions() {
		m.Walk(m.Func(f).Body, func(op OpID) {
			if m.Kind(op) == OpConvert && m.Type(m.Operand(op, 0)) == m.Type(m.Result(op, 0)) && m.Sharding(m.Result(op, 0)) == 0 {
				m.ReplaceUses(m.Result(op, 0), m.Operand(op, 0))
				m.Erase(op)
			}
		})
	}
}
