package propagate

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
)

// ApplyConstraints copies closed shardings from sharding constraints and manual computations to the values that
// they constrain, so that propagation starts there too. Shardy: -sdy-apply-sharding-constraints.
func ApplyConstraints(m *ir.Module) { ApplyConstraintsWith(m, Debug{}) }

// ApplyConstraintsWith is ApplyConstraints with debug information about what is copied.
func ApplyConstraintsWith(m *ir.Module, d Debug) {
	if !m.MayHave(ir.OpSdyShardingConstraint) && !m.MayHave(ir.OpSdyManualComputation) {
		return
	}
	o := newObserver(m, d)
	defer o.save()
	walkPost(m, m.Body(), func(op ir.OpID) {
		switch m.Kind(op) {
		case ir.OpSdyShardingConstraint:
			redirectChain(m, op)
			applyTo(m, m.Operand(op, 0), m.Sharding(m.Result(op, 0)), op, o)
		case ir.OpSdyManualComputation:
			for i, arg := range m.BlockArgs(m.RegionBlock(op, 0)) {
				applyTo(m, m.Operand(op, i), m.Sharding(arg), op, o)
			}
		}
	})
}

// ApplyUnreadConstraints makes constraints that nobody reads count, for programs that lose what nobody reads, as ApplyConstraints does: a
// value without a sharding gets that of the constraint on it, unless another constraint wants something else, and what flows through a loop
// or a branch is read through the constraint. It returns the constraints that decide nothing all the same.
func ApplyUnreadConstraints(m *ir.Module) (idle []ir.OpID) {
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyShardingConstraint) {
		v, id := m.Operand(op, 0), m.Sharding(m.Result(op, 0))
		switch {
		case isRead(m, m.Result(op, 0)):
		case disputed(m, v, id) || isSharded(m, v) && dataflow.ShardingOf(m, v) != id:
			idle = append(idle, op)
		case flows(m, v):
			moveAfter(m, op, v)
			m.TurnUses(v, m.Result(op, 0), func(u ir.Use) bool { return u.Op != op })
		default:
			m.SetSharding(v, id)
		}
	}
	return idle
}

// isRead says whether anything but constraints that nobody reads reads a value.
func isRead(m *ir.Module, v ir.ValueID) bool {
	for use := range m.Uses(v) {
		if m.Kind(use.Op) != ir.OpSdyShardingConstraint || isRead(m, m.Result(use.Op, 0)) {
			return true
		}
	}
	return false
}

// flows says whether a value is the result of a loop, a branch or the like, or an argument inside one.
func flows(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	if op == 0 {
		op = m.BlockOp(m.ArgBlock(v))
	}
	return dataflow.Has(m.Kind(op))
}

// redirectChain handles a chain of constraints x -> c1 -> c2 ... -> cn in which only the last has other users: the
// uses of x after cn become uses of cn, unless the main function returns it.
func redirectChain(m *ir.Module, head ir.OpID) {
	x := m.Operand(head, 0)
	if definedByConstraint(m, x) || isSharded(m, x) || constrainedBeside(m, x, head) {
		return
	}
	tail := head
	for next := onlyConstraintUser(m, tail); next != 0; next = onlyConstraintUser(m, tail) {
		tail = next
	}
	if tail == head || constrainedBeside(m, m.Result(tail, 0), 0) {
		return
	}
	after := map[ir.OpID]bool{}
	for op := m.NextOp(tail); op != 0; op = m.NextOp(op) {
		after[op] = true
	}
	main, _ := m.Main()
	m.TurnUses(x, m.Result(tail, 0), func(u ir.Use) bool {
		returned := m.Kind(u.Op) == ir.OpReturn && m.FuncOf(m.ParentOp(u.Op)) == main
		return u.Op != head && !returned && after[u.Op]
	})
}

func definedByConstraint(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	return op != 0 && m.Kind(op) == ir.OpSdyShardingConstraint
}

// constrainedBeside says whether a constraint other than one or a manual computation uses a value.
func constrainedBeside(m *ir.Module, v ir.ValueID, but ir.OpID) bool {
	for use := range m.Uses(v) {
		kind := m.Kind(use.Op)
		if use.Op != but && (kind == ir.OpSdyShardingConstraint || kind == ir.OpSdyManualComputation) {
			return true
		}
	}
	return false
}

// onlyConstraintUser returns the constraint that is the only user of another one, 0 if there is none.
func onlyConstraintUser(m *ir.Module, op ir.OpID) ir.OpID {
	if user := m.OnlyReader(m.Result(op, 0)); user != 0 && m.Kind(user) == ir.OpSdyShardingConstraint {
		return user
	}
	return 0
}

// isSharded says whether a value has a sharding that says anything: a fully open one counts as none, except that of
// a scalar, which is closed as well, unless it is one of several results: such are open because another one is sharded.
func isSharded(m *ir.Module, v ir.ValueID) bool {
	home := dataflow.Home(m, v)
	if home == 0 {
		return false
	}
	id := dataflow.OwnerSharding(m, home)
	if id == 0 {
		return false
	}
	s := m.ShardingOf(id)
	op := m.DefiningOp(home)
	return len(s.Dims) == 0 && (op == 0 || m.NumResults(op) == 1) || !isOpen(s)
}

// isOpen says whether a sharding says nothing: every dimension may take any axes.
func isOpen(s *ir.Sharding) bool {
	return len(s.Replicated) == 0 && len(s.Unreduced) == 0 &&
		!slices.ContainsFunc(s.Dims, func(d ir.DimSharding) bool { return d.Closed || len(d.Axes) > 0 || d.Priority != ir.NoPriority })
}

// applyTo gives a value the sharding of its user, if the value has none, the sharding is closed everywhere and no
// other constraint says something else. Values on data-flow edges keep their freedom: there the constraint moves
// up to the value, and the other uses go through it.
func applyTo(m *ir.Module, v ir.ValueID, id ir.ShardingID, user ir.OpID, o *observer) {
	home := dataflow.Home(m, v)
	if home == 0 || id == 0 || isSharded(m, v) || !isClosed(m.ShardingOf(id)) || disputed(m, v, id) {
		return
	}
	if !isEdge(m, home) {
		dataflow.SetOwnerSharding(m, home, id)
		if m.Kind(user) == ir.OpSdyShardingConstraint {
			attachRule(m, user, rule.Of(m, user, false))
			o.observeCopy(user, home)
		}
		return
	}
	constraint := user
	if m.Kind(user) == ir.OpSdyShardingConstraint {
		moveAfter(m, user, v)
	} else {
		constraint = constrainAfter(m, v, id)
	}
	result := m.Result(constraint, 0)
	m.TurnUses(v, result, func(u ir.Use) bool { return u.Op != constraint })
	if s := m.ShardingOf(id); len(s.Unreduced) > 0 {
		open := ir.Sharding{Mesh: s.Mesh, Dims: make([]ir.DimSharding, len(s.Dims)), Unreduced: s.Unreduced, Reduction: s.Reduction}
		for d := range open.Dims {
			open.Dims[d].Priority = ir.NoPriority
		}
		dataflow.SetOwnerSharding(m, home, m.InternSharding(open))
	}
}

func isEdge(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	return op != 0 && (m.Kind(op) == ir.OpSdyDataFlowEdge || m.Kind(op) == ir.OpSdyFuncDataFlowEdge)
}

func isClosed(s *ir.Sharding) bool {
	return !slices.ContainsFunc(s.Dims, func(d ir.DimSharding) bool { return !d.Closed })
}

// disputed says whether a constraint or manual computation wants another sharding of a value.
func disputed(m *ir.Module, v ir.ValueID, id ir.ShardingID) bool {
	for use := range m.Uses(v) {
		other := id
		switch m.Kind(use.Op) {
		case ir.OpSdyShardingConstraint:
			other = m.Sharding(m.Result(use.Op, 0))
		case ir.OpSdyManualComputation:
			other = m.Sharding(m.BlockArgs(m.RegionBlock(use.Op, 0))[use.Index])
		}
		if other != id {
			return true
		}
	}
	return false
}

// moveAfter moves a constraint to the place right after its operand comes into being.
func moveAfter(m *ir.Module, op ir.OpID, v ir.ValueID) {
	next := ir.OpID(0)
	if def := m.DefiningOp(v); def != 0 {
		next = m.NextOp(def)
	} else {
		next = m.FirstOp(m.ArgBlock(v))
	}
	if next != op {
		m.MoveBefore(op, next)
	}
}

// constrainAfter inserts a constraint right after a value comes into being.
func constrainAfter(m *ir.Module, v ir.ValueID, id ir.ShardingID) ir.OpID {
	var b *ir.Builder
	if def := m.DefiningOp(v); def != 0 {
		b = m.BuilderAfter(def)
	} else {
		b = blockStart(m, m.ArgBlock(v))
	}
	op := b.Op(ir.OpSdyShardingConstraint, []ir.TypeID{m.Type(v)}, nil, v)
	m.SetSharding(m.Result(op, 0), id)
	return op
}

// ConstraintsToReshards turns every sharding_constraint into a reshard. Shardy: -sdy-sharding-constraint-to-reshard.
func ConstraintsToReshards(m *ir.Module) {
	for _, op := range m.OpsOf(m.Body(), ir.OpSdyShardingConstraint) {
		m.SetKind(op, ir.OpSdyReshard)
		m.SetOperand(op, 0, m.Operand(op, 0)) // makes it the latest use of the operand, as that of a new op would be
	}
}
