package plan

import (
	"context"
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/search"
)

// leastAttempts bounds how often the least memory is searched again because programs hold more for moments.
const leastAttempts = 6

// none is the error that no plan fits, or none was found before the search had to end.
func (c *choice) none(searching context.Context) error {
	if err := searching.Err(); err != nil {
		return fmt.Errorf("no plan found that fits in %s per device; the smallest limit known to work is %s: %w",
			diag.Bytes(c.Memory), diag.Bytes(c.least.step.Peak), err)
	}
	relaxed, err := c.withoutPins(searching)
	if err != nil {
		return err
	}
	recomputed, err := c.withRecomputing(searching)
	if err != nil {
		return err
	}
	return c.memoryError(c.late, c.least, c.floor, slices.Concat(c.room.said(), relaxed, recomputed))
}

// smallest lowers and offers the solutions of a level that need the least memory where no plan fits, until one does or none
// needs less.
func (c *choice) smallest(ctx context.Context, l *level) error {
	for range leastAttempts {
		if c.best != nil || l == nil || ctx.Err() != nil {
			return nil
		}
		c.tell("search")
		result, err := search.MinPeak(ctx, l.problem, c.options(l, l.problem, 1, 0, false))
		c.spent += result.Steps
		if err != nil {
			if c.gaveUp(err) {
				err = c.late.Err()
			}
			return err
		}
		c.tell("lower")
		l.solution = l.space.Own(result.Solution)
		settled := c.module.Clone()
		found, err := c.lower(c.late, settled, l.space.Apply(settled, l.solution), l.space.Planner(), 0)
		if err != nil {
			return err
		}
		c.offer(found)
		if closer, err := c.watch(ctx, l, l.solution, result.Peak); err != nil || !closer {
			return err
		}
	}
	return nil
}
