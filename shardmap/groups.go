package shardmap

import (
	"context"
	"encoding/binary"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// LowerAxes replaces the ops over axes of a program by plain StableHLO, in place, for engines that know device groups and
// no axes: collectives get groups, pairs and channels, and the number of a device along axes is looked up by its partition
// id, once at the start of the function for each list of axes.
//
//	%1 = shard_map.psum {"y"} %0    over x=2, y=2
//
// becomes
//
//	%1 = "stablehlo.all_reduce"(%0) <{replica_groups = dense<[[0, 1], [2, 3]]> ...}> ({ add })
//
// Collectives and slices keep their ids and values. The only error is the context's.
func LowerAxes(ctx context.Context, p *Program) error {
	return newGrouper(p).lowerAll(ctx)
}

// NameAxes is LowerAxes for the body of a manual computation: groups are named by axes of a mesh of the module, in which parts
// returns the program's axes, and the number of a device along axes is arithmetic on its partition id, as JAX writes it,
// or on its place where the mesh lists ids (specification: shardmap.md section 11).
func NameAxes(p *Program, mesh ir.MeshID, parts func([]subaxis.Ref) []subaxis.Ref) {
	g := newGrouper(p)
	g.named = func(axes []subaxis.Ref) ir.Attr { return &ir.MeshAxesGroups{Mesh: mesh, Axes: parts(axes)} }
	_ = g.lowerAll(context.Background()) // which never ends
}

// grouper turns ops over axes into ops over device groups.
type grouper struct {
	m       *ir.Module
	p       *Program
	named   func([]subaxis.Ref) ir.Attr // nil to list devices
	id      ir.ValueID                  // this device's partition id; 0 until something is looked up
	head    ir.OpID                     // last of the look-ups at the start of the function
	numbers map[string]ir.ValueID       // of this device along axes
	channel int64                       // the last that is taken
}

func newGrouper(p *Program) *grouper {
	return &grouper{m: p.Module, p: p, numbers: map[string]ir.ValueID{}}
}

func (g *grouper) lowerAll(ctx context.Context) error {
	var ops []ir.OpID
	names := g.named != nil // whether groups are named by axes of a mesh, also those that the user wrote
	g.m.Walk(g.m.Func(g.p.Main).Body, func(op ir.OpID) {
		if g.m.Kind(op).IsShardMap() {
			ops = append(ops, op)
		}
		if taken, ok := g.m.Attr(op, "channel_handle").(ir.ChannelHandle); ok { // by a collective that has no form over axes
			g.channel = max(g.channel, taken.Handle)
		}
		_, ok := g.m.Attr(op, "replica_groups").(*ir.MeshAxesGroups)
		names = names || ok
	})
	for _, op := range ops {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.lower(op)
	}
	for op := range g.m.Ops(g.m.Body()) {
		if g.m.Kind(op) == ir.OpMesh && !names {
			g.m.Erase(op)
		}
	}
	return nil
}

// reductions are the ops over axes that reduce what devices have.
var reductions = map[ir.Kind]ir.Reduction{
	ir.OpShardMapPsum: ir.ReduceSum, ir.OpShardMapPmax: ir.ReduceMax, ir.OpShardMapPmin: ir.ReduceMin,
	ir.OpShardMapUnreducedPsum: ir.ReduceSum, ir.OpShardMapUnreducedPmax: ir.ReduceMax, ir.OpShardMapUnreducedPmin: ir.ReduceMin,
}

// lower turns an op over axes into one over groups.
func (g *grouper) lower(op ir.OpID) {
	m := g.m
	become := func(kind ir.Kind, attrs ir.Attrs) {
		m.SetKind(op, kind)
		m.SetAttrs(op, attrs)
	}
	switch kind := m.Kind(op); kind {
	case ir.OpShardMapPsumScatter, ir.OpShardMapUnreducedPsumScatter:
		with, _ := ir.ParseReduction(m.OpAttrs(op).Str("kind")) // a sum where there is none
		become(ir.OpReduceScatter, g.global(op).With("scatter_dimension", m.Attr(op, "dim")))
		g.reduce(op, with)
	case ir.OpShardMapAllGather, ir.OpShardMapAllGatherInvariant, ir.OpShardMapAllGatherReduced:
		become(ir.OpAllGather, g.global(op).With("all_gather_dim", m.Attr(op, "dim")))
	case ir.OpShardMapAllToAll:
		split := m.Attr(op, "split").(ir.IntAttr)
		count := ir.IntAttr{Value: int64(len(g.groups(op)[0])), Type: split.Type}
		become(ir.OpAllToAll,
			g.grouped(op).With("concat_dimension", m.Attr(op, "concat")).With("split_count", count).With("split_dimension", split))
	case ir.OpShardMapPpermute:
		become(ir.OpCollectivePermute, g.channelled().With("source_target_pairs", g.pairs(op)))
	case ir.OpShardMapPbroadcast:
		become(ir.OpCollectiveBroadcast, g.channelled().With("replica_groups", g.list(g.sendersFirst(op))))
	case ir.OpShardMapPscatter:
		become(ir.OpDynamicSlice, ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints(m.Shape(m.Result(op, 0))))))
	case ir.OpShardMapAxisIndex:
		old, v := m.Result(op, 0), g.number(op)
		m.ReplaceUses(old, v)
		g.p.Move(old, v)
		m.Erase(op)
	default:
		become(ir.OpAllReduce, g.global(op))
		g.reduce(op, reductions[kind])
	}
}

// channelled returns the attributes of a collective with a channel of its own.
func (g *grouper) channelled() ir.Attrs {
	g.channel++
	return ir.MakeAttrs(ir.Named("channel_handle", ir.ChannelHandle{Handle: g.channel, Type: 1}))
}

// groups returns the groups of an op as places in the mesh, members in order. Attribute `groups` cuts those along the axes
// further.
func (g *grouper) groups(op ir.OpID) [][]int64 {
	whole := g.p.Mesh.Groups(AxesOf(g.m, op))
	inner := ListsOf(g.m.Attr(op, "groups"))
	if inner == nil {
		return whole
	}
	var out [][]int64
	for _, members := range whole {
		for _, list := range inner {
			group := lists.Pick(members, list)
			out = append(out, group)
		}
	}
	return out
}

// sendersFirst returns the groups of a broadcast, each with the member that sends in front.
func (g *grouper) sendersFirst(op ir.OpID) [][]int64 {
	groups, source := g.groups(op), g.m.OpAttrs(op).Int("source", 0)
	for _, members := range groups {
		members[0], members[source] = members[source], members[0]
	}
	return groups
}

// list returns groups of places as a list of device ids.
func (g *grouper) list(groups [][]int64) ir.Attr {
	var ids []int64
	for _, members := range groups {
		ids = append(ids, lists.Map(members, g.p.Mesh.DeviceID)...)
	}
	return g.m.DenseInts(ids, int64(len(groups)), int64(len(groups[0])))
}

// grouped returns the attributes of a collective in the groups of an op.
func (g *grouper) grouped(op ir.OpID) ir.Attrs {
	if g.named != nil && g.m.Attr(op, "groups") == nil {
		return g.channelled().With("replica_groups", g.named(AxesOf(g.m, op)))
	}
	return g.channelled().With("replica_groups", g.list(g.groups(op)))
}

// global returns the same for groups that a flag says are of device ids.
func (g *grouper) global(op ir.OpID) ir.Attrs {
	return g.grouped(op).With("use_global_device_ids", ir.UnitAttr{})
}

// reduce adds a region that combines two elements.
func (g *grouper) reduce(op ir.OpID, with ir.Reduction) {
	region := g.m.DetachedRegion()
	g.m.AdoptRegions(op, []ir.RegionID{region})
	g.m.AddReducer(op, with.Combiner(), g.m.ValueType(g.m.Result(op, 0)).DType)
}

// pairs lists the pairs of one group after the other.
func (g *grouper) pairs(op ir.OpID) ir.Attr {
	var ids []int64
	for _, members := range g.groups(op) {
		for _, pair := range PermOf(g.m, op) {
			ids = append(ids, g.p.Mesh.DeviceID(members[pair[0]]), g.p.Mesh.DeviceID(members[pair[1]]))
		}
	}
	return g.m.DenseInts(ids, int64(len(ids)/2), 2)
}

// number looks up the number of this device along axes.
func (g *grouper) number(op ir.OpID) ir.ValueID {
	m, mesh := g.m, &g.p.Mesh
	axes := AxesOf(m, op)
	if g.named != nil {
		return g.computed(m.BuilderBefore(op), axes)
	}
	key := mesh.FormatList(axes)
	if v, ok := g.numbers[key]; ok {
		return v
	}
	if g.id == 0 {
		g.id = m.BuilderBefore(m.FirstOp(m.Func(g.p.Main).Body)).Op1(ir.OpPartitionId, m.TensorType(dtype.UI32), nil)
		g.head = m.DefiningOp(g.id)
	}
	devices := mesh.Devices()
	data := make([]byte, 4*devices)
	for place := range devices {
		binary.LittleEndian.PutUint32(data[4*mesh.DeviceID(place):], uint32(mesh.ShardIndex(place, axes)))
	}
	v := lookUp(m.BuilderAfter(g.head), m, dtype.I32, data, g.id)
	g.head, g.numbers[key] = m.DefiningOp(v), v
	return v
}

// lookUp emits the element at an index of a table of 32-bit integers.
func lookUp(b *ir.Builder, m *ir.Module, t dtype.Type, data []byte, index ir.ValueID) ir.ValueID {
	table := b.Constant(m.Dense(m.TensorType(t, int64(len(data)/4)), data))
	v := b.Op1(ir.OpDynamicSlice, m.TensorType(t, 1), ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints{1})), table, index)
	return b.Op1(ir.OpReshape, m.TensorType(t), nil, v)
}

// place emits the place of this device in the mesh: the partition id, which is looked up where the mesh lists ids.
func (g *grouper) place(b *ir.Builder) ir.ValueID {
	m, mesh := g.m, &g.p.Mesh
	id := b.Op1(ir.OpPartitionId, m.TensorType(dtype.UI32), nil)
	if mesh.DeviceIDs == nil {
		return id
	}
	data := make([]byte, 4*len(mesh.DeviceIDs))
	for place, device := range mesh.DeviceIDs {
		binary.LittleEndian.PutUint32(data[4*device:], uint32(place))
	}
	return lookUp(b, m, dtype.UI32, data, id)
}

// computed emits the number of this device along axes: of each the device's place divided by the sizes of the axes behind it, modulo its
// own.
func (g *grouper) computed(b *ir.Builder, axes []subaxis.Ref) ir.ValueID {
	m := g.m
	ui32, i32 := m.TensorType(dtype.UI32), m.TensorType(dtype.I32)
	with := func(kind ir.Kind, t ir.TypeID, v ir.ValueID, number int64) ir.ValueID {
		return b.Op1(kind, t, nil, v, b.Integer(m.TypeOf(t).DType, number))
	}
	id := g.place(b)
	var sum ir.ValueID
	stride := int64(1)
	for _, r := range slices.Backward(axes) {
		v := with(ir.OpRemainder, ui32, with(ir.OpDivide, ui32, id, g.p.Mesh.Stride(r)), int64(r.Size))
		v = b.Op1(ir.OpConvert, i32, nil, v)
		if stride > 1 {
			v = with(ir.OpMultiply, i32, v, stride)
		}
		if sum != 0 {
			v = b.Op1(ir.OpAdd, i32, nil, sum, v)
		}
		sum = v
		stride *= int64(r.Size)
	}
	return sum
}
