package commonmesh

import (
	"autoshard/ir"
	"autoshard/subaxis"
)

// visitor replaces axes, and the meshes they are of, wherever a module names them.
type visitor struct {
	m    *ir.Module
	mesh ir.MeshID // in the place of all that place blocks; 0: they stay
	axes func(mesh ir.MeshID, axes ir.ShardAxes) ir.ShardAxes
}

// visit visits the shardings of values and results, and the attributes of ops, in the order of the program.
func (v *visitor) visit() {
	m := v.m
	for f := range m.Funcs() {
		results := m.Func(f).ResultShardings
		for i, s := range results {
			results[i] = v.sharding(s)
		}
		v.op(m.Func(f).Op)
		m.Walk(m.Func(f).Body, v.op)
	}
}

func (v *visitor) op(op ir.OpID) {
	m := v.m
	for x := range m.OwnValues(op) {
		m.SetSharding(x, v.sharding(m.Sharding(x)))
	}
	attrs := m.OpAttrs(op)
	for _, a := range attrs {
		if to := v.attr(a.Value); to != nil {
			attrs = attrs.With(a.Name, to)
		}
	}
	m.SetAttrs(op, attrs)
}

// places says whether a mesh places blocks on devices: it has more than one. That of a manual computation without shardings is unknown, and
// read as one of axes of size 1.
func places(m *ir.Module, id ir.MeshID) bool { return m.Mesh(id).Devices() > 1 }

func (v *visitor) meshOf(id ir.MeshID) ir.MeshID {
	if v.mesh == 0 || !places(v.m, id) {
		return id
	}
	return v.mesh
}

func (v *visitor) sharding(id ir.ShardingID) ir.ShardingID {
	if id == 0 {
		return 0
	}
	s := *v.m.ShardingOf(id)
	dims := make([]ir.DimSharding, len(s.Dims))
	for d, dim := range s.Dims {
		dims[d] = dim
		dims[d].Axes = v.axes(s.Mesh, dim.Axes)
	}
	s.Dims = dims
	s.Replicated, s.Unreduced = inOrder(v.axes(s.Mesh, s.Replicated)), inOrder(v.axes(s.Mesh, s.Unreduced))
	s.Mesh = v.meshOf(s.Mesh)
	return v.m.InternSharding(s)
}

// inOrder returns axes in the order of their mesh.
func inOrder(axes ir.ShardAxes) ir.ShardAxes {
	if len(axes) == 0 {
		return nil
	}
	return subaxis.SortMerge(axes)
}

// attr returns what takes the place of an attribute, nil for one that names no axes.
func (v *visitor) attr(a ir.Attr) ir.Attr {
	switch a := a.(type) {
	case ir.ShardingAttr:
		return ir.ShardingAttr(v.sharding(ir.ShardingID(a)))
	case ir.ShardingsAttr:
		out := make(ir.ShardingsAttr, len(a))
		for i, s := range a {
			out[i] = v.sharding(s)
		}
		return out
	case *ir.AxesAttr:
		return &ir.AxesAttr{Mesh: v.meshOf(a.Mesh), Axes: v.axes(a.Mesh, a.Axes)}
	case *ir.MeshAxesGroups:
		return &ir.MeshAxesGroups{Mesh: v.meshOf(a.Mesh), Axes: v.axes(a.Mesh, a.Axes)}
	case *ir.AxesPerDimAttr:
		out := &ir.AxesPerDimAttr{Mesh: v.meshOf(a.Mesh)}
		for _, axes := range a.Dims {
			out.Dims = append(out.Dims, v.axes(a.Mesh, axes))
		}
		return out
	case *ir.AllToAllAttr:
		out := &ir.AllToAllAttr{Mesh: v.meshOf(a.Mesh)}
		for _, move := range a.Moves {
			move.Axes = v.axes(a.Mesh, move.Axes)
			out.Moves = append(out.Moves, move)
		}
		return out
	}
	return nil
}
