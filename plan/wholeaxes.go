package plan

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// wholeAxes returns the axes before the first part of one.
func wholeAxes(mesh *subaxis.Mesh, axes []subaxis.Ref) []subaxis.Ref {
	if at := slices.IndexFunc(axes, func(r subaxis.Ref) bool { return !mesh.IsFull(r) }); at >= 0 {
		return axes[:at]
	}
	return axes
}

// wholeBaseline leaves only whole axes in a settled module, but for what the user wrote, and in how its ops are cut.
func (p *planner) wholeBaseline(ctx context.Context, m *ir.Module) (collectives.Assignment, error) {
	mesh := &m.Mesh(p.mesh).Mesh
	whole := func(id, wrote ir.ShardingID) ir.ShardingID {
		if id == 0 || wrote != 0 && hasParts(mesh, p.module.ShardingOf(wrote)) {
			return id
		}
		s := m.ShardingOf(id).Clone()
		for d := range s.Dims {
			s.Dims[d].Axes = wholeAxes(mesh, s.Dims[d].Axes)
		}
		return m.InternSharding(s)
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		wrote := ir.ShardingID(0)
		if int(v) < p.module.NumValues() {
			wrote = p.module.Sharding(v)
		}
		m.SetSharding(v, whole(m.Sharding(v), wrote))
	}
	main, _ := m.Main()
	wrote := p.module.Func(main).ResultShardings
	for i, id := range m.Func(main).ResultShardings {
		m.Func(main).ResultShardings[i] = whole(id, wrote[i])
	}
	p.tie(m)
	assignment, err := collectives.Derive(ctx, m)
	for _, factors := range assignment {
		for f := range factors {
			factors[f] = wholeAxes(mesh, factors[f])
		}
	}
	return assignment, err
}

// hasParts says whether a sharding cuts a dimension along a part of an axis.
func hasParts(mesh *subaxis.Mesh, s *ir.Sharding) bool {
	return slices.ContainsFunc(s.Dims, func(d ir.DimSharding) bool { return len(wholeAxes(mesh, d.Axes)) < len(d.Axes) })
}
