package propagate

import (
	"slices"
	"strconv"

	"autoshard/ir"
	"autoshard/subaxis"
)

// rewriteShardings replaces every sharding of the module: of values, of function results, and in attributes of ops
// that have no results. f is asked once for each distinct sharding.
func rewriteShardings(m *ir.Module, f func(*ir.Sharding) ir.Sharding) {
	known := make([]ir.ShardingID, m.NumShardings()) // by old id
	rewrite := func(id ir.ShardingID) ir.ShardingID {
		if id == 0 {
			return 0
		}
		if known[id] == 0 {
			s := m.ShardingOf(id).Clone()
			known[id] = m.InternSharding(f(&s))
		}
		return known[id]
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if id := m.Sharding(v); id != 0 {
			m.SetSharding(v, rewrite(id))
		}
	}
	m.Walk(m.Body(), func(op ir.OpID) {
		if fn := m.FuncOf(op); fn != 0 {
			results := m.Func(fn).ResultShardings
			for i, id := range results {
				results[i] = rewrite(id)
			}
		}
		if list, ok := m.Attr(op, "sdy.sharding").(ir.ShardingsAttr); ok {
			list = slices.Clone(list)
			for i, id := range list {
				list[i] = rewrite(id)
			}
			m.SetAttrs(op, m.OpAttrs(op).With("sdy.sharding", list))
		}
	})
}

// LiftInlinedMeshes gives every mesh that is written inside a sharding a name, and keeps one of several named
// meshes with equal content. Shardy: -sdy-lift-inlined-meshes.
func LiftInlinedMeshes(m *ir.Module) {
	to := make([]ir.MeshID, m.NumMeshes())
	changed := false
	var named []ir.MeshID
	for id := range m.NamedMeshes() {
		to[id] = id
		if i := slices.IndexFunc(named, func(o ir.MeshID) bool { return m.Mesh(o).Equal(&m.Mesh(id).Mesh) }); i >= 0 {
			to[id], changed = named[i], true
			m.Erase(m.Mesh(id).Op)
			m.Mesh(id).Op = 0
			continue
		}
		named = append(named, id)
	}
	lift := func(id ir.MeshID) ir.MeshID {
		if to[id] == 0 {
			changed = true
			to[id] = liftMesh(m, id, named)
			if !slices.Contains(named, to[id]) {
				named = append(named, to[id])
			}
		}
		return to[id]
	}
	if slices.Contains(to[min(1, len(to)):], 0) {
		for _, id := range usedMeshes(m) {
			lift(id)
		}
	}
	if changed {
		replaceMeshes(m, lift)
	}
}

// usedMeshes returns the meshes of all shardings and replica groups in the order of the text.
func usedMeshes(m *ir.Module) []ir.MeshID {
	var list []ir.MeshID
	add := func(id ir.ShardingID) {
		if id != 0 {
			list = append(list, m.ShardingOf(id).Mesh)
		}
	}
	m.Walk(m.Body(), func(op ir.OpID) {
		for _, a := range m.OpAttrs(op) {
			switch v := a.Value.(type) {
			case *ir.MeshAxesGroups:
				list = append(list, v.Mesh)
			case ir.ShardingsAttr:
				for _, id := range v {
					add(id)
				}
			}
		}
		for b := range m.InnerBlocks(op) {
			for _, v := range m.BlockArgs(b) {
				add(m.Sharding(v))
			}
		}
		if f := m.FuncOf(op); f != 0 {
			for _, id := range m.Func(f).ResultShardings {
				add(id)
			}
		}
		for _, v := range m.Results(op) {
			add(m.Sharding(v))
		}
	})
	return list
}

func liftMesh(m *ir.Module, id ir.MeshID, named []ir.MeshID) ir.MeshID {
	mesh := m.Mesh(id).Mesh
	for _, o := range named {
		if m.Mesh(o).Equal(&mesh) {
			return o
		}
	}
	base := "mesh"
	switch {
	case mesh.IsMaximal():
		base = "maximal_mesh_" + strconv.FormatInt(mesh.DeviceIDs[0], 10)
	case mesh.IsEmpty():
		base = "empty_mesh"
	}
	name := base
	for i := 0; symbolTaken(m, name); i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	return m.AddMesh(name, mesh, nil, 0)
}

func symbolTaken(m *ir.Module, name string) bool {
	for id := range m.NamedMeshes() {
		if m.Mesh(id).Name == name {
			return true
		}
	}
	_, taken := m.LookupFunc(name)
	return taken
}

// replaceMeshes rewrites all references to meshes.
func replaceMeshes(m *ir.Module, to func(ir.MeshID) ir.MeshID) {
	rewriteShardings(m, func(s *ir.Sharding) ir.Sharding {
		s.Mesh = to(s.Mesh)
		return *s
	})
	m.Walk(m.Body(), func(op ir.OpID) {
		for _, a := range m.OpAttrs(op) {
			switch v := a.Value.(type) {
			case *ir.MeshAxesGroups:
				m.SetAttrs(op, m.OpAttrs(op).With(a.Name, &ir.MeshAxesGroups{Mesh: to(v.Mesh), Axes: v.Axes}))
			case *ir.AxesAttr:
				if v.Mesh != 0 {
					m.SetAttrs(op, m.OpAttrs(op).With(a.Name, &ir.AxesAttr{Mesh: to(v.Mesh), Axes: v.Axes}))
				}
			}
		}
	})
}

// RemoveSizeOneAxes drops mesh axes of size 1 from all shardings: they shard nothing.
// Shardy: -sdy-remove-size-one-axes.
func RemoveSizeOneAxes(m *ir.Module) {
	if !hasSizeOneAxis(m) {
		return
	}
	rewriteShardings(m, func(s *ir.Sharding) ir.Sharding {
		withoutSizeOne(s)
		return *s
	})
}

// withoutSizeOne drops axes of size one from a sharding.
func withoutSizeOne(s *ir.Sharding) {
	keep := func(axes []subaxis.Ref) []subaxis.Ref {
		return slices.DeleteFunc(axes, func(r subaxis.Ref) bool { return r.Size == 1 })
	}
	for i := range s.Dims {
		d := &s.Dims[i]
		d.Axes = subaxis.AppendMerge(nil, keep(d.Axes)...)
		if len(d.Axes) == 0 && d.Closed {
			d.Priority = ir.NoPriority
		}
	}
	s.Replicated, s.Unreduced = keep(s.Replicated), keep(s.Unreduced)
}

func hasSizeOneAxis(m *ir.Module) bool {
	for id := range m.NumMeshes() {
		if slices.ContainsFunc(m.Mesh(ir.MeshID(id)).Axes, func(a subaxis.Axis) bool { return a.Size == 1 }) {
			return true
		}
	}
	return false
}

// TagMeshes notes on every named mesh its content in the form of StableHLO's own meshes, as an attribute: the last
// step of -sdy-lift-inlined-meshes. Nothing in this module reads it: it is there for the tools that do.
func TagMeshes(m *ir.Module) {
	for id := range m.NamedMeshes() {
		mesh := m.Mesh(id)
		op := mesh.Op
		if m.Attr(op, stablehloMesh) != nil {
			continue
		}
		axes := ir.ArrayAttr{}
		for _, a := range mesh.Axes {
			axes = append(axes, ir.DictAttr(ir.MakeAttrs(ir.NamedAttr{Name: "name", Value: ir.StringAttr(a.Name)},
				ir.NamedAttr{Name: "size", Value: m.I64(a.Size)})))
		}
		tag := ir.MakeAttrs(ir.NamedAttr{Name: "axes", Value: axes})
		if ids := mesh.DeviceIDs; ids != nil {
			tag = tag.With("device_ids", m.DenseInts(ids, int64(len(ids))))
		}
		m.SetAttrs(op, m.OpAttrs(op).With(stablehloMesh, ir.DictAttr(tag)))
	}
}

const stablehloMesh = "stablehlo.mesh"
