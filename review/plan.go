package review

import (
	"context"
	"reflect"

	"autoshard/answer"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
	"autoshard/plan"
	"autoshard/program"
)

// Plan returns the document of a plan, priced on a hardware. Errors are those of lowering the plan, or the context's.
func Plan(ctx context.Context, p *plan.Plan, hardware cost.Hardware) (d *Document, err error) {
	defer diag.Recover("review", &err)
	m, mesh, err := program.Parse(ctx, p.Program)
	if err != nil {
		return nil, err
	}
	lowered, err := p.Lowered(ctx)
	if err != nil {
		return nil, err
	}
	t := newTables(m, mesh)
	t.d.Model, t.d.Inputs, t.d.Outputs, t.d.Findings = p.Model, p.Inputs, p.Outputs, p.Findings
	printed := mlir.ValueNames(m)
	args := m.BlockArgs(m.MainFunc().Body)
	inputs := map[ir.ValueID]string{}
	for i, v := range args {
		inputs[v] = p.Inputs[i].Name
	}
	label := func(v ir.ValueID) string {
		if name := inputs[v]; name != "" {
			return name
		}
		return printed[v]
	}
	main, _ := m.Main()
	g, err := t.write(ctx, label, names.Results(m, main).Names)
	if err != nil {
		return nil, err
	}
	if t.d.Plan, err = g.step(ctx, p, lowered, hardware); err != nil {
		return nil, err
	}
	complete(reflect.ValueOf(t.d))
	return t.d, ctx.Err()
}

// step prices a step of a plan.
func (g *graph) step(ctx context.Context, p *plan.Plan, lowered *program.Program, hardware cost.Hardware) (s *Step, err error) {
	s = &Step{Hardware: p.Hardware, MemoryLimit: p.Memory, Estimate: p.Estimate, Baselines: p.Baselines, Certificate: p.Certificate,
		Collectives: p.Collectives, Constraints: p.Constraints, Rewrites: p.Rewrites, Recomputed: p.Recomputed, Meshes: p.Meshes,
		Options: p.Options, Hash: p.Hashes.Plan}
	s.Collectives = lists.Map(p.Collectives, func(c plan.Collective) plan.Collective { c.Source = g.shortScoped(c.Source); return c })
	if s.Breakdown, err = lowered.Breakdown(ctx, hardware, program.DefaultAhead); err != nil {
		return nil, err
	}
	for i := range s.Breakdown.Groups {
		s.Breakdown.Groups[i].Sources = lists.Map(s.Breakdown.Groups[i].Sources, g.shortScoped)
	}
	if s.Memory, err = lowered.Memory(ctx, hardware); err != nil {
		return nil, err
	}
	s.Memory.At.Source = g.shortScoped(s.Memory.At.Source)
	for i := range s.Memory.Largest {
		s.Memory.Largest[i].Source = g.shortScoped(s.Memory.Largest[i].Source)
	}
	simulated, err := lowered.Simulate(ctx, hardware, program.DefaultAhead)
	if err != nil {
		return nil, err
	}
	s.Timeline = g.timeline(simulated)
	return s, nil
}

// timeline writes a simulated step in columns.
func (g *graph) timeline(s *program.Simulated) Timeline {
	t := Timeline{Seconds: s.Seconds, Tracks: append([]string{"units"}, s.Links...)}
	scopes := map[string]int32{} // by place: what a device runs are other operations, with the places of these
	for i, op := range g.ops {
		if at := answer.Scoped(g.m, g.m.OpLoc(op)); at != "" {
			scopes[at] = g.d.Ops.Scope[i]
		}
	}
	for i := range s.Events {
		e := &s.Events[i]
		source := g.text(g.shortScoped(e.Source))
		scope, ok := scopes[e.Source]
		if !ok {
			scope = none
		}
		on := []int32{0}
		if e.Links != nil {
			on = lists.Map(e.Links, func(l int) int32 { return int32(l) + 1 })
		}
		t.Name, t.Type, t.Source = append(t.Name, g.text(e.Name)), append(t.Type, g.text(e.Type)), append(t.Source, source)
		t.Scope, t.On, t.Moves = append(t.Scope, scope), append(t.On, on), append(t.Moves, e.Bytes)
		t.Start, t.Length = append(t.Start, e.Start), append(t.Length, e.Length)
		t.Waited = append(t.Waited, e.Waited)
	}
	return t
}
