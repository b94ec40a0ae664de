package plan

import (
	"context"

	"autoshard/answer"
	"autoshard/collectives"
)

// AsAnnotated returns the baseline "annotations only" as a plan: the program has the shardings that its user wrote and what follows
// from them, and nothing is searched. Its certificate has no bound. Memory does not limit it. Errors are those of [Make], without
// diag.ErrInfeasible.
func AsAnnotated(ctx context.Context, source *answer.Source, o Options) (*Plan, error) {
	p, err := newPlanner(ctx, source, o)
	if err != nil {
		return nil, err
	}
	p.kept() // what cannot be is said
	b := p.annotationsOnly()
	if err := p.lowerBaseline(ctx, &b, collectives.NewPlanner(p.model, p.module.Mesh(p.mesh).Axes)); err != nil {
		return nil, err
	}
	only := choice{planner: p, best: b.lowered}
	gains, _ := p.gains(ctx, b.lowered)
	return p.plan(ctx, b.lowered, []baseline{b}, only.certificate(), gains)
}
