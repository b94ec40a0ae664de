package space

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/fusion"
)

// findFused finds what is fused. Constraints are gone from bare, as they will be from the program unless they move something.
func (s *Space) findFused(bare *ir.Module) {
	s.bare = fusion.Of(bare)
	s.own = fusion.Of(s.m)
	s.fused, s.unheld = slices.Clone(s.bare.Fused), s.own.MayBeUnheld()
	s.bare.Unheld = s.bare.MayBeUnheld()
	acrossManual(bare, s.bare)
	s.m.Walk(s.m.MainFunc().Body, func(op ir.OpID) {
		if passesOn(s.m.Kind(op)) {
			v, from := s.m.Result(op, 0), s.m.Operand(op, 0)
			s.fused[v], s.bare.Fused[v], s.bare.Unheld[v] = s.fused[from], s.bare.Fused[from], s.bare.Unheld[from]
		}
	})
}

// fusedAs says of a value what prices depend on.
func (s *Space) fusedAs(v ir.ValueID) byte {
	return flags(s.fused[v], s.unheld[v], s.bare.Fused[v])
}

// acrossManual marks what may be fused where manual computations are part of the program around them.
func acrossManual(m *ir.Module, f fusion.Values) {
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if m.Kind(op) != ir.OpSdyManualComputation {
			return
		}
		body := m.RegionBlock(op, 0)
		for _, values := range [][]ir.ValueID{m.Operands(op), m.BlockArgs(body), m.Operands(m.LastOp(body)), m.ResultValues(op)} {
			for _, v := range values {
				fuse(m, f, v)
			}
		}
	})
}

// fuse marks a value as fused, with what reshapes make of it and that of which one makes it.
func fuse(m *ir.Module, f fusion.Values, v ir.ValueID) {
	if f.Fused[v] && f.Unheld[v] {
		return
	}
	f.Fused[v], f.Unheld[v] = true, true
	if op := m.DefiningOp(v); op != 0 && m.Kind(op) == ir.OpReshape {
		fuse(m, f, m.Operand(op, 0))
	}
	for u := range m.Uses(v) {
		if m.Kind(u.Op) == ir.OpReshape {
			fuse(m, f, m.Result(u.Op, 0))
		}
	}
}
