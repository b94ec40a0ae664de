package plan

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/search"
	"autoshard/search/space"
)

// Steps that a change of a solution counts for each op of the module, which is lowered and priced, and that all changes may take; a model
// for which they allow too few changes is left as it is.
const changeSteps, polishSteps, leastChanges = 5_000, 50_000_000, 50

// polish changes the best solution of a level as long as its program becomes faster or, while none fits, smaller: one decision at a
// time, all who read a value to read one copy, or one value to be kept in another layout than its op makes it in. The search prices a
// copy for each use, the relaxed problem may let a use pay less than the program does, and neither knows all layouts; here the program
// decides.
func (c *choice) polish(ctx context.Context, l *level) error {
	each := changeSteps * int64(c.module.NumOps())
	if c.proven() || leastChanges*each > polishSteps || c.over(ctx) {
		return nil
	}
	c.tell("lower")
	l.space.Unsettle()
	effort := space.Effort{Steps: c.left()}
	relaxed, err := l.space.Relaxed(ctx, 0, &effort, false)
	if c.spent += effort.Spent; err != nil {
		return c.late.Err()
	}
	p := &polishing{choice: c, in: l.space, sent: l.space.Sent(), ctx: ctx, relaxed: relaxed, reaches: []int{collectives.Anywhere, 0},
		each: each, left: polishSteps}
	starts := l.space.WarmStarts()
	if l.solution != nil {
		starts = append(starts, l.solution)
	}
	for _, x := range starts {
		p.change(variant{solution: x})
	}
	for better := p.program != nil; better && p.goes(); {
		before := p.program
		p.oneCopy()
		p.one()
		p.resend()
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

// polishing is the state of it: the best variant so far and its program.
type polishing struct {
	*choice
	in      *space.Space
	sent    []space.Sent
	ctx     context.Context
	relaxed *search.Problem // whose cost no program of a solution goes below
	reaches []int           // of copies, with which a variant is lowered
	each    int64           // steps of a change
	left    int64
	variant variant
	program *lowered
	err     error
}

// goes says whether there may be more changes.
func (p *polishing) goes() bool { return p.err == nil && p.left >= p.each && !p.over(p.ctx) }

// change lowers a variant and takes it if it is better than the best one. It reports whether there may be more.
func (p *polishing) change(v variant) bool {
	p.left, p.spent = p.left-p.each, p.spent+p.each
	settled := p.module.Clone()
	assignment := p.in.Apply(settled, v.solution)
	for i := range v.kept {
		p.in.Keep(settled, v.kept[i].value, &v.kept[i].layout)
	}
	for _, reach := range p.reaches {
		var found *lowered
		if found, p.err = p.lower(p.late, settled, assignment, p.in.Planner(), reach); p.err != nil {
			return false
		}
		p.offer(found)
		if p.program == nil || p.prefers(found, p.program) {
			p.variant, p.program = v, found
		}
	}
	return p.goes()
}

// solve changes to a solution, first with all that it makes kept as the solution says, unless that cannot be faster than the best plan,
// and then with values of other ops kept where they were.
func (p *polishing) solve(x []int32) bool {
	p.left -= int64(p.relaxed.NumEdges())
	if least, _, err := p.relaxed.Evaluate(x); err != nil || len(p.variant.kept) > 0 || p.best == nil || least < p.best.step.Total() {
		if !p.change(variant{slices.Clone(x), p.variant.kept}) {
			return false
		}
	}
	kept, m := p.variant.kept, p.program.annotated
	for i := range p.sent {
		if s := &p.sent[i]; x[s.Node] != p.variant.solution[s.Node] {
			kept = keep(kept, s.Value, collectives.LayoutOf(m.ShardingOf(m.Sharding(s.Value))))
		}
	}
	if len(kept) == 0 {
		return p.goes()
	}
	return p.change(variant{slices.Clone(x), kept})
}

// keep returns a list with a value kept in a layout.
func keep(list []keeping, v ir.ValueID, l collectives.Layout) []keeping {
	others := slices.DeleteFunc(slices.Clone(list), func(k keeping) bool { return k.value == v })
	return append(others, keeping{v, l})
}

// oneCopy lets all who read a value read one copy.
func (p *polishing) oneCopy() { p.in.OneCopy(p.relaxed, p.variant.solution, p.solve) }

// one changes one decision after the other.
func (p *polishing) one() {
	for i := range p.variant.solution {
		for s := range int32(p.relaxed.NumStrategies(i)) {
			x := slices.Clone(p.variant.solution)
			if x[i] = s; s != p.variant.solution[i] && !p.solve(x) {
				return
			}
		}
	}
}

// resend keeps one value after the other in another layout.
func (p *polishing) resend() {
	for i := range p.sent {
		s := &p.sent[i]
		for _, l := range s.Layouts {
			if !p.goes() {
				return
			}
			p.change(variant{p.variant.solution, keep(p.variant.kept, s.Value, l)})
		}
	}
}
