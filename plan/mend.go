package plan

import (
	"context"

	"autoshard/collectives"
	"autoshard/internal/lists"
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
	p := &polishing{choice: c, in: l.space, ctx: ctx, relaxed: relaxed, reaches: []int{collectives.Anywhere}, each: each, left: 2 * c.spent,
		planners: []*collectives.Planner{l.space.Planner()}}
	p.run([]move{{to: to(variant{solution: start})}})
	for better := p.program != nil; better && p.goes(); {
		before := p.program
		p.run(p.inPlace())
		better = p.program != before
	}
	return p.err
}

// inPlace returns the moves that let one op read a value where it lies.
func (p *polishing) inPlace() []move {
	return lists.Map(p.in.InPlace(p.relaxed, p.variant.solution), func(change space.Change) move {
		return move{to: func() (variant, bool) {
			x := change(p.variant.solution)
			return variant{solution: x}, x != nil
		}}
	})
}
