package shardmap

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// OverAxes turns what the user wrote for numbered devices, in a block and in the blocks inside it, into ops over axes of a
// mesh of the module. It is the inverse of [LowerAxes]:
//
//	%1 = stablehlo.all_reduce %0 in the groups [[0, 1], [2, 3]] with the region add    over x=2, y=2
//	%2 = partition_id / 1 % 2
//
// becomes
//
//	%1 = shard_map.psum {"y"} %0
//	%2 = shard_map.axis_index {"y"}
//
// Axes are whole unless the user named parts. Groups that run along no axes are listed in the attribute `groups`. What has no
// such form stays as it is: a reduction other than a sum, maximum or minimum, groups that leave out devices or differ in size, a
// permutation of unknown devices. Moved, if it is not nil, hears of each value that another one takes the place of.
func OverAxes(m *ir.Module, b ir.BlockID, mesh ir.MeshID, moved func(from, to ir.ValueID)) {
	if !slices.ContainsFunc(devicewise, m.MayHave) {
		return
	}
	if moved == nil {
		moved = func(ir.ValueID, ir.ValueID) {}
	}
	r := &groupReader{m: m, id: mesh, mesh: &m.Mesh(mesh).Mesh, moved: moved}
	numbers := &deviceNumbers{m: m, mesh: r.mesh, tables: map[ir.ValueID][]int64{}}
	var collectives []ir.OpID
	m.Walk(b, func(op ir.OpID) {
		if slices.Contains(devicewise, m.Kind(op)) {
			collectives = append(collectives, op)
		}
		numbers.see(op)
	})
	for _, op := range collectives {
		r.read(op)
	}
	for _, n := range numbers.found {
		r.number(n)
	}
}

// devicewise are the ops that name devices by their numbers.
var devicewise = []ir.Kind{ir.OpAllGather, ir.OpAllReduce, ir.OpCrossReplicaSum, ir.OpReduceScatter, ir.OpAllToAll,
	ir.OpCollectivePermute, ir.OpCollectiveBroadcast, ir.OpPartitionId, ir.OpReplicaId}

// groupReader turns ops over device groups into ops over axes.
type groupReader struct {
	m     *ir.Module
	id    ir.MeshID
	mesh  *subaxis.Mesh
	moved func(from, to ir.ValueID)
}

// read turns one op, if it has a form over axes.
func (r *groupReader) read(op ir.OpID) {
	m := r.m
	switch m.Kind(op) {
	case ir.OpPartitionId:
	case ir.OpReplicaId:
		r.put(op, m.BuilderBefore(op).Constant(m.Zeros(m.Type(m.Result(op, 0)))))
	case ir.OpCollectivePermute:
		r.permute(op)
	default:
		if groups, err := GroupsOf(m, op, r.mesh); err == nil {
			r.grouped(op, groups)
		}
	}
}

// grouped turns a collective among groups. Among groups of one device it is the identity.
func (r *groupReader) grouped(op ir.OpID, groups [][]int64) {
	m := r.m
	axes, named := namedAxes(m, op, r.mesh, groups)
	attrs := r.along(axes)
	if int64(len(groups)) == r.mesh.Devices() && !named {
		r.replace(op, func(_ *ir.Builder, _ ir.TypeID, x ir.ValueID) ir.ValueID { return x })
		return
	}
	if m.Kind(op) == ir.OpCollectiveBroadcast {
		r.broadcast(op, groups)
		return
	}
	if !named {
		var even bool
		if attrs, even = r.over(groups); !even {
			return
		}
	}
	switch m.Kind(op) {
	case ir.OpAllGather:
		r.become(op, ir.OpShardMapAllGather, attrs.With("dim", m.Attr(op, "all_gather_dim")))
	case ir.OpAllToAll:
		r.become(op, ir.OpShardMapAllToAll, attrs.With("split", m.Attr(op, "split_dimension")).With("concat", m.Attr(op, "concat_dimension")))
	case ir.OpAllReduce:
		if reduction, ok := r.reduction(op); ok {
			r.become(op, AllReduce(reduction), attrs)
		}
	case ir.OpReduceScatter:
		reduction, ok := r.reduction(op)
		if reduction != ir.ReduceSum {
			attrs = attrs.With("kind", ir.StringAttr(reduction.String()))
		}
		if ok {
			r.become(op, ir.OpShardMapPsumScatter, attrs.With("dim", m.Attr(op, "scatter_dimension")))
		}
	}
}

// reduction returns what the region of a reduction computes.
func (r *groupReader) reduction(op ir.OpID) (ir.Reduction, bool) {
	DropHints(r.m, r.m.RegionBlock(op, 0))
	return ir.ReductionOf(r.m, op, 0)
}

// over returns the axes along which groups run, or all axes and the groups, if all devices are in groups of one size.
func (r *groupReader) over(groups [][]int64) (ir.Attrs, bool) {
	if axes, ok := r.find(groups); ok {
		return r.along(axes), true
	}
	size := len(groups[0])
	if slices.ContainsFunc(groups, func(members []int64) bool { return len(members) != size }) {
		return nil, false
	}
	return r.along(r.mesh.All()).With("groups", Lists(groups)), int64(size*len(groups)) == r.mesh.Devices()
}

// find returns the whole axes along which groups run.
func (r *groupReader) find(groups [][]int64) ([]subaxis.Ref, bool) {
	axes, ok := r.mesh.FindGroups(groups)
	return axes, ok && allFull(r.mesh, axes)
}

func allFull(mesh *subaxis.Mesh, axes []subaxis.Ref) bool {
	return !slices.ContainsFunc(axes, func(r subaxis.Ref) bool { return !mesh.IsFull(r) })
}

func (r *groupReader) along(axes []subaxis.Ref) ir.Attrs {
	return ir.MakeAttrs(ir.Named("axes", &ir.AxesAttr{Mesh: r.id, Axes: axes}))
}

// broadcast turns one of which the sender has the same number among the members of all groups.
func (r *groupReader) broadcast(op ir.OpID, groups [][]int64) {
	source := -1
	for i, members := range groups {
		first := members[0]
		slices.Sort(members)
		if at := slices.Index(members, first); i == 0 {
			source = at
		} else if at != source {
			return
		}
	}
	if axes, ok := r.find(groups); ok {
		r.become(op, ir.OpShardMapPbroadcast, r.along(axes).With("source", r.m.I64(int64(source))))
	}
}

// permute turns one along the axes along which blocks move, or along all axes where the groups along those do not all move
// theirs in the same way.
func (r *groupReader) permute(op ir.OpID) {
	pairs, err := pairsOf(r.m, op, r.mesh)
	if err != nil {
		return
	}
	var moving []subaxis.Ref
	for _, axis := range r.mesh.All() {
		for pair := range pairs {
			if r.mesh.Coordinate(pair[0], axis) != r.mesh.Coordinate(pair[1], axis) {
				moving = append(moving, axis)
				break
			}
		}
	}
	axes, perm := permOver(r.mesh, moving, pairs)
	r.become(op, ir.OpShardMapPpermute, r.along(axes).With("perm", Perm(perm)))
}

// become puts an op over axes per operand in the place of a collective. A reduction whose region is of a wider type than its
// operand gets the operand in that type.
func (r *groupReader) become(op ir.OpID, kind ir.Kind, attrs ir.Attrs) {
	r.replace(op, func(b *ir.Builder, result ir.TypeID, x ir.ValueID) ir.ValueID { return b.Op1(kind, result, attrs, x) })
}

// replace puts what a function makes of each operand in the place of a collective.
func (r *groupReader) replace(op ir.OpID, with func(b *ir.Builder, result ir.TypeID, x ir.ValueID) ir.ValueID) {
	m := r.m
	b := m.BuilderBefore(op)
	for k, old := range m.ResultValues(op) {
		x := m.Operand(op, k)
		if m.ValueType(x).DType != m.ValueType(old).DType {
			x = b.Op1(ir.OpConvert, m.WithDims(m.Type(old), m.Shape(x)), nil, x)
		}
		r.swap(old, with(b, m.Type(old), x))
	}
	m.Erase(op)
}

// put puts a value in the place of an op.
func (r *groupReader) put(op ir.OpID, v ir.ValueID) {
	r.swap(r.m.Result(op, 0), v)
	r.m.Erase(op)
}

// swap puts a value in the place of another one, whose place in the source its op takes.
func (r *groupReader) swap(old, v ir.ValueID) {
	r.m.InheritPos(r.m.DefiningOp(v), r.m.DefiningOp(old))
	if r.m.Sharding(v) == 0 {
		r.m.SetSharding(v, r.m.Sharding(old))
	}
	r.m.ReplaceUses(old, v)
	r.moved(old, v)
}

// DropHints takes hints for the partitioner out of a block of a manual computation, and of the blocks inside it. They could only
// place axes that the computation leaves free.
func DropHints(m *ir.Module, b ir.BlockID) {
	m.Walk(b, func(op ir.OpID) {
		switch m.Kind(op) {
		case ir.OpSdyShardingConstraint, ir.OpSdyReshard, ir.OpSdyPropagationBarrier, ir.OpSdyDataFlowEdge:
			m.ReplaceUses(m.Result(op, 0), m.Operand(op, 0))
			m.Erase(op)
		case ir.OpSdyShardingGroup:
			m.Erase(op)
		}
	})
}
