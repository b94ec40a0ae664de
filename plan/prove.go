package plan

import (
	"context"
	"errors"

	"autoshard/search"
	"autoshard/search/space"
)

// boundRounds bounds how often the relaxed problem is solved for its bound, each time with copies paid for by who made them in the last
// solutions, and relaxedAttempts how often again for solutions that share copies and fit.
const boundRounds, relaxedAttempts = 12, 5

// The relaxed problem is solved for the bound alone until ascentStalls solutions raise what is reached by less than a part, one by
// ascentGain, of what is missing, or the gap is one percent, the part of the cost that ascentGap says. That takes about as many steps as
// the search did at most, or ascentSteps where that is more, and with nodes for pairs ascentSteps again. While the gap is a third or more,
// farStalls solutions are enough, and a part of the steps, one by farPart.
const (
	ascentStalls, ascentGain, ascentGap, ascentSteps = 12, 100, 100, 500_000_000
	farStalls, farPart                               = 4, 4
)

// pairedProblem is the number of strategies up to which problems get nodes for pairs of gathers.
const pairedProblem = 10_000

// exactRounds is how many times the relaxed problem can be solved to the end at least, in the steps that are left, or it is not.
const exactRounds = 4

// roundsTake is how many times as long as the search before them the rounds take at most, mostly.
const roundsTake = 8

// roughGap is the part of the cost by which the bound of a rough search may fall short of it.
const roughGap = 0.0005

// boundSteps are those of a search of the relaxed problem at most. They are bounded because reductions, which the default budget of package
// search grows with, take minutes there.
const boundSteps = search.DefaultSteps / 2

// relaxing is how the relaxed problem is solved.
type relaxing uint8

const (
	alone       relaxing = iota // at likely costs, if products are alone in their rings: there is no bound
	narrowly                    // at likely costs, and both among strategies that lost little by the bound of an earlier problem
	quickly                     // where nodes are alike, as if equal ones were one: the bound is not one of other solutions
	roughly                     // until the dual stalls
	paired                      // so, with nodes for pairs of gathers
	fully                       // to the end, if the steps suffice
	pairedFully                 // both
	watching                    // with what is held for moments
)

// largeProblem is the number of strategies from which on a search to the end takes seconds.
const largeProblem = 50_000

// isLarge says whether the latest problem is large.
func (p *planner) isLarge() bool { return p.strategies > largeProblem }

// large says whether the problem of a level is solved roughly.
func (l *level) large() bool { return l.quick || l.problem.Size().Strategies > largeProblem }

// goodGap is the part of the cost that a gap of half a percent is: the rounds end there.
const goodGap = 200

// prove raises the bound by the relaxed problem of a level that places every axis on its own, and offers its solutions: they use
// copies more often than those of the problem, in which every use pays for its own.
func (c *choice) prove(ctx context.Context, l *level) error {
	if l.Groups > 0 {
		return nil
	}
	if err := c.rounds(ctx, l); err != nil {
		return err
	}
	if c.short && l.solution != nil {
		return c.share(ctx, l)
	}
	return nil
}

// rounds solves the relaxed problem roughly, each time with copies paid for by who made them in the last solutions, as long as that brings
// the bound and the best plan together, and once to the end if it is not large.
func (c *choice) rounds(ctx context.Context, l *level) error {
	var gaps []int64
	how := quickly
	if c.hurried(ctx) {
		how = roughly
	}
	for round := range boundRounds {
		if more, err := c.settled(ctx, l, how); err != nil || !more {
			return err
		}
		if how = narrowly; round%2 > 0 {
			how = alone
		}
		if c.best == nil {
			continue
		}
		gaps = append(gaps, c.best.step.Total()-max(c.bound, l.reached))
		if n := len(gaps); gaps[n-1] < c.best.step.Total()/goodGap || n > 2 && gaps[n-1] > gaps[n-3]/5*4 {
			break
		}
	}
	switch {
	case !l.large():
		how = fully
	case c.bound < l.reached:
		how = roughly
	default:
		return nil
	}
	_, err := c.settled(ctx, l, how)
	return err
}

// ascend solves the relaxed problem of the latest level for the bound of the chosen plan, each time with collectives and copies paid for by
// those that the solutions so far make, as long as that gets nearer to it, and then those that are small with nodes for pairs of gathers.
// Problems that are large, or of leading axes, and plans that begin with an earlier one do without.
func (c *choice) ascend(ctx context.Context) error {
	l := c.last
	if l == nil || l.Groups > 0 || c.isLarge() || c.prior != nil || l.solution == nil {
		return nil
	}
	c.tell("bound")
	steps := c.spent
	if c.open(widestGap) {
		steps /= farPart
	}
	if err := c.climb(ctx, l, roughly, fully, c.spent+max(steps, ascentSteps)); err != nil || c.strategies > pairedProblem {
		return err
	}
	return c.climb(ctx, l, paired, pairedFully, c.spent+ascentSteps)
}

// climb does so in one way until a number of steps is spent. A rough solution that is far from the bound is no answer to who pays: then the
// problem is solved to the end from there on, as long as a few of the steps suffice.
func (c *choice) climb(ctx context.Context, l *level, how, exactly relaxing, until int64) error {
	most, steps := int64(0), int64(boundSteps)
	l.messages = search.Messages{}
	for solution, stalls := l.solution, 0; c.open(ascentGap) && c.spent < until && !c.over(ctx); stalls++ {
		if stalls == ascentStalls || stalls >= farStalls && c.open(widestGap) {
			return nil
		}
		l.space.Play(solution)
		result, err := c.relaxed(ctx, l, how, steps)
		if err == nil && how != exactly && (result.Solution == nil || result.Cost-l.reached > result.Cost/goodGap) {
			how, steps = exactly, max(1, (until-c.spent)/exactRounds)
			result, err = c.relaxed(ctx, l, how, steps)
		}
		if err != nil || result.Solution == nil || how == exactly && result.Status != search.Optimal {
			return err
		}
		if missing := c.best.step.Total() - most; l.reached > most && (l.reached-most)*ascentGain >= missing {
			stalls, most = 0, l.reached
		}
		solution = l.space.Own(result.Solution)
	}
	return nil
}

// limited says whether there is a budget of steps or time.
func (o *Options) limited(ctx context.Context) bool {
	_, due := ctx.Deadline()
	return o.Steps > 0 || due
}

// hurried says whether steps or time may be over before the last round.
func (c *choice) hurried(ctx context.Context) bool {
	if c.Steps > 0 || c.Now == nil {
		return c.limited(ctx)
	}
	return c.timeLeft(ctx)/roundsTake < c.Now().Sub(c.begun)
}

// settled solves the relaxed problem with copies paid for by who made them in the solutions so far. It reports whether there is something
// better to hope for.
func (c *choice) settled(ctx context.Context, l *level, how relaxing) (more bool, err error) {
	if l.solution != nil {
		l.space.Settle(l.solution)
	}
	_, more, err = c.relaxation(ctx, l, how)
	return more, err
}

// share looks for plans that fit and are cheap because uses share copies, where memory is short: solutions of the relaxed problem that
// counts what is held for moments, with copies paid for by all uses alike, and then by those that make them.
func (c *choice) share(ctx context.Context, l *level) error {
	if _, err := l.space.Watch(ctx, l.solution, c.Memory); err != nil {
		return c.late.Err()
	}
	l.space.Unsettle()
	for range relaxedAttempts {
		before := c.best
		over, more, err := c.relaxation(ctx, l, watching)
		if err != nil || !more {
			return err
		}
		if over <= 0 {
			l.space.Settle(l.solution)
		}
		watched, err := l.space.Watch(ctx, l.solution, c.Memory)
		if err != nil || !watched && c.best == before {
			return c.late.Err()
		}
	}
	return nil
}

// relaxation solves the relaxed problem of a level and tries its solution, whose program exceeds the memory by what it returns. It reports
// whether there is a solution, and something better to hope for.
func (c *choice) relaxation(ctx context.Context, l *level, how relaxing) (over int64, more bool, err error) {
	if c.over(ctx) {
		return 0, false, nil
	}
	c.tell("bound")
	steps := int64(boundSteps)
	if how == watching {
		steps /= 4
	}
	result, err := c.relaxed(ctx, l, how, steps)
	if err != nil || result.Solution == nil || c.proven() {
		return 0, false, err
	}
	over, err = c.try(ctx, l, l.space.Own(result.Solution))
	return over, err == nil, err
}

// likely says whether the problem is at likely costs, which programs may undercut: its bound is none of plans.
func (how relaxing) likely() bool { return how <= narrowly }

// relaxed returns the relaxed problem of a level, or where there is no bound the one that is nearer to programs.
func (l *level) relaxed(ctx context.Context, limit int64, effort *space.Effort, how relaxing, counts space.Held) (*search.Problem, error) {
	switch {
	case how.likely():
		return l.space.Likely(ctx, limit, effort, counts, how == alone)
	case how == paired || how == pairedFully:
		return l.space.Paired(ctx, limit, effort, counts)
	}
	return l.space.Relaxed(ctx, limit, effort, counts)
}

// counts returns what counts of the memory of relaxed problems: programs that compute something twice may hold less than others.
func (c *choice) counts(how relaxing) space.Held {
	switch {
	case c.best != nil && c.best.again > 0:
		return space.Remaining
	case how == watching:
		return space.Moments
	}
	return space.Kept
}

// relaxed solves the relaxed problem of a level. Its bound counts where costs are no more than programs take, and it knows of nothing that
// is held for moments. The steps are the most of a search that is not rough. There is no solution where none fits, or none was found in
// time.
func (c *choice) relaxed(ctx context.Context, l *level, how relaxing, steps int64) (search.Result, error) {
	effort := space.Effort{Steps: c.left(), Memory: c.room.beside(0)}
	counts := c.counts(how)
	relaxed, err := l.relaxed(ctx, c.Memory, &effort, how, counts)
	c.spent += effort.Spent
	if errors.Is(err, space.ErrMemory) {
		c.room.refuse("a lower bound by the relaxed problem", effort.Need)
	}
	if err != nil {
		if c.gaveUp(err) {
			err = c.late.Err()
		}
		return search.Result{}, err
	}
	options := c.options(l, relaxed, 1, steps, how <= paired)
	if how <= paired {
		options.Messages, options.Gap, options.Quick = &l.messages, roughGap, how <= quickly
		options.Narrow = how.likely()
	}
	raise := func(bound int64) {
		if how == watching || how.likely() {
			return
		}
		if c.bound = max(c.bound, bound); counts == space.Remaining {
			c.lasting = max(c.lasting, bound)
		}
	}
	options.Progress = func(e search.Event) {
		raise(e.Bound)
		c.tell("")
	}
	result, err := c.find(ctx, relaxed, options)
	if err == nil && result.Solution != nil { // else no plan of this space fits: the bound stays as it is
		raise(result.Bound)
		l.reached = result.Reached
	}
	return result, err
}
