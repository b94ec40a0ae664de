package shardmap

import (
	"context"
	"encoding/binary"

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
	g := &grouper{m: p.Module, p: p, numbers: map[string]ir.ValueID{}}
	body := g.m.Func(p.Main).Body
	var ops []ir.OpID
	named := false // a collective that the user wrote names its groups by axes of a mesh
	g.m.Walk(body, func(op ir.OpID) {
		if g.m.Kind(op).IsShardMap() {
			ops = append(ops, op)
		}
		_, ok := g.m.Attr(op, "replica_groups").(*ir.MeshAxesGroups)
		named = named || ok
	})
	for _, op := range ops {
		if err := ctx.Err(); err != nil {
			return err
		}
		g.lower(op)
	}
	for op := range g.m.Ops(g.m.Body()) {
		if g.m.Kind(op) == ir.OpMesh && !named {
			g.m.Erase(op)
		}
	}
	return nil
}

// grouper turns ops over axes into ops over device groups.
type grouper struct {
	m       *ir.Module
	p       *Program
	id      ir.ValueID            // this device's partition id; 0 until something is looked up
	head    ir.OpID               // last of the look-ups at the start of the function
	numbers map[string]ir.ValueID // of this device along axes
	channel int64                 // the last that is taken
}

// lower turns an op over axes into one over groups.
func (g *grouper) lower(op ir.OpID) {
	m := g.m
	become := func(kind ir.Kind, attrs ir.Attrs) {
		m.SetKind(op, kind)
		m.SetAttrs(op, attrs)
	}
	switch m.Kind(op) {
	case ir.OpShardMapPsum:
		become(ir.OpAllReduce, g.global(op))
		g.reduce(op, ir.OpAdd)
	case ir.OpShardMapPmax:
		become(ir.OpAllReduce, g.global(op))
		g.reduce(op, ir.OpMaximum)
	case ir.OpShardMapPmin:
		become(ir.OpAllReduce, g.global(op))
		g.reduce(op, ir.OpMinimum)
	case ir.OpShardMapPsumScatter:
		kind := map[string]ir.Kind{"": ir.OpAdd, ir.ReduceMax.String(): ir.OpMaximum, ir.ReduceMin.String(): ir.OpMinimum}[m.OpAttrs(op).Str("kind")]
		become(ir.OpReduceScatter, g.global(op).With("scatter_dimension", m.Attr(op, "dim")))
		g.reduce(op, kind)
	case ir.OpShardMapAllGather, ir.OpShardMapAllGatherInvariant:
		become(ir.OpAllGather, g.global(op).With("all_gather_dim", m.Attr(op, "dim")))
	case ir.OpShardMapAllToAll:
		split := m.Attr(op, "split").(ir.IntAttr)
		count := ir.IntAttr{Value: subaxis.Product(AxesOf(m, op)), Type: split.Type}
		become(ir.OpAllToAll, g.grouped(op).With("concat_dimension", m.Attr(op, "concat")).With("split_count", count).With("split_dimension", split))
	case ir.OpShardMapPpermute:
		become(ir.OpCollectivePermute, g.channelled().With("source_target_pairs", g.pairs(op)))
	case ir.OpShardMapPscatter:
		become(ir.OpDynamicSlice, ir.MakeAttrs(ir.NamedAttr{Name: "slice_sizes", Value: ir.Ints(m.Shape(m.Result(op, 0)))}))
	case ir.OpShardMapAxisIndex:
		old, v := m.Result(op, 0), g.number(op)
		m.ReplaceUses(old, v)
		g.p.Move(old, v)
		m.Erase(op)
	}
}

// channelled returns the attributes of a collective with a channel of its own.
func (g *grouper) channelled() ir.Attrs {
	g.channel++
	return ir.MakeAttrs(ir.NamedAttr{Name: "channel_handle", Value: ir.ChannelHandle{Handle: g.channel, Type: 1}})
}

// grouped returns the attributes of a collective whose groups run along the axes of an op.
func (g *grouper) grouped(op ir.OpID) ir.Attrs {
	groups := g.p.Mesh.Groups(AxesOf(g.m, op))
	var ids []int64
	for _, members := range groups {
		for _, place := range members {
			ids = append(ids, g.p.Mesh.DeviceID(place))
		}
	}
	t := g.m.TensorType(dtype.I64, int64(len(groups)), int64(len(groups[0])))
	return g.channelled().With("replica_groups", dense(g.m, t, longs(ids)))
}

// global returns the same for groups that a flag says are of device ids.
func (g *grouper) global(op ir.OpID) ir.Attrs {
	return g.grouped(op).With("use_global_device_ids", ir.UnitAttr{})
}

// reduce adds a region that combines two elements.
func (g *grouper) reduce(op ir.OpID, with ir.Kind) {
	region := g.m.DetachedRegion()
	g.m.AdoptRegions(op, []ir.RegionID{region})
	reducer(g.m, op, with, g.m.ValueType(g.m.Result(op, 0)).DType)
}

// pairs lists the pairs of all groups by target.
func (g *grouper) pairs(op ir.OpID) ir.Attr {
	m, perm := g.m, PermOf(g.m, op)
	source := map[int64]int64{}
	for _, members := range g.p.Mesh.Groups(AxesOf(m, op)) {
		for _, pair := range perm {
			source[members[pair[1]]] = members[pair[0]]
		}
	}
	var ids []int64
	for target := range g.p.Mesh.Devices() {
		if from, ok := source[target]; ok {
			ids = append(ids, g.p.Mesh.DeviceID(from), g.p.Mesh.DeviceID(target))
		}
	}
	return dense(m, m.TensorType(dtype.I64, int64(len(ids)/2), 2), longs(ids))
}

// number looks up the number of this device along axes.
func (g *grouper) number(op ir.OpID) ir.ValueID {
	m, mesh := g.m, &g.p.Mesh
	axes := AxesOf(m, op)
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
	b, t := m.BuilderAfter(g.head), m.TensorType(dtype.I32, devices)
	table := b.Op1(ir.OpConstant, t, ir.MakeAttrs(ir.NamedAttr{Name: "value", Value: dense(m, t, data)}))
	sizes := ir.MakeAttrs(ir.NamedAttr{Name: "slice_sizes", Value: ir.Ints{1}})
	v := b.Op1(ir.OpDynamicSlice, m.TensorType(dtype.I32, 1), sizes, table, g.id)
	v = b.Op1(ir.OpReshape, m.TensorType(dtype.I32), nil, v)
	g.head, g.numbers[key] = m.DefiningOp(v), v
	return v
}

// reducer fills the region of an op with one op of its two arguments, scalars of an element type.
func reducer(m *ir.Module, op ir.OpID, kind ir.Kind, e dtype.Type) {
	body, t := m.AddBlock(m.Regions(op)[0]), m.TensorType(e)
	x, y := m.AddBlockArg(body, t), m.AddBlockArg(body, t)
	b := m.BuilderAtEnd(body)
	b.Op(ir.OpStablehloReturn, nil, nil, b.Op1(kind, t, nil, x, y))
}

// longs returns the bytes of a tensor of i64.
func longs(values []int64) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return out
}
