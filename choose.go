package autoshard

import (
	"context"
	"errors"

	"autoshard/internal/diag"
	"autoshard/search"
	"autoshard/search/space"
)

// memoryAttempts bounds how often the search runs again with a tighter limit because reshards, which it does not
// see as memory, went over the real one.
const memoryAttempts = 6

// choose searches, and lowers what it finds. The bound of the certificate is that of the first search, whose limit
// is the user's; later ones only look for a plan that fits once reshards count.
func (p *planner) choose(ctx context.Context, s *space.Space) (*lowered, Certificate, error) {
	limit, bound := p.Memory, int64(0)
	for attempt := range memoryAttempts {
		p.report("search")
		problem, err := s.Build(limit)
		if err != nil {
			return nil, Certificate{}, err
		}
		result, err := search.Solve(ctx, problem, p.searchOptions(s))
		if errors.Is(err, diag.ErrInfeasible) {
			break
		}
		if err != nil {
			return nil, Certificate{}, err
		}
		chosen, err := p.apply(s, result.Solution)
		if err != nil {
			return nil, Certificate{}, err
		}
		if attempt == 0 {
			bound = result.Bound
		}
		over := chosen.step.Peak - p.Memory
		if over <= 0 {
			return chosen, certificate(result.Cost, bound, result.Status, result.Steps, p.Seed), nil
		}
		if limit = min(limit, result.Peak) - over; limit <= 0 {
			break
		}
	}
	return p.least(ctx, s, bound)
}

func (p *planner) searchOptions(s *space.Space) search.Options {
	o := search.Options{Steps: p.Steps, Seed: p.Seed, Initial: s.WarmStarts()}
	if p.Progress != nil {
		o.Progress = func(e search.Event) { p.Progress(Progress{Stage: "search", Cost: e.Cost, Bound: e.Bound}) }
	}
	return o
}

func certificate(cost, bound int64, status search.Status, steps int64, seed uint64) Certificate {
	c := Certificate{Cost: cost, Bound: bound, Status: status.String(), Steps: steps, Seed: seed}
	if cost > 0 {
		c.Gap = float64(cost-bound) / float64(cost)
	}
	if c.Gap > 0 && status == search.Optimal {
		c.Status = search.Feasible.String()
	}
	return c
}

// apply lowers a solution of the search.
func (p *planner) apply(s *space.Space, solution []int32) (*lowered, error) {
	annotated := p.module.Clone()
	assignment := s.Apply(annotated, solution)
	return p.lower(annotated, assignment, s.Planner())
}

// least returns the plan that needs the least memory, if that fits; otherwise the error says how much it needs.
func (p *planner) least(ctx context.Context, s *space.Space, bound int64) (*lowered, Certificate, error) {
	p.report("smallest memory")
	problem, err := s.Build(0)
	if err != nil {
		return nil, Certificate{}, err
	}
	smallest, err := search.MinPeak(ctx, problem, p.searchOptions(s))
	if err != nil {
		return nil, Certificate{}, err
	}
	chosen, err := p.apply(s, smallest.Solution)
	if err != nil {
		return nil, Certificate{}, err
	}
	if chosen.step.Peak > p.Memory {
		return nil, Certificate{}, diag.Infeasible(diag.MemoryLimit, diag.Position{},
			"no plan found that fits in %d bytes per device; the smallest limit known to work is %d", p.Memory, chosen.step.Peak)
	}
	return chosen, certificate(smallest.Cost, bound, search.Feasible, smallest.Steps, p.Seed), nil
}
