package typed

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// Lower returns the program of one device over the manual axes alone, in plain StableHLO: along other axes all devices do the
// same. Its mesh is that of the manual axes. The program must be elaborated or typechecked where its check is on.
func (p *Program) Lower() *shardmap.Program { return p.lower(nil) }

// LowerOverAxes is Lower with the collectives over axes, and what each moves, as prices read them.
func (p *Program) LowerOverAxes() *shardmap.Program {
	out := p.overAxes(nil)
	out.NoteCollectives()
	return out
}

func (p *Program) lower(watch watcher) *shardmap.Program {
	out := p.overAxes(watch)
	_ = shardmap.LowerAxes(context.Background(), out) // which never ends
	return out
}

// overAxes drops casts and writes scans as loops.
func (p *Program) overAxes(watch watcher) *shardmap.Program {
	mesh, number := p.manualMesh()
	l := newLowering(p, mesh, number)
	l.watch = watch
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

// manualMesh returns the mesh of the manual axes, and the place there of each axis of the program's mesh. Where axes are left out, a place
// stands for several devices and has no id.
func (p *Program) manualMesh() (mesh subaxis.Mesh, number []int) {
	number = make([]int, len(p.Mesh.Axes))
	for _, a := range p.Manual.Axes() {
		number[a] = len(mesh.Axes)
		mesh.Axes = append(mesh.Axes, p.Mesh.Axes[a])
	}
	if len(mesh.Axes) == len(p.Mesh.Axes) {
		mesh.DeviceIDs = p.Mesh.DeviceIDs
	}
	return mesh, number
}

// lowering makes a program over axes of another mesh of a copy of a program's module: it drops casts and writes scans as loops.
type lowering struct {
	p      *Program // the copy
	m      *ir.Module
	mesh   subaxis.Mesh
	number []int   // places in mesh of the axes of the program's mesh
	watch  watcher // nil where nobody looks
}

// watcher adds ops that look at values while a program is lowered. Values and ops are those of the program with types.
type watcher interface {
	argument(l *lowering, b *ir.Builder, v ir.ValueID)
	before(l *lowering, op ir.OpID)
	after(l *lowering, b *ir.Builder, op ir.OpID, v, lowered ir.ValueID)
	enter(op ir.OpID) (leave func()) // of a loop or branch
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
	ops := slices.Collect(l.m.Ops(b)) // without those that a watcher adds
	if l.watch != nil {
		for _, v := range l.m.BlockArgs(b) {
			l.watch.argument(l, l.m.BuilderBefore(ops[0]), v)
		}
	}
	for _, op := range ops {
		l.op(op)
	}
}

func (l *lowering) op(op ir.OpID) {
	next, old := l.m.NextOp(op), l.m.ResultValues(op)
	made := old
	if l.watch != nil {
		l.watch.before(l, op)
	}
	switch kind := l.m.Kind(op); {
	case kind == ir.OpShardMapScan:
		l.block(l.m.RegionBlock(op, 0))
		made = l.scan(op)
	case kind.IsShardMap():
		made = []ir.ValueID{l.collective(op)}
	default:
		l.regions(op)
	}
	if l.watch != nil && next != 0 {
		for i, v := range old {
			l.watch.after(l, l.m.BuilderBefore(next), op, v, made[i])
		}
	}
}

// regions lowers the bodies of loops and branches. Those of other ops are scalar functions.
func (l *lowering) regions(op ir.OpID) {
	if !l.m.Kind(op).HasBodies() {
		return
	}
	if l.watch != nil {
		defer l.watch.enter(op)()
	}
	for r := range l.m.NumRegions(op) {
		l.block(l.m.RegionBlock(op, r))
	}
}

// refs returns axes of the program as axes of the mesh at hand.
func (l *lowering) refs(axes []int) []subaxis.Ref {
	return lists.Map(axes, func(a int) subaxis.Ref { return l.mesh.Full(l.number[a]) })
}

// collective replaces an op of this package by one over the mesh at hand and returns what stands for its result.
func (l *lowering) collective(op ir.OpID) ir.ValueID {
	c, err := l.p.Collective(op)
	if err != nil {
		panic(err) // Validate has passed
	}
	v, b := l.m.Result(op, 0), Edit(l.p, op)
	switch {
	case c.IsCast():
		v = l.m.Operand(op, 0)
	case c.Kind == ir.OpShardMapRaggedAllToAll:
		v = l.ragged(b, &c, l.m.Operands(op))
	case c.Kind == ir.OpShardMapPscatter:
		v = l.chunk(b, l.m.Operand(op, 0), c.Dim, l.p.members(&c), l.member(b, c.Axes))
	default:
		l.m.SetAttrs(op, l.m.OpAttrs(op).With("axes", &ir.AxesAttr{Axes: l.refs(c.Axes)}))
		return v
	}
	if b.err != nil {
		panic(b.err)
	}
	l.m.ReplaceUses(l.m.Result(op, 0), v)
	l.m.Erase(op)
	return v
}

// emit adds a collective of one operand over the mesh at hand.
func (l *lowering) emit(b *Builder, c Collective, operands ...ir.ValueID) ir.ValueID {
	v := b.Emit(c, operands...)
	l.collective(l.m.DefiningOp(v))
	return v
}

// member emits this device's number among the members along axes.
func (l *lowering) member(b *Builder, axes []int) ir.ValueID {
	return l.emit(b, Collective{Kind: ir.OpShardMapAxisIndex, Axes: axes})
}

// chunk emits chunk k of n along a dimension.
func (l *lowering) chunk(b *Builder, x ir.ValueID, dim, n int64, k ir.ValueID) ir.ValueID {
	dims := slices.Clone(l.m.Shape(x))
	dims[dim] /= n
	index := slices.Repeat([]ir.ValueID{b.Constant(dtype.I32, nil, 0)}, len(dims))
	index[dim] = b.Binary(ir.OpMultiply, k, b.Constant(dtype.I32, nil, float64(dims[dim])))
	return b.DynamicSlice(x, dims, index...)
}
