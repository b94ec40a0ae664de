package propagate

import (
	"slices"
	"sort"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/subaxis"
)

// manualAxes returns the axes along which a manual computation runs per device, nil for other ops.
func manualAxes(m *ir.Module, op ir.OpID) []subaxis.Ref {
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

// ownerSharding returns the sharding of the owner of an edge as its edge sees it: a block argument of a manual
// computation in the view from inside.
func ownerSharding(m *ir.Module, owner ir.ValueID) ir.ShardingID {
	if m.DefiningOp(owner) != 0 {
		return m.Sharding(owner)
	}
	return dropManual(m, m.Sharding(owner), manualAxes(m, m.BlockOp(m.ArgBlock(owner))))
}

// setOwnerSharding is the inverse of ownerSharding.
func setOwnerSharding(m *ir.Module, owner ir.ValueID, id ir.ShardingID) {
	if m.DefiningOp(owner) == 0 {
		id = addManual(m, id, m.Sharding(owner), manualAxes(m, m.BlockOp(m.ArgBlock(owner))))
	}
	setSharding(m, owner, id)
}

// edgeView translates between the sharding that the edge of a manual computation holds and the one its other
// side sees: outside for a block argument, inside for a result.
type edgeView struct {
	owner  ir.ValueID
	manual []subaxis.Ref
	isArg  bool
}

func viewOf(m *ir.Module, owner ir.ValueID) edgeView {
	if op := m.DefiningOp(owner); op != 0 {
		return edgeView{owner, manualAxes(m, op), false}
	}
	return edgeView{owner, manualAxes(m, m.BlockOp(m.ArgBlock(owner))), true}
}

// beforePropagation returns the sharding that the sources of the edge compare with.
func (v *edgeView) beforePropagation(m *ir.Module, id ir.ShardingID) ir.ShardingID {
	if v.isArg {
		return addManual(m, id, m.Sharding(v.owner), v.manual)
	}
	return dropManual(m, id, v.manual)
}

// afterPropagation is the inverse of beforePropagation.
func (v *edgeView) afterPropagation(m *ir.Module, id ir.ShardingID) ir.ShardingID {
	if v.isArg {
		return dropManual(m, id, v.manual)
	}
	return addManual(m, id, m.Sharding(v.owner), v.manual)
}

// CleanManualAxes sorts the axes of manual computations in mesh order and adds those that an operand or result
// does not use to its replicated axes, so that everything is said explicitly. It fails where manual axes are
// given without any sharding. Shardy: -sdy-manual-axes-cleanup.
func CleanManualAxes(m *ir.Module) error {
	if !m.MayHave(ir.OpSdyManualComputation) {
		return nil
	}
	var failed error
	m.Walk(m.Body(), func(op ir.OpID) {
		if manual := manualAxes(m, op); len(manual) > 0 && failed == nil {
			failed = cleanManual(m, op, manual)
		}
	})
	return failed
}

func cleanManual(m *ir.Module, op ir.OpID, manual []subaxis.Ref) error {
	body := m.RegionBlock(op, 0)
	values := owners(m, op)
	mesh := commonMesh(m, values)
	if mesh == 0 {
		if m.FirstOp(body) == m.LastOp(body) {
			return nil
		}
		return diag.Invalid(diag.BadSharding, opPosition(m, op), "`sdy.manual_computation` has manual axes but no shardings")
	}
	manual = slices.Clone(manual)
	slices.SortFunc(manual, subaxis.Compare)
	m.SetAttrs(op, m.OpAttrs(op).With("manual_axes", &ir.AxesAttr{Mesh: mesh, Axes: manual}))
	for _, v := range values {
		if id := m.Sharding(v); id != 0 && m.ValueType(v).Kind == ir.TensorKind {
			addReplicated(m, v, mesh, manual)
		}
	}
	return nil
}

// addReplicated adds the manual axes that a sharding leaves out to its replicated axes.
func addReplicated(m *ir.Module, v ir.ValueID, mesh ir.MeshID, manual []subaxis.Ref) {
	s := m.ShardingOf(m.Sharding(v)).Clone()
	var used []subaxis.Ref
	for _, d := range s.Dims {
		used = append(used, d.Axes...)
	}
	used = append(append(used, s.Replicated...), s.Unreduced...)
	missing := subaxis.Difference(manual, used)
	if len(missing) == 0 {
		return
	}
	s.Mesh = mesh
	s.Replicated = subaxis.SortMerge(append(s.Replicated, missing...))
	m.SetSharding(v, m.InternSharding(s))
}

// commonMesh returns the first mesh of the values' shardings, preferring one that is not empty; 0 if there is none.
func commonMesh(m *ir.Module, values []ir.ValueID) ir.MeshID {
	var mesh ir.MeshID
	for _, v := range values {
		id := m.Sharding(v)
		if id == 0 {
			continue
		}
		if s := m.ShardingOf(id); mesh == 0 || m.Mesh(mesh).IsEmpty() {
			mesh = s.Mesh
		}
	}
	return mesh
}

func opPosition(m *ir.Module, op ir.OpID) diag.Position {
	l := m.FileLoc(m.OpLoc(op))
	return diag.Position{File: l.File, Line: l.Line, Col: l.Col}
}
