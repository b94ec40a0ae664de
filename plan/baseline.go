package plan

import (
	"context"
	"fmt"
	"time"

	"autoshard/collectives"
	"autoshard/internal/parallel"
	"autoshard/ir"
	"autoshard/program"
	"autoshard/propagate"
	"autoshard/subaxis"
)

// baseline is a plan without search.
type baseline struct {
	name       string
	note       string
	kept       bool       // what the user wrote
	settled    *ir.Module // nil where the baseline does not apply
	assignment collectives.Assignment
	lowered    *lowered
}

func (b *baseline) describe(limit int64) Baseline {
	out := Baseline{Name: b.name, Note: b.note}
	if b.lowered == nil {
		return out
	}
	out.Estimate = program.EstimateOf(b.lowered.program, &b.lowered.step)
	out.Fits = out.Estimate.PeakBytes <= limit
	return out
}

// baselines makes the three plans that every chosen plan is compared with.
func (p *planner) baselines(ctx context.Context) ([]baseline, error) {
	replicated := p.module.Clone()
	strip(replicated)
	if err := ctx.Err(); err != nil { // copies of large modules take tens of milliseconds
		return nil, err
	}
	batches, note := p.dataParallel()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ignores, asks := "", p.annotated()
	if asks {
		ignores = "ignores the shardings that the model asks for"
	}
	if note == "" {
		note = ignores
	}
	out := []baseline{
		{name: "replicated", note: ignores, settled: replicated},
		{name: "data parallel", note: note, settled: batches},
	}
	follows := asks || len(p.module.OpsOf(p.module.MainFunc().Body, ir.OpSdyManualComputation)) > 0 // else nothing follows from nothing
	if follows {
		out = append(out, p.annotationsOnly())
	}
	var fresh []*baseline
	for i := range out {
		b := &out[i]
		if b.settled == nil || p.reuse(b, i) {
			continue
		}
		if err := p.derive(ctx, b, b.settled != replicated); err != nil {
			return nil, err
		}
		fresh = append(fresh, b)
	}
	if err := p.lowerBaselines(ctx, fresh); err != nil {
		return nil, err
	}
	if !follows {
		whole := out[0]
		whole.name, whole.note, whole.kept = annotationsName, "", true
		out = append(out, whole)
	}
	return out, nil
}

// annotationsName is what the baseline of the user's annotations is called.
const annotationsName = "annotations only"

// annotationsOnly is the baseline that keeps what the user wrote, with what follows from it.
func (p *planner) annotationsOnly() baseline {
	m := p.module.Clone()
	p.tieInputs(m)
	return baseline{name: annotationsName, kept: true, settled: m}
}

// lowerBaseline propagates the shardings of a baseline, and lowers and prices its program.
func (p *planner) lowerBaseline(ctx context.Context, b *baseline, planner *collectives.Planner) error {
	if err := p.lowerPlainly(ctx, b, planner); err != nil {
		return err
	}
	b.lowered = p.improve(ctx, b.lowered)
	return nil
}

// lowerPlainly does so without the rewrites of reshards that the search does not see.
func (p *planner) lowerPlainly(ctx context.Context, b *baseline, planner *collectives.Planner) error {
	err := p.derive(ctx, b, true)
	if err != nil {
		return err
	}
	b.lowered, err = p.lower(ctx, b.settled, b.assignment, planner, collectives.Anywhere)
	return err
}

// derive propagates the shardings of a baseline, if it has any, and cuts each op as they ask for.
func (p *planner) derive(ctx context.Context, b *baseline, propagates bool) error {
	if propagates {
		p.report("propagate", 0, 0)
		if err := propagate.Spread(ctx, b.settled); err != nil {
			return err
		}
	}
	p.report("baselines", 0, 0)
	if err := collectives.Settle(ctx, b.settled, p.mesh); err != nil {
		return err
	}
	p.tie(b.settled)
	var err error
	if p.WholeAxes {
		b.assignment, err = p.wholeBaseline(ctx, b.settled)
	} else {
		b.assignment, err = collectives.Derive(ctx, b.settled)
	}
	return err
}

// lowerBaselines lowers and prices the programs of baselines.
func (p *planner) lowerBaselines(ctx context.Context, list []*baseline) error {
	took, errs := make([]time.Duration, len(list)), make([]error, len(list))
	parallel.Each(len(list), func(i int) {
		b, begun := list[i], p.now()
		planner := collectives.NewPlanner(p.model, p.module.Mesh(p.mesh).Axes)
		b.lowered, errs[i] = p.lower(ctx, b.settled, b.assignment, planner, collectives.Anywhere)
		if took[i] = p.now().Sub(begun); errs[i] == nil {
			b.lowered = p.improve(ctx, b.lowered)
		}
	})
	for i, err := range errs {
		if p.lowering = max(p.lowering, took[i]); err != nil {
			return fmt.Errorf("baseline %s: %w", list[i].name, err)
		}
	}
	return nil
}

// tie gives results that replace inputs the inputs' shardings.
func (p *planner) tie(m *ir.Module) {
	f := m.MainFunc()
	for i, arg := range p.state {
		if arg >= 0 {
			f.ResultShardings[i] = m.Sharding(m.BlockArgs(f.Body)[arg])
		}
	}
}

// tieInputs gives inputs that results replace, and to which the user gave no sharding, those that the user gave the results.
func (p *planner) tieInputs(m *ir.Module) {
	f := m.MainFunc()
	for i, arg := range p.state {
		if arg < 0 {
			continue
		}
		if v := m.BlockArgs(f.Body)[arg]; m.Sharding(v) == 0 {
			m.SetSharding(v, f.ResultShardings[i])
		}
	}
}

// strip removes what the user wrote, except inside and around manual computations, which need their shardings.
func strip(m *ir.Module) {
	f := m.MainFunc()
	for _, arg := range m.BlockArgs(f.Body) {
		m.SetSharding(arg, 0)
	}
	clear(f.ResultShardings)
	m.Walk(f.Body, func(op ir.OpID) {
		if k := m.Kind(op); k == ir.OpSdyManualComputation {
			return
		} else if k == ir.OpSdyShardingConstraint {
			m.ReplaceUses(m.Result(op, 0), m.Operand(op, 0))
		}
		for _, v := range m.Results(op) {
			m.SetSharding(v, 0)
		}
	})
	ir.EraseDead(m)
}

// dataParallel returns the module with the examples of its batch inputs over all axes, or why there is none.
func (p *planner) dataParallel() (*ir.Module, string) {
	m := p.module.Clone()
	strip(m)
	if !p.batch(m) {
		return nil, "no input has a batch dimension that the mesh divides"
	}
	return m, ""
}

// batch cuts inputs that carry the batch, at the dimension that counts examples, along all axes, as far as these divide it. It reports
// whether there are any.
func (p *planner) batch(m *ir.Module) bool {
	found := false
	for _, arg := range batchInputs(m) {
		if l := p.inBatches(arg, p.axes()); l.Shards() > 1 {
			m.SetSharding(arg, m.InternSharding(l.Sharding(p.mesh)))
			found = true
		}
	}
	return found
}

// along returns the layout of a value that is cut at one dimension, along some axes as far as these divide it.
func (p *planner) along(v ir.ValueID, dim int, axes []subaxis.Ref) collectives.Layout {
	dims := p.module.Shape(v)
	l := collectives.Layout{Dims: make([][]subaxis.Ref, len(dims))}
	l.Dims[dim] = subaxis.Dividing(axes, dims[dim])
	return l
}

// axes are all axes of the mesh that have more than one device.
func (p *planner) axes() []subaxis.Ref {
	var all []subaxis.Ref
	mesh := &p.module.Mesh(p.mesh).Mesh
	for i, a := range mesh.Axes {
		if a.Size > 1 {
			all = append(all, mesh.Full(i))
		}
	}
	return all
}
