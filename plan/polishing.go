package plan

import (
	"context"
	"runtime"

	"autoshard/collectives"
	"autoshard/internal/parallel"
	"autoshard/search"
	"autoshard/search/space"
)

// polishing changes a solution move by move: the best variant so far and its program.
type polishing struct {
	*choice
	in       *space.Space
	sent     []space.Sent
	ctx      context.Context
	relaxed  *search.Problem // whose cost no program of a solution goes below
	reaches  []int           // of copies, with which a variant is lowered
	each     int64           // steps of a change
	left     int64
	planners []*collectives.Planner // one for each variant that is lowered at once
	variant  variant
	program  *lowered
	err      error
}

// polishing returns the state of changes on a level, nil where its relaxed problem is not built in so many bytes, or in time
// or steps.
func (c *choice) polishing(ctx context.Context, l *level, memory int64) *polishing {
	if c.over(ctx) {
		return nil
	}
	l.space.Unsettle()
	effort := space.Effort{Steps: c.left(), Memory: memory}
	relaxed, err := l.space.Relaxed(ctx, 0, &effort, space.Kept)
	if c.spent += effort.Spent; err != nil {
		return nil
	}
	return &polishing{choice: c, in: l.space, ctx: ctx, relaxed: relaxed, each: c.eachChange(),
		planners: []*collectives.Planner{l.space.Planner()}}
}

// move says what the best variant so far changes to, and false where it changes nothing or the change is known to be in vain.
type move struct {
	to    func() (variant, bool)
	steps int64 // that finding it out takes
}

// to is a move to one variant, whatever the best one is.
func to(v variant) func() (variant, bool) { return func() (variant, bool) { return v, true } }

// goes says whether there may be more changes.
func (p *polishing) goes() bool { return p.err == nil && p.left >= p.each && p.affords(p.ctx, p.each) }

// run makes moves one after the other, each of the best variant so far. As many as there are cores are tried at once, as if none of them
// were better; where one is, those after it are made again.
func (p *polishing) run(moves []move) {
	for len(moves) > 0 && p.goes() {
		moves = moves[p.some(moves):]
	}
}

// trial is a variant that is tried.
type trial struct {
	variant
	made  int   // how many moves are, with its own
	left  int64 // steps, after it
	found []*lowered
	err   error
}

// some makes the first of some moves, and returns how many it made.
func (p *polishing) some(moves []move) (made int) {
	var trials []trial
	left := p.left
	for made < len(moves) && len(trials) < runtime.GOMAXPROCS(0) && left >= p.each && !p.over(p.ctx) {
		v, ok := moves[made].to()
		left -= moves[made].steps
		if made++; ok {
			left -= p.each
			trials = append(trials, trial{variant: v, made: made, left: left})
		}
	}
	p.lowerAll(trials)
	for i := range trials {
		t := &trials[i]
		if p.left, p.spent, p.err = t.left, p.spent+p.each, t.err; p.take(t) || !p.goes() {
			return t.made
		}
	}
	p.left = left
	return made
}

// lowerAll lowers the variants of trials.
func (p *polishing) lowerAll(trials []trial) {
	for len(p.planners) < len(trials) {
		p.planners = append(p.planners, p.in.Planner().Without(nil)) // what a planner answers does not depend on what it was asked before
	}
	parallel.Each(len(trials), func(i int) {
		t := &trials[i]
		settled := p.module.Clone()
		assignment := p.in.Apply(settled, t.solution)
		for k := range t.kept {
			p.in.Keep(settled, t.kept[k].value, &t.kept[k].layout)
		}
		for _, reach := range p.reaches {
			found, err := p.lower(p.late, settled, assignment, p.planners[i], reach)
			if t.err = err; err != nil {
				return
			}
			t.found = append(t.found, found)
		}
	})
}

// take offers the programs of a trial. It reports whether one of them is better than the best variant's.
func (p *polishing) take(t *trial) (better bool) {
	for _, found := range t.found {
		p.offer(found)
		if p.program == nil || p.prefers(found, p.program) {
			p.variant, p.program, better = t.variant, found, true
		}
	}
	return better
}
