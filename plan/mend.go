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
	if l.large() || !c.open(goodGap) || leastChanges*c.eachChange() <= polishSteps {
		return nil
	}
	l.space.Suggest(c.best.annotated, c.best.assignment)
	p := c.polishing(ctx, l, c.room.beside(0))
	if p == nil {
		return c.late.Err()
	}
	p.reaches, p.left = []int{collectives.Anywhere}, 2*c.spent
	start, _ := l.space.Nearest(p.relaxed)
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
