package plan

import (
	"context"
)

// merging searches a level again with the costs of reductions that can be sent as one, where that matters.
func (c *choice) merging(ctx context.Context, l *level) error {
	if c.over(ctx) || !c.mergingMatters(l) {
		return nil
	}
	l.space.Together(true)
	defer l.space.Together(false)
	if more, err := c.rebuild(ctx, l); err != nil || !more {
		return err
	}
	return c.solve(ctx, l)
}

// mergingMatters says whether collectives that are sent as one may make a difference to the plan: what they save of the latest solution
// is more than a small part of the best.
func (c *choice) mergingMatters(l *level) bool {
	return c.best != nil && l.solution != nil && l.space.Merging(l.solution) > c.best.step.Total()/goodGap
}
