package reshard

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// maybeCrosses says quickly whether crossProduct may change a product: some dimension of the result is cut.
func maybeCrosses(m *ir.Module, op ir.OpID, shardings []ir.ShardingID) bool {
	if kind := m.Kind(op); kind != ir.OpDot && kind != ir.OpDotGeneral {
		return false
	}
	lhs, rhs, out := shardings[0], shardings[1], shardings[2]
	return lhs != 0 && rhs != 0 && out != 0 && !m.ShardingOf(out).IsReplicated() && !m.ShardingOf(rhs).IsReplicated() &&
		!m.ShardingOf(lhs).IsReplicated()
}

// crossProduct looks for matrix products whose result is to be cut along the axes of the sum:
//
//	[i:{}, k:{x}] * [k:{x}, j:{y}] -> [i:{}, j:{x}]
//
// There the result can stay as the operands are, cut along y, and be brought to x afterwards, together with the
// reduction (source: shardy.md section 5.3.2).
func (w *task) crossProduct() {
	m := w.m
	if m.Sharding(m.Result(w.op, 0)) == 0 {
		return
	}
	var summed, seen []subaxis.Ref
	conflict := int32(-1)
	var gets []subaxis.Ref
	for f := range int32(len(w.rule.Sizes)) {
		side, ok := w.side(f)
		switch {
		case !ok:
			return
		case side < 0:
			continue
		}
		axes := w.factors.Axes(side, f)
		if !w.factors.Maps(2, f) {
			summed = append(summed, axes...)
			continue
		}
		for _, a := range axes {
			if _, overlaps := subaxis.Overlapping(seen, a); overlaps {
				return
			}
		}
		seen = append(seen, axes...)
		if slices.Equal(axes, w.factors.Axes(2, f)) {
			continue
		}
		if len(axes) == 0 || conflict >= 0 || w.elements(2) > w.operandElements(f) {
			return
		}
		conflict, gets = f, axes
	}
	if conflict < 0 || len(summed) == 0 || !slices.Equal(w.factors.Axes(2, conflict), summed) {
		return
	}
	w.set(2, conflict, gets, nil)
	v, had := m.Result(w.op, 0), m.Sharding(m.Result(w.op, 0))
	w.m.Divert(v, m.BuilderAfter(w.op).Reshard(v, had))
	m.SetSharding(v, m.InternSharding(w.factors.Sharding(2, w.mesh)))
}

// side returns an operand that has a factor, -1 where none has; false where both have it, but differ.
func (w *task) side(f int32) (int, bool) {
	switch l, r := w.factors.Maps(0, f), w.factors.Maps(1, f); {
	case l && r:
		return 0, slices.Equal(w.factors.Axes(0, f), w.factors.Axes(1, f))
	case l:
		return 0, true
	case r:
		return 1, true
	}
	return -1, true
}

// operandElements returns the number of elements of the largest operand that has a factor.
func (w *task) operandElements(f int32) int64 {
	n := int64(0)
	for t := range 2 {
		if w.factors.Maps(t, f) {
			n = max(n, w.elements(t))
		}
	}
	return n
}

// elements returns the number of elements of a tensor.
func (w *task) elements(t int) int64 { return w.m.ValueType(w.tensor(w.op, t)).Elements() }
