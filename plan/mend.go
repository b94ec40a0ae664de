package plan

import (
	"context"

	"autoshard/collectives"
	"autoshard/search/space"
)

// mend lets ops of the best plan read values where they lie, one at a time, as long as its program becomes faster. The search prices a
// reduction that follows by itself, although it may be sent as one with others, and gathers more than it has to. A model that is large, or
// whose best plan is proven, does without; of small ones [choice.polish] changes more. All changes may take twice as many steps as the
// search before.
func (c *choice) mend(ctx context.Context, l *level) error {
	each := changeSteps * int64(c.module.NumOps())
	if l.large() || !c.open(goodGap) || leastChanges*each <= polishSteps {
		return nil
	}
	l.space.Suggest(c.best.annotated, c.best.assignment)
	l.space.Unsettle()
	effort := space.Effort{Steps: c.left(), Memory: c.room.beside(0)}
	relaxed, err := l.space.Relaxed(ctx, 0, &effort, false)
	if c.spent += effort.Spent; err != nil {
		return c.late.Err()
	}
	start, _ := l.space.Nearest(relaxed)
	p := &polishing{choice: c, in: l.space, ctx: ctx, relaxed: relaxed, reaches: []int{collectives.Anywhere}, each: each, left: 2 * c.spent}
	p.change(variant{solution: start})
	for better := p.program != nil; better && p.goes(); {
		before := p.program
		p.in.ReadInPlace(p.relaxed, p.variant.solution, func(x []int32) []int32 {
			if !p.change(variant{solution: x}) {
				return nil
			}
			return p.variant.solution
		})
		better = p.program != before
	}
	return p.err
}
