package plan

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
)

// Steps that a change of a solution counts for each op of the module, which is lowered and priced, and that all changes may take; a model
// for which they allow too few changes is left as it is.
const changeSteps, polishSteps, leastChanges = 5_000, 50_000_000, 50

// eachChange returns the steps that a change counts.
func (p *planner) eachChange() int64 { return changeSteps * int64(p.module.NumOps()) }

// polish changes the best solution of a level as long as its program becomes faster or, while none fits, smaller: one decision at a
// time, all who read a value to read one copy, or one value to be kept in another layout than its op makes it in. The search prices a
// copy for each use, the relaxed problem may let a use pay less than the program does, and neither knows all layouts; here the program
// decides.
func (c *choice) polish(ctx context.Context, l *level) error {
	if c.proven() || leastChanges*c.eachChange() > polishSteps {
		return nil
	}
	c.tell("lower")
	p := c.polishing(ctx, l, 0)
	if p == nil {
		return c.late.Err()
	}
	p.sent, p.reaches, p.left = l.space.Sent(), []int{collectives.Anywhere, 0}, polishSteps
	starts := l.space.WarmStarts()
	if l.solution != nil {
		starts = append(starts, l.solution)
	}
	for _, x := range starts {
		p.run([]move{{to: to(variant{solution: x})}})
	}
	for better := p.program != nil; better && p.goes(); {
		before := p.program
		p.run(p.oneCopy())
		p.run(p.one())
		p.run(p.resend())
		better = p.program != before
	}
	return p.err
}

// variant is a solution of which some values are kept in other layouts.
type variant struct {
	solution []int32
	kept     []keeping
}

type keeping struct {
	value  ir.ValueID
	layout collectives.Layout
}

// keep returns a list with a value kept in a layout.
func keep(list []keeping, v ir.ValueID, l collectives.Layout) []keeping {
	others := slices.DeleteFunc(slices.Clone(list), func(k keeping) bool { return k.value == v })
	return append(others, keeping{v, l})
}

// solve returns the moves to a solution: first with all that it makes kept as the solution says, unless that cannot be faster than the best
// plan, and then with values of other ops kept where they were.
func (p *polishing) solve(changed func() []int32) []move {
	whole := func() (variant, bool) {
		x := changed()
		if x == nil {
			return variant{}, false
		}
		least, _, err := p.relaxed.Evaluate(x)
		return variant{x, p.variant.kept}, err != nil || len(p.variant.kept) > 0 || p.best == nil || least < p.best.step.Total()
	}
	partly := func() (variant, bool) {
		x := changed()
		if x == nil {
			return variant{}, false
		}
		kept, m := p.variant.kept, p.program.annotated
		for i := range p.sent {
			if s := &p.sent[i]; x[s.Node] != p.variant.solution[s.Node] {
				kept = keep(kept, s.Value, collectives.LayoutOf(m.ShardingOf(m.Sharding(s.Value))))
			}
		}
		return variant{x, kept}, len(kept) > 0
	}
	return []move{{whole, int64(p.relaxed.NumEdges())}, {to: partly}}
}

// oneCopy returns the moves that let all who read a value read one copy.
func (p *polishing) oneCopy() (out []move) {
	start := p.variant.solution
	for _, change := range p.in.OneCopy(p.relaxed) {
		out = append(out, p.solve(func() []int32 { return change(start) })...)
	}
	return out
}

// one returns the moves that change one decision.
func (p *polishing) one() (out []move) {
	for i := range p.variant.solution {
		for s := range int32(p.relaxed.NumStrategies(i)) {
			out = append(out, p.solve(func() []int32 {
				if p.variant.solution[i] == s {
					return nil
				}
				x := slices.Clone(p.variant.solution)
				x[i] = s
				return x
			})...)
		}
	}
	return out
}

// resend returns the moves that keep one value in another layout.
func (p *polishing) resend() (out []move) {
	for i := range p.sent {
		s := &p.sent[i]
		for _, l := range s.Layouts {
			out = append(out, move{to: func() (variant, bool) {
				return variant{p.variant.solution, keep(p.variant.kept, s.Value, l)}, true
			}})
		}
	}
	return out
}
