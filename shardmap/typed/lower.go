package typed

import (
	"encoding/binary"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// Lower returns the program of one device over the manual axes alone, in plain StableHLO: along other axes all devices do the
// same. Its mesh is that of the manual axes. The program must be elaborated or typechecked where its check is on.
func (p *Program) Lower() *shardmap.Program { return p.lower(nil) }

func (p *Program) lower(debug *debugger) *shardmap.Program {
	mesh, number := p.manualMesh()
	l := newLowering(p, mesh, number)
	l.debug = debug
	l.block(l.m.Func(p.Func).Body)
	out := &shardmap.Program{Module: l.m, Main: p.Func, Mesh: mesh}
	for _, param := range p.Params {
		dims := p.Module.TypeOf(param.Type).Dims
		out.Inputs = append(out.Inputs, shardmap.Port{Dims: dims, Layout: l.layout(param.Spec, len(dims))})
	}
	for i, r := range p.Results {
		dims := p.GlobalDims(i)
		port := shardmap.Port{Dims: dims, Layout: l.layout(r.Spec, len(dims))}
		port.Layout.Reduction = p.VarianceOf(p.Module.Operand(p.Return(), i)).Kind
		out.Outputs = append(out.Outputs, port)
	}
	return out
}

// manualMesh returns the mesh of the manual axes, and the place there of each axis of the program's mesh.
func (p *Program) manualMesh() (mesh subaxis.Mesh, number []int) {
	number = make([]int, len(p.Mesh.Axes))
	for _, a := range p.Manual.Axes() {
		number[a] = len(mesh.Axes)
		mesh.Axes = append(mesh.Axes, p.Mesh.Axes[a])
	}
	return mesh, number
}

// lowering replaces the ops of this package in a copy of a program's module.
type lowering struct {
	p       *Program // the copy
	m       *ir.Module
	mesh    subaxis.Mesh
	number  []int        // places in mesh of the axes of the program's mesh
	axes    ir.MeshID    // mesh by whose axes groups are named; 0 to list devices
	over    *refine.Mesh // that mesh and its refinement, the program's
	channel int64
	debug   *debugger // nil without debugging
}

func newLowering(p *Program, mesh subaxis.Mesh, number []int) *lowering {
	q := p.Clone()
	return &lowering{p: q, m: q.Module, mesh: mesh, number: number}
}

// layout returns a spec of a value of that rank as a layout over the mesh at hand.
func (l *lowering) layout(s Spec, rank int) collectives.Layout {
	dims, t := l.p.axesOf(s)
	out := collectives.Layout{Dims: make([][]subaxis.Ref, rank), Unreduced: l.refs(t.U.Axes())}
	for d, axes := range dims {
		out.Dims[d] = l.refs(axes)
	}
	return out
}

func (l *lowering) block(b ir.BlockID) {
	ops := slices.Collect(l.m.Ops(b)) // without those that debugging adds
	if l.debug != nil {
		for _, v := range l.m.BlockArgs(b) {
			l.debug.check(l, l.m.BuilderBefore(l.m.FirstOp(b)), v, v)
		}
	}
	for _, op := range ops {
		l.op(op)
	}
}

func (l *lowering) op(op ir.OpID) {
	next, old := l.m.NextOp(op), l.m.ResultValues(op)
	new := old
	switch kind := l.m.Kind(op); {
	case kind == ir.OpShardMapScan:
		l.block(l.m.RegionBlock(op, 0))
		new = l.scan(op)
	case kind.IsShardMap():
		new = []ir.ValueID{l.collective(op)}
	default:
		l.regions(op)
	}
	if l.debug != nil && next != 0 {
		for i, v := range old {
			l.debug.check(l, l.m.BuilderBefore(next), v, new[i])
		}
	}
}

// regions lowers the bodies of loops and branches. Those of other ops are scalar functions.
func (l *lowering) regions(op ir.OpID) {
	if !l.m.Kind(op).HasBodies() {
		return
	}
	if l.debug != nil {
		defer l.debug.enter(op)()
	}
	for r := range l.m.NumRegions(op) {
		l.block(l.m.RegionBlock(op, r))
	}
}

// refs returns axes of the program as axes of the mesh at hand.
func (l *lowering) refs(axes []int) []subaxis.Ref {
	out := make([]subaxis.Ref, len(axes))
	for i, a := range axes {
		out[i] = l.mesh.Full(l.number[a])
	}
	return out
}

// groups returns the groups of a collective, members in order.
func (l *lowering) groups(c *Collective) [][]int64 {
	whole := l.mesh.Groups(l.refs(c.Axes))
	if c.Groups == nil {
		return whole
	}
	var out [][]int64
	for _, g := range whole {
		for _, members := range c.Groups {
			sub := make([]int64, len(members))
			for i, k := range members {
				sub[i] = g[k]
			}
			out = append(out, sub)
		}
	}
	return out
}

// channelled returns the attributes of a collective with a channel of its own.
func (l *lowering) channelled() ir.Attrs {
	l.channel++
	return ir.MakeAttrs(attr("channel_handle", ir.ChannelHandle{Handle: l.channel, Type: 1}))
}

// along returns the attributes of a collective in its groups.
func (l *lowering) along(c *Collective) ir.Attrs {
	if l.axes != 0 && c.Groups == nil {
		return l.channelled().With("replica_groups", &ir.MeshAxesGroups{Mesh: l.axes, Axes: l.over.Parts(c.Axes)})
	}
	return l.grouped(l.groups(c))
}

// grouped returns the attributes of a collective in groups of devices.
func (l *lowering) grouped(groups [][]int64) ir.Attrs {
	t := l.m.TensorType(dtype.I64, int64(len(groups)), int64(len(groups[0])))
	return l.channelled().With("replica_groups", i64Dense(t, slices.Concat(groups...)))
}

// i64Dense returns a constant of i64; equal elements are stored once, as in text.
func i64Dense(t ir.TypeID, values []int64) *ir.Dense {
	d := &ir.Dense{Type: t, Splat: len(values) > 0}
	for _, v := range values {
		d.Splat = d.Splat && v == values[0]
	}
	if d.Splat {
		values = values[:1]
	}
	for _, v := range values {
		d.Data = binary.LittleEndian.AppendUint64(d.Data, uint64(v))
	}
	return d
}

// collective replaces an op of this package and returns what stands for its result.
func (l *lowering) collective(op ir.OpID) ir.ValueID {
	c, err := l.p.Collective(op)
	if err != nil {
		panic(err) // Validate has passed
	}
	b := Edit(l.p, op)
	var x ir.ValueID
	if l.m.NumOperands(op) > 0 {
		x = l.m.Operand(op, 0)
	}
	v := l.emit(b, op, &c, x)
	if b.err != nil {
		panic(b.err)
	}
	l.m.ReplaceUses(l.m.Result(op, 0), v)
	l.m.Erase(op)
	return v
}

func (l *lowering) emit(b *Builder, op ir.OpID, c *Collective, x ir.ValueID) ir.ValueID {
	switch c.Kind {
	case ir.OpShardMapPsum, ir.OpShardMapUnreducedPsum:
		return l.allReduce(b, c, x, ir.OpAdd)
	case ir.OpShardMapPmax, ir.OpShardMapUnreducedPmax:
		return l.allReduce(b, c, x, ir.OpMaximum)
	case ir.OpShardMapPmin, ir.OpShardMapUnreducedPmin:
		return l.allReduce(b, c, x, ir.OpMinimum)
	case ir.OpShardMapAllGather, ir.OpShardMapAllGatherInvariant, ir.OpShardMapAllGatherReduced:
		return l.allGather(b, c, x)
	case ir.OpShardMapPsumScatter, ir.OpShardMapUnreducedPsumScatter:
		return l.reduceScatter(b, c, x, l.m.Type(l.m.Result(op, 0)))
	case ir.OpShardMapAllToAll:
		return l.allToAll(b, c, x, l.m.Type(l.m.Result(op, 0)))
	case ir.OpShardMapPpermute:
		return l.permute(b, c, x)
	case ir.OpShardMapPbroadcast:
		groups := l.groups(c)
		for _, g := range groups {
			g[0], g[c.Source] = g[c.Source], g[0]
		}
		return b.Op(ir.OpCollectiveBroadcast, l.m.Type(x), l.grouped(groups), x)
	case ir.OpShardMapRaggedAllToAll:
		return l.ragged(b, c, l.m.Operands(op))
	case ir.OpShardMapPscatter:
		return l.chunk(b, x, c.Dim, l.p.members(c), l.member(b, c.Axes))
	case ir.OpShardMapAxisIndex:
		return l.member(b, c.Axes)
	}
	return x // casts
}

func (l *lowering) allReduce(b *Builder, c *Collective, x ir.ValueID, kind ir.Kind) ir.ValueID {
	op := b.at.OpRegions(ir.OpAllReduce, []ir.TypeID{l.m.Type(x)}, l.along(c).With("use_global_device_ids", ir.UnitAttr{}), 1, x)
	reducer(l.m, op, kind, l.m.TensorType(l.m.ValueType(x).DType))
	return l.m.Result(op, 0)
}

func (l *lowering) allGather(b *Builder, c *Collective, x ir.ValueID) ir.ValueID {
	dims := slices.Clone(l.m.Shape(x))
	dims[c.Dim] *= l.p.members(c)
	attrs := l.along(c).With("all_gather_dim", i64(l.m, c.Dim)).With("use_global_device_ids", ir.UnitAttr{})
	return b.Op(ir.OpAllGather, l.m.WithDims(l.m.Type(x), dims), attrs, x)
}

func (l *lowering) reduceScatter(b *Builder, c *Collective, x ir.ValueID, t ir.TypeID) ir.ValueID {
	attrs := l.along(c).With("scatter_dimension", i64(l.m, c.Dim)).With("use_global_device_ids", ir.UnitAttr{})
	op := b.at.OpRegions(ir.OpReduceScatter, []ir.TypeID{t}, attrs, 1, x)
	reducer(l.m, op, ir.OpAdd, l.m.TensorType(l.m.ValueType(x).DType))
	return l.m.Result(op, 0)
}

func (l *lowering) allToAll(b *Builder, c *Collective, x ir.ValueID, t ir.TypeID) ir.ValueID {
	attrs := l.along(c).With("split_dimension", i64(l.m, c.Split)).With("concat_dimension", i64(l.m, c.Concat)).
		With("split_count", i64(l.m, l.p.members(c)))
	return b.Op(ir.OpAllToAll, t, attrs, x)
}

// permute names all pairs of all groups, as partitions.
func (l *lowering) permute(b *Builder, c *Collective, x ir.ValueID) ir.ValueID {
	var pairs []int64
	for _, g := range l.groups(c) {
		for _, pair := range c.Perm {
			pairs = append(pairs, g[pair[0]], g[pair[1]])
		}
	}
	t := l.m.TensorType(dtype.I64, int64(len(pairs)/2), 2)
	return b.Op(ir.OpCollectivePermute, l.m.Type(x), l.channelled().With("source_target_pairs", i64Dense(t, pairs)), x)
}

// member emits this device's number among the members along axes, as JAX writes it: of each axis the partition
// divided by the sizes of the axes behind it, modulo its own (specification: shardmap.md section 11).
func (l *lowering) member(b *Builder, axes []int) ir.ValueID {
	id := b.Op(ir.OpPartitionId, l.m.TensorType(dtype.UI32), nil)
	var sum ir.ValueID
	stride := int64(1)
	for _, a := range slices.Backward(axes) {
		minor := int64(1)
		for _, later := range l.mesh.Axes[l.number[a]+1:] {
			minor *= later.Size
		}
		size := l.p.Mesh.Axes[a].Size
		v := b.Binary(ir.OpDivide, id, b.Constant(dtype.UI32, nil, float64(minor)))
		v = b.Convert(b.Binary(ir.OpRemainder, v, b.Constant(dtype.UI32, nil, float64(size))), dtype.I32)
		if stride > 1 {
			v = b.Binary(ir.OpMultiply, v, b.Constant(dtype.I32, nil, float64(stride)))
		}
		if sum != 0 {
			v = b.Binary(ir.OpAdd, sum, v)
		}
		sum = v
		stride *= size
	}
	return sum
}

// chunk emits chunk k of n along a dimension.
func (l *lowering) chunk(b *Builder, x ir.ValueID, dim, n int64, k ir.ValueID) ir.ValueID {
	dims := slices.Clone(l.m.Shape(x))
	dims[dim] /= n
	index := slices.Repeat([]ir.ValueID{b.Constant(dtype.I32, nil, 0)}, len(dims))
	index[dim] = b.Binary(ir.OpMultiply, k, b.Constant(dtype.I32, nil, float64(dims[dim])))
	return b.DynamicSlice(x, dims, index...)
}
