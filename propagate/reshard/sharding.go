package reshard

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// sharding returns the sharding of a value, 0 if it has none.
func (r *inserter) sharding(v ir.ValueID) ir.ShardingID { return dataflow.ShardingOf(r.m, v) }

// throughBarriers returns the sharding of a value, or of what a barrier for propagation hides.
func throughBarriers(m *ir.Module, v ir.ValueID) ir.ShardingID {
	for op := m.DefiningOp(v); op != 0 && m.Kind(op) == ir.OpSdyPropagationBarrier; op = m.DefiningOp(v) {
		v = m.Operand(op, 0)
	}
	return dataflow.ShardingOf(m, v)
}

// isSingle says whether a sharding puts a tensor on a single device.
func (r *inserter) isSingle(id ir.ShardingID) bool {
	return id != 0 && r.m.Mesh(r.m.ShardingOf(id).Mesh).IsMaximal()
}

// unreduced returns the unreduced axes of a sharding.
func (r *inserter) unreduced(id ir.ShardingID) []subaxis.Ref {
	if id == 0 {
		return nil
	}
	return r.m.ShardingOf(id).Unreduced
}

// isReplicated says whether no dimension is sharded; no sharding counts as that. Unreduced axes do not matter.
func (r *inserter) isReplicated(id ir.ShardingID) bool {
	return id == 0 || r.m.ShardingOf(id).IsReplicated()
}

// equivalent says whether two shardings lay a tensor out alike; none counts as replicated
// (source: shardy.md section 1.4).
func (r *inserter) equivalent(a, b ir.ShardingID) bool {
	empty := func(id ir.ShardingID) bool { return r.isReplicated(id) && len(r.unreduced(id)) == 0 }
	if a == b || empty(a) || empty(b) {
		return a == b || empty(a) && empty(b)
	}
	if a == 0 || b == 0 {
		return false
	}
	s, t := r.m.ShardingOf(a), r.m.ShardingOf(b)
	return s.Mesh == t.Mesh && slices.Equal(s.Unreduced, t.Unreduced) &&
		slices.EqualFunc(s.Dims, t.Dims, func(x, y ir.DimSharding) bool { return slices.Equal(x.Axes, y.Axes) })
}

// replicatedLike returns the closed sharding without axes on the mesh of another one.
func (r *inserter) replicatedLike(id ir.ShardingID) ir.ShardingID {
	s := r.m.ShardingOf(id)
	return r.m.Replicated(s.Mesh, len(s.Dims), true)
}

// reshard inserts an sdy.reshard.
func (r *inserter) reshard(b *ir.Builder, v ir.ValueID, to ir.ShardingID) ir.ValueID {
	return r.insert(b, ir.OpSdyReshard, nil, v, to)
}

// insert inserts an op with one operand whose result has the operand's type.
func (r *inserter) insert(b *ir.Builder, kind ir.Kind, attrs ir.Attrs, v ir.ValueID, to ir.ShardingID) ir.ValueID {
	out := b.Op1(kind, r.m.Type(v), attrs, v)
	r.m.SetSharding(out, to)
	return out
}

// allReduce inserts an sdy.all_reduce along axes.
func (r *inserter) allReduce(b *ir.Builder, v ir.ValueID, axes []subaxis.Ref, kind ir.Reduction, to ir.ShardingID) ir.ValueID {
	attrs := ir.MakeAttrs(ir.NamedAttr{Name: "reduction_axes", Value: &ir.AxesAttr{Mesh: r.m.ShardingOf(to).Mesh, Axes: axes}})
	if kind != ir.ReduceSum {
		attrs = attrs.With("reduction_op", ir.EnumAttr{Dialect: "sdy", Enum: "reduction_op", Value: kind.String()})
	}
	return r.insert(b, ir.OpSdyAllReduce, attrs, v, to)
}

// redirect lets all uses of a value go through another one that is made of it.
func (r *inserter) redirect(from, to ir.ValueID) {
	user := r.m.DefiningOp(to)
	r.m.ReplaceUsesIf(from, to, func(u ir.Use) bool { return u.Op != user })
}

// overlap says whether two lists have a part of an axis in common.
func overlap(a, b []subaxis.Ref) bool {
	return slices.ContainsFunc(a, func(r subaxis.Ref) bool {
		_, ok := subaxis.Overlapping(b, r)
		return ok
	})
}
