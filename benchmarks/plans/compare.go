package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"autoshard"
	"autoshard/benchmarks/experts"
	"autoshard/cost"
	"autoshard/subaxis"
)

// unlimited is more memory than any plan needs.
const unlimited = int64(1) << 50

// factors are the memory limits by the smallest peak of the experts; 0 is none.
var factors = []float64{0, 1, 1.2, 2}

// planner makes plans with one hardware and a time for each; a budget of 0 is none.
type planner struct {
	hardware cost.Hardware
	budget   time.Duration
}

// answer is a plan by its figures, or why there is none.
type answer struct {
	seconds float64
	peak    int64
	gap     float64
	took    time.Duration
	err     error
}

// fits says whether the answer is a plan within a limit.
func (a *answer) fits(limit int64) bool { return a.err == nil && a.peak <= limit }

// expert is an expert's plan: its annotations propagated, and the model that has them, which the planner completes.
type expert struct {
	name      string
	model     *autoshard.Model
	annotated answer
}

// row is a model on a mesh under a limit.
type row struct {
	model  string
	mesh   []subaxis.Axis
	factor float64 // of the smallest peak of the experts; 0: no limit
	limit  int64
	best   string // the expert that is fastest within the limit
	expert answer
	ours   answer
}

// compare returns the rows of a model on a mesh.
func (p *planner) compare(ctx context.Context, m *experts.Model, mesh []subaxis.Axis) ([]row, error) {
	text, err := m.Text()
	if err != nil {
		return nil, err
	}
	model, err := autoshard.ReadModel(ctx, m.Name, text)
	if err != nil {
		return nil, err
	}
	list, err := p.experts(ctx, m, mesh, text)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, factor := range factors {
		r := row{model: m.Name, mesh: mesh, factor: factor, limit: limit(list, factor)}
		r.ours, _ = p.plan(ctx, model, mesh, r.limit)
		p.fastest(ctx, list, &r)
		rows = append(rows, r)
	}
	return rows, nil
}

// limit returns a multiple of the smallest peak of experts.
func limit(list []expert, factor float64) int64 {
	if factor == 0 {
		return unlimited
	}
	least := slices.MinFunc(list, func(a, b expert) int { return int(a.annotated.peak - b.annotated.peak) }).annotated.peak
	return int64(factor * float64(least))
}

// experts returns the plans of experts for a mesh.
func (p *planner) experts(ctx context.Context, m *experts.Model, mesh []subaxis.Axis, text []byte) ([]expert, error) {
	var list []expert
	for _, plan := range m.PlansOn(mesh) {
		annotated, err := plan.Annotate(ctx, text)
		if err != nil {
			return nil, err
		}
		x := expert{name: plan.Name}
		if x.model, err = autoshard.ReadModel(ctx, plan.Name, annotated); err != nil {
			return nil, err
		}
		if x.annotated, err = p.propagated(ctx, x.model); err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// fastest finds the fastest plan of the experts within the limit of a row.
func (p *planner) fastest(ctx context.Context, list []expert, r *row) {
	offer := func(name string, a answer) {
		if a.fits(r.limit) && (r.best == "" || a.seconds < r.expert.seconds) {
			r.best, r.expert = name, a
		}
	}
	for i := range list {
		x := &list[i]
		offer(x.name, x.annotated)
		pinned, _ := p.plan(ctx, x.model, nil, r.limit)
		offer(x.name+", as pins", pinned)
	}
}

// plan plans a model; without a mesh, on that which the model declares.
func (p *planner) plan(ctx context.Context, model *autoshard.Model, mesh []subaxis.Axis, limit int64) (answer, *autoshard.Plan) {
	if p.budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.budget)
		defer cancel()
	}
	begin := time.Now()
	plan, err := autoshard.MakePlan(ctx, model, autoshard.PlanOptions{Mesh: mesh, Hardware: p.hardware, Memory: limit, Now: time.Now})
	a := answer{took: time.Since(begin), err: err}
	if err == nil {
		a.seconds, a.peak, a.gap = plan.Estimate.Seconds, plan.Estimate.PeakBytes, plan.Certificate.Gap
	}
	return a, plan
}

// propagated returns the figures of a model whose annotations are propagated and not completed otherwise.
func (p *planner) propagated(ctx context.Context, model *autoshard.Model) (answer, error) {
	plan, err := autoshard.MakePlan(ctx, model, autoshard.PlanOptions{Hardware: p.hardware, Memory: unlimited, Steps: 1})
	if err != nil {
		return answer{}, err
	}
	at := slices.IndexFunc(plan.Baselines, func(b autoshard.Baseline) bool { return b.Name == "annotations only" })
	if at < 0 {
		return answer{}, errors.New("the plan does not say what its annotations alone cost")
	}
	e := &plan.Baselines[at].Estimate
	return answer{seconds: e.Seconds, peak: e.PeakBytes}, nil
}
