package plan

import (
	"autoshard/answer"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/specfmt"
	"autoshard/program"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// record adds to a plan what other programs need to apply it, and how it was asked for.
func (p *planner) record(plan *Plan, chosen *lowered) {
	constraints, written := p.constraints(chosen.annotated)
	plan.Constraints = constraints
	p.refine(plan, chosen.annotated, written)
	plan.Options = p.request()
}

// timelineOf leaves of a simulated step what a plan holds.
func timelineOf(o program.Overlap) Timeline {
	return Timeline{Seconds: o.Seconds, Hidden: o.Hidden, Ahead: o.Ahead, Busy: o.Busy}
}

// constraints describes the shardings that the user wrote inside the program, in a copy of the module that is planned.
func (p *planner) constraints(planned *ir.Module) (list []Constraint, shardings []ir.ShardingID) {
	list = []Constraint{}
	body := p.module.MainFunc().Body
	for v := ir.ValueID(1); int(v) < p.module.NumValues(); v++ {
		if !p.written(v) || p.module.DefiningOp(v) == 0 && p.module.ArgBlock(v) == body {
			continue
		}
		t, id := planned.ValueType(v), planned.Sharding(v)
		if id == 0 {
			continue
		}
		list = append(list, Constraint{Type: answer.FormatType(t, t.Dims), Sharding: planned.FormatSharding(id),
			Spec: specfmt.Notation(planned, id), Source: answer.Scoped(planned, planned.OpLoc(planned.OpOf(v)))})
		shardings = append(shardings, id)
	}
	return list, shardings
}

// refine gives a plan the mesh of which its shardings need no parts of axes, and their PartitionSpecs over that. There is none where the
// parts have no common refinement.
func (p *planner) refine(plan *Plan, planned *ir.Module, constraints []ir.ShardingID) {
	f := planned.MainFunc()
	all := [][]ir.ShardingID{lists.Map(planned.BlockArgs(f.Body), planned.Sharding), f.ResultShardings, constraints}
	cuts := refine.New(planned.Mesh(p.mesh).Mesh)
	for _, list := range all {
		for _, id := range list {
			if id == 0 {
				continue
			}
			for _, d := range planned.ShardingOf(id).Dims {
				if cuts.Add(d.Axes...) != nil {
					return
				}
			}
		}
	}
	fine := cuts.Mesh()
	plan.RefinedMesh = fine.Fine.Axes
	for i := range plan.Inputs {
		plan.Inputs[i].RefinedSpec = refinedSpec(planned, all[0][i], fine)
	}
	for i := range plan.Outputs {
		plan.Outputs[i].RefinedSpec = refinedSpec(planned, all[1][i], fine)
	}
	for i := range plan.Constraints {
		plan.Constraints[i].RefinedSpec = refinedSpec(planned, all[2][i], fine)
	}
}

// refinedSpec returns the PartitionSpec of a sharding over a refined mesh, "" where there is no sharding.
func refinedSpec(m *ir.Module, id ir.ShardingID, fine *refine.Mesh) string {
	if id == 0 {
		return ""
	}
	s := ir.Sharding{Dims: lists.Map(m.ShardingOf(id).Dims, func(d ir.DimSharding) ir.DimSharding {
		axes := lists.Map(fine.Axes(d.Axes), func(a int) subaxis.Ref { return fine.Fine.Full(a) })
		return ir.DimSharding{Axes: axes, Closed: true, Priority: ir.NoPriority}
	})}
	text, _, err := specfmt.Format(specfmt.PartitionSpec, &specfmt.Layout{Mesh: &ir.MeshDecl{Mesh: fine.Fine}, Sharding: s})
	if err != nil {
		return ""
	}
	return text
}
