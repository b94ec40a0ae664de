package typed

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// Export returns a module whose function main is the program as one sdy.manual_computation of Shardy: specs are its
// shardings, the body is plain StableHLO with device groups along axes of the mesh. Casts vanish, and with them the
// types (specification: shardmap.md sections 6.3 and 11). Dimensions are open where axes are left automatic. The
// program must be valid, and elaborated where its check is on.
func (p *Program) Export() *ir.Module { return p.ExportOver(refine.New(p.Mesh).Mesh()) }

// ExportOver is Export over a mesh of which the program's mesh is the refinement: its axes come out as parts of that
// mesh's, neighbours merged. The parts of every axis are manual together, or none of them is.
func (p *Program) ExportOver(over *refine.Mesh) *ir.Module {
	l := newLowering(p, p.Mesh, lists.Range[int](len(p.Mesh.Axes)))
	m := l.m
	m.Name = p.Name
	mesh := m.AddMesh("mesh", over.Coarse, nil, 0)
	old := m.Func(p.Func)
	from, name := old.Body, old.Op
	l.block(from)
	shardmap.NameAxes(&shardmap.Program{Module: m, Main: p.Func, Mesh: p.Mesh}, mesh, func(refs []subaxis.Ref) []subaxis.Ref {
		return over.Parts(lists.Map(refs, func(r subaxis.Ref) int { return int(r.Axis) }))
	})
	spec := ir.FuncSpec{Name: "main", Visibility: "public"}
	var inside []ir.TypeID
	for i, param := range p.Params {
		spec.Args = append(spec.Args, param.Type)
		inside = append(inside, m.Type(m.BlockArgs(from)[i]))
	}
	for i := range p.Results {
		spec.Results = append(spec.Results, m.WithDims(old.ResultTypes[i], p.GlobalDims(i)))
	}
	function := m.Func(m.AddFunc(spec))
	for i, param := range p.Params {
		if param.Donated {
			function.ArgAttrs[i] = function.ArgAttrs[i].With(ir.DonorAttr, ir.BoolAttr(true))
		}
	}
	main := function.Body
	attrs := ir.MakeAttrs(ir.Named("manual_axes", &ir.AxesAttr{Mesh: mesh, Axes: over.Parts(p.Manual.Axes())}))
	at := m.BuilderAtEnd(main)
	op := at.OpRegions(ir.OpSdyManualComputation, spec.Results, attrs, 1, m.BlockArgs(main)...)
	body := m.AddBlock(m.Regions(op)[0])
	for i, t := range inside {
		v := m.AddBlockArg(body, t)
		m.SetSharding(v, p.sharding(m, mesh, over, p.Params[i].Spec, len(m.TypeOf(t).Dims)))
		m.ReplaceUses(m.BlockArgs(from)[i], v)
	}
	p.moveBody(m, from, body, ir.OpSdyReturn)
	for i, v := range m.Results(op) {
		m.SetSharding(v, p.sharding(m, mesh, over, p.Results[i].Spec, len(m.Shape(v))))
	}
	at.Op(ir.OpReturn, nil, nil, m.ResultValues(op)...)
	m.Erase(name)
	return m
}

// moveBody moves the ops of a block to another one and ends it with another terminator.
func (p *Program) moveBody(m *ir.Module, from, to ir.BlockID, end ir.Kind) []ir.ValueID {
	last := m.LastOp(from)
	results := m.Operands(last)
	for op := range m.Ops(from) {
		if op != last {
			m.MoveToEnd(op, to)
		}
	}
	m.Erase(last)
	m.BuilderAtEnd(to).Op(end, nil, nil, results...)
	return results
}

// sharding returns a spec as Shardy has it.
func (p *Program) sharding(m *ir.Module, mesh ir.MeshID, over *refine.Mesh, s Spec, rank int) ir.ShardingID {
	axes, t := p.axesOf(s)
	out := ir.Sharding{Mesh: mesh, Dims: make([]ir.DimSharding, rank)}
	for d := range out.Dims {
		out.Dims[d] = ir.DimSharding{Closed: p.Manual == p.allAxes(), Priority: ir.NoPriority}
		if d < len(axes) {
			out.Dims[d].Axes = over.Parts(axes[d])
		}
	}
	if t.U != 0 {
		out.Unreduced = over.Parts(t.U.Axes())
	}
	return m.InternSharding(out)
}
