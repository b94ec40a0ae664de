package reshard

import (
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/subaxis"
)

// sharding returns the sharding of a value, 0 if it has none.
func (r *inserter) sharding(v ir.ValueID) ir.ShardingID { return dataflow.ShardingOf(r.m, v) }

// throughBarriers returns the sharding of a value, or of what a barrier for propagation hides.
func throughBarriers(m *ir.Module, v ir.ValueID) ir.ShardingID {
	return dataflow.ShardingOf(m, dataflow.BehindBarriers(m, v))
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

// replicatedLike returns the closed sharding without axes on the mesh of another one.
func (r *inserter) replicatedLike(id ir.ShardingID) ir.ShardingID {
	s := r.m.ShardingOf(id)
	return r.m.Replicated(s.Mesh, len(s.Dims), true)
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
