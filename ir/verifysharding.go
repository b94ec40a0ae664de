package ir

import (
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/subaxis"
)

// shardings checks the shardings of the results of an op.
func (v *verifier) shardings(op OpID) error {
	m := v.m
	if a := m.Attr(op, "sdy.sharding"); a != nil {
		if err := v.leftoverSharding(op, a); err != nil {
			return err
		}
	}
	n := m.NumResults(op)
	for i, r := range m.Results(op) {
		s := m.Sharding(r)
		if s == 0 {
			continue
		}
		prefix := "result - "
		switch k := m.Kind(op); {
		case k == OpSdyNamedComputation:
			prefix = "out_shardings - "
			if n > 1 {
				prefix = fmt.Sprintf("out_shardings %d - ", i)
			}
		case isShardyOp(k) && k != OpSdyManualComputation && k != OpSdyConstant:
			prefix = ""
		case n > 1:
			prefix = fmt.Sprintf("result %d - ", i)
		}
		if err := v.valueSharding(prefix, s, m.Type(r)); err != nil {
			return err
		}
	}
	return nil
}

// isShardyOp says whether an op has its result's sharding in its own syntax.
func isShardyOp(k Kind) bool { return k >= OpSdyAllGather && k <= OpSdyShardingGroup }

// leftoverSharding checks a sharding attribute that does not belong to the results one by one.
func (v *verifier) leftoverSharding(op OpID, a Attr) error {
	list, ok := a.(ShardingsAttr)
	n := v.m.NumResults(op)
	switch {
	case !ok:
		return badSharding(diag.BadSharding, "should have a sharding attribute of type TensorShardingPerValueAttr")
	case n == 0 && len(list) == 1:
		return v.valueSharding("result - ", list[0], 0)
	case len(list) != n:
		return badSharding(diag.BadSharding, "result shardings don't match number of values: %d shardings vs %d values", len(list), n)
	}
	return nil
}

// valueSharding checks a sharding of a value (specification: shardy.md section 1.4). prefix begins the message; the type
// is 0 for the one sharding of an op without results.
func (v *verifier) valueSharding(prefix string, s ShardingID, typ TypeID) error {
	if s == 0 {
		return nil
	}
	err := v.checkSharding(v.m.ShardingOf(s), s, typ)
	if e, ok := err.(*opError); ok {
		e.text = prefix + e.text
	}
	return err
}

func (v *verifier) checkSharding(s *Sharding, id ShardingID, typ TypeID) error {
	m := v.m
	mesh := &m.Mesh(s.Mesh).Mesh
	plain := len(s.Dims) == 0 && len(s.Replicated) == 0 && len(s.Unreduced) == 0
	if mesh.IsMaximal() || typ == 0 && s.IsReplicated() {
		if !plain {
			return badSharding(diag.BadShardingRank,
				"a maximal sharding can only have rank 0 and no replicated or unreduced axes. sharding: #sdy.sharding%s", m.FormatSharding(id))
		}
		return nil
	}
	if typ == 0 {
		return badSharding(diag.BadSharding, "an op without results can only have a maximal or a fully replicated sharding")
	}
	t := m.TypeOf(typ)
	if t.Kind == TupleKind {
		if len(t.Elems) != 1 {
			return badSharding(diag.BadSharding, "ops can only have a sharding for a tuple of size 1: '%s'", m.FormatType(typ))
		}
		t = m.TypeOf(t.Elems[0])
	}
	switch {
	case t.Kind != TensorKind:
		if !plain {
			return badSharding(diag.BadShardingRank,
				"non-shaped tensors can only have a sharding with rank 0 and no replicated or unreduced axes. type: '%s', sharding: #sdy.sharding%s",
				m.FormatType(typ), m.FormatSharding(id))
		}
		return nil
	case t.Unranked:
		return badSharding(diag.BadSharding, "only ranked tensors can have a sharding. type: '%s'", m.FormatType(typ))
	case len(s.Dims) != t.Rank():
		return badSharding(diag.BadShardingRank, "sharding doesn't match tensor rank: %d != %d", len(s.Dims), t.Rank())
	}
	if err := v.sound(s, id, mesh); err != nil {
		return err
	}
	return v.freeOfManual(s, mesh)
}

// sound checks a sharding without its value; each one once.
func (v *verifier) sound(s *Sharding, id ShardingID, mesh *subaxis.Mesh) error {
	for len(v.checked) < v.m.NumShardings() {
		v.checked = append(v.checked, 0)
	}
	if v.checked[id] != 0 {
		return nil
	}
	if err := s.check(mesh); err != nil {
		return err
	}
	v.checked[id] = id
	return nil
}

// CheckSharding returns what is wrong with a sharding over a mesh, apart from any value, as Shardy's verifier says it; nil if nothing is.
// The position is that of the text. Errors are of class diag.ErrInvalid.
func CheckSharding(s *Sharding, mesh *subaxis.Mesh, pos diag.Position) error {
	if e, ok := s.check(mesh).(*opError); ok {
		return diag.Invalid(e.code, pos, "%s", e.text)
	}
	return nil
}

func (s *Sharding) check(mesh *subaxis.Mesh) error {
	used := axisUse{mesh: mesh}
	for i, d := range s.Dims {
		if d.Priority < NoPriority {
			return badSharding(diag.BadSharding, "dim %d has a negative priority: %d", i, d.Priority)
		}
		if d.Closed && len(d.Axes) == 0 && d.Priority != NoPriority {
			return badSharding(diag.BadSharding, "dim %d is empty and closed but has a priority", i)
		}
		if err := used.add(d.Axes); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		name string
		axes ShardAxes
	}{{"replicated", s.Replicated}, {"unreduced", s.Unreduced}} {
		if !slices.IsSortedFunc(list.axes, subaxis.Compare) {
			return badSharding(diag.BadSharding, "%s axes are not ordered w.r.t. mesh", list.name)
		}
		if err := used.add(list.axes); err != nil {
			return err
		}
	}
	return used.parts()
}

// axisUse collects the axes of several lists that may not share any.
type axisUse struct {
	mesh *subaxis.Mesh
	refs []subaxis.Ref
}

// add checks a list by itself and against those before it.
func (u *axisUse) add(list ShardAxes) error {
	for i, r := range list {
		if int(r.Axis) < 0 || int(r.Axis) >= len(u.mesh.Axes) {
			return badSharding(diag.UnknownAxis, "unknown axis: number %d of a mesh with %d axes", r.Axis, len(u.mesh.Axes))
		}
		if slices.Contains(u.refs, r) {
			return badSharding(diag.DuplicateAxis, "duplicate axis ref: %s", u.mesh.Format(r))
		}
		if i > 0 && list[i-1].CanMerge(r) {
			return badSharding(diag.BadSubAxis, "two consecutive sub-axes can be merged: %s, %s", u.mesh.Format(list[i-1]), u.mesh.Format(r))
		}
		u.refs = append(u.refs, r)
	}
	return nil
}

// parts checks the sub-axes: each divides its axis, and no two overlap.
func (u *axisUse) parts() error {
	sorted := slices.Clone(u.refs)
	slices.SortFunc(sorted, subaxis.Compare)
	for i, r := range sorted {
		axis := u.mesh.Axes[r.Axis]
		if !u.mesh.IsFull(r) {
			if r.Pre < 1 || r.Size <= 1 || axis.Size%r.Next() != 0 {
				return badSharding(diag.BadSubAxis, "sub-axis %s does not divide the axis of size %d", u.mesh.Format(r), axis.Size)
			}
		}
		if i == 0 || sorted[i-1].Axis != r.Axis {
			continue
		}
		previous := sorted[i-1]
		if u.mesh.IsFull(previous) || u.mesh.IsFull(r) || u.fullInUse(r.Axis) {
			return badSharding(diag.DuplicateAxis, "both sub-axis and full-axis are used for axis name: %q", axis.Name)
		}
		if previous.Next() > int64(r.Pre) {
			return badSharding(diag.DuplicateAxis, "overlapping sub-axes: %s, %s", u.mesh.Format(previous), u.mesh.Format(r))
		}
	}
	return nil
}

func (u *axisUse) fullInUse(axis int32) bool {
	return slices.ContainsFunc(u.refs, func(r subaxis.Ref) bool { return r.Axis == axis && u.mesh.IsFull(r) })
}

// AllAxes returns all axes that a sharding mentions.
func (s *Sharding) AllAxes() []subaxis.Ref {
	return slices.Concat(s.dimAxes(), s.Replicated, s.Unreduced)
}

// manualScope is a manual computation around the op at hand.
type manualScope struct {
	op   OpID
	axes map[string]bool
}

// freeOfManual checks that a sharding leaves the manual axes of the computations around it alone.
func (v *verifier) freeOfManual(s *Sharding, mesh *subaxis.Mesh) error {
	if len(v.manual) == 0 {
		return nil
	}
	for _, r := range s.AllAxes() {
		if err := v.freeAxis(mesh.Axes[r.Axis].Name); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) freeAxis(name string) error {
	for _, scope := range v.manual {
		if scope.axes[name] {
			return badSharding(diag.DuplicateAxis, "operates on axis %q which is already bound by a parent sdy.manual_computation op", name)
		}
	}
	return nil
}

// ruleOf checks the sharding rule that a user gave to an op.
func (v *verifier) ruleOf(op OpID) error {
	a := v.m.Attr(op, "sdy.sharding_rule")
	if a == nil {
		return nil
	}
	r, ok := a.(*RuleAttr)
	if !ok {
		return badAttr("should have a sharding rule attribute of type OpShardingRuleAttr for attr named 'sdy.sharding_rule'")
	}
	return CheckRule(v.m, op, r.Rule)
}
