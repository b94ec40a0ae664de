package canonical

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// axesAttr returns the attribute with the axes of a collective.
func (r *rewriter) axesAttr(op ir.OpID) ir.Attr {
	name, _ := r.m.Kind(op).CollectiveAxes()
	return r.m.Attr(op, name)
}

// axesPerDim returns the axes of each dimension that a collective is about.
func (r *rewriter) axesPerDim(op ir.OpID) []ir.ShardAxes {
	if a, ok := r.axesAttr(op).(*ir.AxesPerDimAttr); ok {
		return a.Dims
	}
	return nil
}

// axes returns the axes that a collective is about, which has them for no dimension.
func (r *rewriter) axes(op ir.OpID) ir.ShardAxes {
	if a, ok := r.axesAttr(op).(*ir.AxesAttr); ok {
		return a.Axes
	}
	return nil
}

// overNoAxes replaces a collective along no axes by its operand.
func overNoAxes(r *rewriter, op ir.OpID) bool {
	some := len(r.axes(op)) > 0 ||
		slices.ContainsFunc(r.axesPerDim(op), func(axes ir.ShardAxes) bool { return len(axes) > 0 })
	if some {
		return false
	}
	r.replace(op, r.m.Operand(op, 0))
	return true
}

// permuteToSame replaces a permutation to the layout that the operand has by the operand.
func permuteToSame(r *rewriter, op ir.OpID) bool {
	from := r.m.Sharding(r.m.Operand(op, 0))
	if from == 0 || !r.m.Equivalent(from, r.m.Sharding(r.m.Result(op, 0))) {
		return false
	}
	r.replace(op, r.m.Operand(op, 0))
	return true
}

func equalLists(a, b []ir.ShardAxes) bool {
	return slices.EqualFunc(a, b, func(x, y ir.ShardAxes) bool { return slices.Equal(x, y) })
}

// sliceOfGather replaces a slice that takes away what a gather brought by the gather's operand.
func sliceOfGather(r *rewriter, op ir.OpID) bool {
	gather := r.definedBy(r.m.Operand(op, 0), ir.OpSdyAllGather)
	if gather == 0 || !equalLists(r.axesPerDim(op), r.axesPerDim(gather)) {
		return false
	}
	r.replace(op, r.m.Operand(gather, 0))
	return true
}

// reduceOfReplicated cancels an all-reduce of what a replicated_to_unreduced spread.
func reduceOfReplicated(r *rewriter, op ir.OpID) bool {
	spread := r.definedBy(r.m.Operand(op, 0), ir.OpSdyReplicatedToUnreduced)
	if spread == 0 || !slices.Equal(r.axes(op), r.axes(spread)) {
		return false
	}
	r.replace(op, r.m.Operand(spread, 0))
	return true
}

// reduceOfSharded turns an all-reduce of what a sharded_to_unreduced spread into an all-gather.
func reduceOfSharded(r *rewriter, op ir.OpID) bool {
	spread := r.definedBy(r.m.Operand(op, 0), ir.OpSdyShardedToUnreduced)
	if spread == 0 {
		return false
	}
	lists := r.axesPerDim(spread)
	if !slices.Equal(r.axes(op), subaxis.SortMerge(slices.Concat(lists...))) {
		return false
	}
	out := r.m.Sharding(r.m.Result(op, 0))
	axes := &ir.AxesPerDimAttr{Mesh: r.m.ShardingOf(out).Mesh, Dims: lists}
	r.replace(op, r.collective(r.m.BuilderBefore(op), ir.OpSdyAllGather, axes, out, r.m.Operand(spread, 0)))
	return true
}

// sliceOfReduce turns an all-reduce whose users are all equal all-slices into a reduce-scatter, and the rest of the
// slicing into one all-slice. It works where the reduced axes are the first ones of the sliced dimensions.
func sliceOfReduce(r *rewriter, op ir.OpID) bool {
	m := r.m
	reduce := r.definedBy(m.Operand(op, 0), ir.OpSdyAllReduce)
	if reduce == 0 {
		return false
	}
	users, ok := r.equalSlices(op, reduce)
	if !ok {
		return false
	}
	scattered, rest, ok := split(r.axesPerDim(op), r.axes(reduce))
	if !ok {
		return false
	}
	out := m.Sharding(m.Result(op, 0))
	mesh := m.ShardingOf(out).Mesh
	b := m.BuilderBefore(op)
	s := out
	if rest != nil {
		s = r.scatteredSharding(reduce, out, scattered)
	}
	v := r.collective(b, ir.OpSdyReduceScatter, &ir.AxesPerDimAttr{Mesh: mesh, Dims: scattered}, s, m.Operand(reduce, 0))
	if kind := m.Attr(reduce, "reduction_op"); kind != nil {
		scatter := m.DefiningOp(v)
		m.SetAttrs(scatter, m.OpAttrs(scatter).With("reduction_op", kind))
	}
	if rest != nil {
		v = r.collective(b, ir.OpSdyAllSlice, &ir.AxesPerDimAttr{Mesh: mesh, Dims: rest}, out, v)
	}
	for _, user := range users {
		r.replace(user, v)
	}
	r.erase(reduce)
	return true
}

// equalSlices returns the users of an all-reduce if all of them are all-slices in the block of op with op's axes, and op
// is the first of them.
func (r *rewriter) equalSlices(op, reduce ir.OpID) ([]ir.OpID, bool) {
	var users []ir.OpID
	axes := r.axesPerDim(op)
	for use := range r.m.Uses(r.m.Result(reduce, 0)) {
		same := r.m.Kind(use.Op) == ir.OpSdyAllSlice && r.m.OpBlock(use.Op) == r.m.OpBlock(op) &&
			equalLists(axes, r.axesPerDim(use.Op))
		if !same || r.isBefore(use.Op, op) {
			return nil, false
		}
		users = append(users, use.Op)
	}
	return users, true
}

// split takes from the start of each list the axes that are reduced. ok says whether that takes all reduced axes. rest is
// nil where nothing else is left.
func split(lists []ir.ShardAxes, reduced ir.ShardAxes) (scattered, rest []ir.ShardAxes, ok bool) {
	remaining := slices.Clone(reduced)
	left := false
	for _, axes := range lists {
		n := 0
		for n < len(axes) {
			i := slices.Index(remaining, axes[n])
			if i < 0 {
				break
			}
			remaining = slices.Delete(remaining, i, i+1)
			n++
		}
		scattered, rest = append(scattered, axes[:n]), append(rest, axes[n:])
		left = left || n < len(axes)
	}
	if !left {
		rest = nil
	}
	return scattered, rest, len(remaining) == 0
}

// scatteredSharding is the sharding between a reduce-scatter and the slice after it.
func (r *rewriter) scatteredSharding(reduce ir.OpID, out ir.ShardingID, scattered []ir.ShardAxes) ir.ShardingID {
	last := r.m.ShardingOf(out)
	s := ir.Sharding{Mesh: last.Mesh, Replicated: last.Replicated, Unreduced: last.Unreduced, Reduction: last.Reduction,
		Dims: make([]ir.DimSharding, len(last.Dims))}
	operand := r.m.Sharding(r.m.Operand(reduce, 0))
	for d := range s.Dims {
		var axes ir.ShardAxes
		if operand != 0 {
			axes = slices.Clone(r.m.ShardingOf(operand).Dims[d].Axes)
		}
		s.Dims[d] = ir.DimSharding{Axes: subaxis.AppendMerge(axes, scattered[d]...), Closed: true, Priority: ir.NoPriority}
	}
	return r.m.InternSharding(s)
}

// unusedAllToAll removes an all-to-all that nobody uses.
func unusedAllToAll(r *rewriter, op ir.OpID) bool {
	if r.m.HasUses(r.m.Result(op, 0)) {
		return false
	}
	r.erase(op)
	return true
}

// allToAllOfAllToAll joins two all-to-alls about different dimensions into one.
func allToAllOfAllToAll(r *rewriter, op ir.OpID) bool {
	m := r.m
	inner := r.definedBy(m.Operand(op, 0), ir.OpSdyAllToAll)
	if inner == 0 || !m.HasOneUse(m.Result(inner, 0)) {
		return false
	}
	first, ok1 := r.axesAttr(inner).(*ir.AllToAllAttr)
	second, ok2 := r.axesAttr(op).(*ir.AllToAllAttr)
	if !ok1 || !ok2 {
		return false
	}
	for _, a := range first.Moves {
		for _, b := range second.Moves {
			if a.Src == b.Src || a.Src == b.Dst || a.Dst == b.Src || a.Dst == b.Dst {
				return false
			}
		}
	}
	moves := slices.Concat(first.Moves, second.Moves)
	slices.SortFunc(moves, func(a, b ir.AllToAllMove) int { return int(a.Src - b.Src) })
	joined := &ir.AllToAllAttr{Mesh: second.Mesh, Moves: moves}
	r.replace(op, r.collective(m.BuilderBefore(op), ir.OpSdyAllToAll, joined, m.Sharding(m.Result(op, 0)), m.Operand(inner, 0)))
	return true
}
