package plan

import (
	"context"
	"errors"

	"autoshard/internal/diag"
	"autoshard/search"
)

// searchSteps are those of a search at most.
const searchSteps = search.DefaultSteps / 4

// briefly solves the problem of a level under a memory limit with a quarter of the steps that are left, and no more than some, roughly
// where it is large.
func (c *choice) briefly(ctx context.Context, l *level, limit, most int64) (search.Result, error) {
	c.tell("search")
	options := c.options(l, l.problem, 0.25, most, l.large())
	if options.Brief = true; l.large() {
		options.Messages, options.Gap, options.Quick = &l.messages, roughGap, true
	}
	return c.find(ctx, l.problem.WithLimit(limit), options)
}

// find solves a problem. There is no solution where none fits, or none was found in time.
func (c *choice) find(ctx context.Context, p *search.Problem, o search.Options) (search.Result, error) {
	result, err := search.Solve(ctx, p, o)
	c.spent += result.Steps
	c.early = c.early || ctx.Err() != nil
	if errors.Is(err, diag.ErrInfeasible) || c.gaveUp(err) {
		return search.Result{}, c.late.Err()
	}
	return result, err
}

// options returns those of a search that may take a part of the steps that are left, and no more than the given ones; 0 are those of
// package search. A rough search takes what it needs where there is no budget. While no plan is known to fit, the search may take more than
// the budget.
func (c *choice) options(l *level, p *search.Problem, part float64, most int64, rough bool) search.Options {
	steps := most
	if rough {
		steps = 0
	}
	if c.Steps > 0 {
		share := c.Steps
		if c.best != nil {
			share = max(int64(float64(c.left())*part), 1)
		}
		if steps == 0 || share < steps {
			steps = share
		}
	}
	var initial [][]int32
	for _, x := range append(l.space.WarmStarts(), l.solution) {
		initial = append(initial, l.space.Extend(x, p))
	}
	return search.Options{Steps: steps, Rough: rough, Seed: c.Seed, Complete: steps == 0 || c.best == nil, Brief: c.best != nil,
		Initial: initial, Memory: c.room.tree(l.space.Bytes(), p.Size()), Progress: func(search.Event) { c.tell("") }}
}
