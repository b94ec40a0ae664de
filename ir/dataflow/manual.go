package dataflow

import (
	"slices"
	"sort"

	"autoshard/ir"
	"autoshard/subaxis"
)

// ManualAxes returns the axes along which a manual computation runs per device, nil for other ops.
func ManualAxes(m *ir.Module, op ir.OpID) []subaxis.Ref {
	if op == 0 || m.Kind(op) != ir.OpSdyManualComputation {
		return nil
	}
	if a, ok := m.Attr(op, "manual_axes").(*ir.AxesAttr); ok && a.Axes != nil {
		return a.Axes
	}
	return []subaxis.Ref{}
}

// isManual says whether an axis or a part of it is manual.
func isManual(manual []subaxis.Ref, r subaxis.Ref) bool {
	return slices.ContainsFunc(manual, func(a subaxis.Ref) bool { return a.Axis == r.Axis })
}

// dropManual returns the view of a sharding from inside a manual computation: without the leading manual axes of
// each dimension (source: shardy.md section 1.7).
func dropManual(m *ir.Module, id ir.ShardingID, manual []subaxis.Ref) ir.ShardingID {
	if id == 0 || len(manual) == 0 {
		return id
	}
	s := m.ShardingOf(id).Clone()
	for d := range s.Dims {
		s.Dims[d].Axes = s.Dims[d].Axes[manualPrefix(manual, s.Dims[d].Axes):]
	}
	keep := func(axes []subaxis.Ref) []subaxis.Ref {
		return slices.DeleteFunc(axes, func(r subaxis.Ref) bool { return isManual(manual, r) })
	}
	s.Replicated, s.Unreduced = keep(s.Replicated), keep(s.Unreduced)
	return m.InternSharding(s)
}

// manualPrefix returns how many leading axes are manual. Where manual ones stand after others, which no valid program has
// but propagation may come to, the search decides as Shardy's does.
func manualPrefix(manual, axes []subaxis.Ref) int {
	return sort.Search(len(axes), func(i int) bool { return !isManual(manual, axes[i]) })
}

// addManual returns the view from outside: the manual axes of the outer sharding before those of the inner one.
// Replicated and unreduced axes are the outer sharding's, even where no axis is manual; not so for other ops, whose manual
// axes are nil.
func addManual(m *ir.Module, id, outerID ir.ShardingID, manual []subaxis.Ref) ir.ShardingID {
	if id == 0 || outerID == 0 || manual == nil {
		return id
	}
	outer := m.ShardingOf(outerID)
	s := m.ShardingOf(id).Clone()
	for d := range s.Dims {
		prefix := outer.Dims[d].Axes[:manualPrefix(manual, outer.Dims[d].Axes)]
		s.Dims[d].Axes = append(slices.Clone(prefix), s.Dims[d].Axes...)
	}
	s.Replicated, s.Unreduced, s.Reduction = outer.Replicated, outer.Unreduced, ir.ReduceSum
	return m.InternSharding(s)
}

// OwnerSharding returns the sharding of the owner of an edge as its edge sees it: a block argument of a manual
// computation in the view from inside.
func OwnerSharding(m *ir.Module, owner ir.ValueID) ir.ShardingID {
	if m.DefiningOp(owner) != 0 {
		return m.Sharding(owner)
	}
	return dropManual(m, m.Sharding(owner), ManualAxes(m, m.BlockOp(m.ArgBlock(owner))))
}

// SetOwnerSharding is the inverse of ownerSharding.
func SetOwnerSharding(m *ir.Module, owner ir.ValueID, id ir.ShardingID) {
	if m.DefiningOp(owner) == 0 {
		id = addManual(m, id, m.Sharding(owner), ManualAxes(m, m.BlockOp(m.ArgBlock(owner))))
	}
	SetSharding(m, owner, id)
}

// View translates between the sharding that the edge of a manual computation holds and the one its other
// side sees: outside for a block argument, inside for a result. On edges of other ops both are the same.
type View struct {
	owner  ir.ValueID
	manual []subaxis.Ref
	isArg  bool
}

// ViewOf returns the view of the edge of an owner.
func ViewOf(m *ir.Module, owner ir.ValueID) View {
	if op := m.DefiningOp(owner); op != 0 {
		return View{owner, ManualAxes(m, op), false}
	}
	return View{owner, ManualAxes(m, m.BlockOp(m.ArgBlock(owner))), true}
}

// Translates says whether the two sides of the edge can differ.
func (v *View) Translates() bool { return v.manual != nil }

// BeforePropagation returns the sharding that the sources of the edge compare with.
func (v *View) BeforePropagation(m *ir.Module, id ir.ShardingID) ir.ShardingID {
	if v.isArg {
		return addManual(m, id, m.Sharding(v.owner), v.manual)
	}
	return dropManual(m, id, v.manual)
}

// AfterPropagation is the inverse of BeforePropagation.
func (v *View) AfterPropagation(m *ir.Module, id ir.ShardingID) ir.ShardingID {
	if v.isArg {
		return dropManual(m, id, v.manual)
	}
	return addManual(m, id, m.Sharding(v.owner), v.manual)
}
