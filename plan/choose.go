package plan

import (
	"cmp"
	"context"
	"errors"
	"time"

	"autoshard/collectives"
	"autoshard/search"
	"autoshard/search/space"
)

// memoryAttempts bounds how often the search runs again because the program of what it found held more than the limit.
const memoryAttempts = 12

// reaches are how many ops may lie between two reads of one copy, in the order in which they are tried until a program fits:
// the more copies are shared the less is sent, and the longer they are held.
var reaches = [...]int{collectives.Anywhere, 64, 8, 0}

// ErrEnough, as the cause of a context's cancellation, asks [Make] for the best plan so far, as a deadline does.
var ErrEnough = errors.New("the best plan so far will do")

// abandoned says whether nobody waits for an answer any more.
func abandoned(ctx context.Context) bool {
	return errors.Is(ctx.Err(), context.Canceled) && !errors.Is(context.Cause(ctx), ErrEnough)
}

// patient returns a context that ends only where ctx is abandoned. What is known without search is worked out under it:
// deadlines end the search for something better.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if abandoned(ctx) {
		cancel()
	}
	stop := context.AfterFunc(ctx, func() {
		if abandoned(ctx) {
			cancel()
		}
	})
	return out, func() { stop(); cancel() }
}

// choice is the best plan so far. All its prices are estimates of programs that run.
type choice struct {
	*planner
	begun time.Time       // by the clock of the options; zero where they have none
	ctx   context.Context // ends when the answer is due
	late  context.Context // ends only when nobody waits
	space *space.Space
	room  room

	stage    string
	best     *lowered // nil while none fits
	bound    int64    // that no plan of the space goes below that computes nothing twice
	lasting  int64    // that no plan of the space goes below
	spent    int64    // steps
	least    *lowered // the plan that needs the least memory so far
	thrift   thrifty
	crowded  []*lowered // fast programs that do not fit, the fastest first
	squeezed []*lowered // with which it was tried to make values again
	floor    int64      // bytes that no program of a level that was built does without
	built    bool       // there is one
	short    bool       // a program was lowered that does not fit
	large    bool       // a level was left out because it is too large
	early    bool       // time cut the search short
	last     *level     // that was searched, nil for none

	baselines   []baseline
	sharded     []*baseline // programs that keep state in blocks, once they were needed
	allInBlocks bool        // plans of the whole batch with all state in blocks were searched
}

// choose searches, and lowers what it finds. The best is that or a baseline.
func (p *planner) choose(ctx, late context.Context, baselines []baseline) (*choice, error) {
	c := &choice{planner: p, begun: p.now(), ctx: ctx, late: late, space: p.space(ctx, baselines), stage: "rules"}
	c.room = room{limit: cmp.Or(p.SearchMemory, DefaultSearchMemory), programs: programBytes * int64(p.module.NumOps())}
	if err := late.Err(); err != nil {
		return nil, err
	}
	for i := range baselines {
		if b := &baselines[i]; b.lowered != nil && (b.kept || c.space.Respects(b.settled)) {
			c.offer(b.lowered)
		}
	}
	c.baselines = baselines
	if err := c.resume(); err != nil {
		return nil, err
	}
	if err := c.beginAlike(); err != nil {
		return nil, err
	}
	c.bound = c.space.Floor()
	c.lasting = c.bound
	if err := c.conclude(c.search); err != nil {
		return nil, err
	}
	return c, nil
}

// toImprove and toWrite are how many times as long as it takes to lower a program what is left to do may take: to improve what was found
// last, before that is written, and to write it.
const toImprove, toWrite = 2, 2

// conclude searches in some way, and looks for what keeps the memory limit and the budgets beside what that finds. Quick searches may end
// without a plan.
func (c *choice) conclude(how func(context.Context) error) error {
	reserve := toWrite * c.lowering
	if c.best != nil {
		reserve += toImprove * c.lowering
	}
	search, cancel := before(c.ctx, reserve)
	defer cancel()
	spending, stop := c.spending(search)
	defer stop()
	err := how(spending)
	if c.early = c.early || spending.Err() != nil; err != nil || c.outdone() {
		return err
	}
	if err := c.recomputing(spending); err != nil {
		return err
	}
	if c.best == nil && !c.screening {
		c.nearest = c.least
		return c.none(search)
	}
	return c.economize(search)
}

// offer takes a plan if it fits and is the fastest so far, and remembers the one that needs the least memory.
func (c *choice) offer(l *lowered) {
	if c.least == nil || l.step.Peak < c.least.step.Peak {
		c.least = l
	}
	if l.step.Peak <= c.Memory {
		c.watchBudgets(l)
	}
	if l.step.Peak <= c.Memory && (c.best == nil || l.step.Total() < c.best.step.Total()) {
		c.best = l
		c.tell("")
	}
	c.crowd(l)
}

// prefers says whether a program is better than another one: faster among those that fit, smaller otherwise.
func (c *choice) prefers(a, b *lowered) bool {
	if a.step.Peak <= c.Memory && b.step.Peak <= c.Memory {
		return a.step.Total() < b.step.Total()
	}
	return a.step.Peak < b.step.Peak
}

// tell reports progress; no stage is the one that is on.
func (c *choice) tell(stage string) {
	if stage != "" {
		c.stage = stage
	}
	if c.best != nil {
		c.report(c.stage, c.best.step.Total(), min(c.bound, c.best.step.Total()))
	} else {
		c.report(c.stage, 0, c.bound)
	}
}

// before returns a context that ends some time before the answer is due, which ctx may only tell.
func before(ctx context.Context, reserve time.Duration) (context.Context, context.CancelFunc) {
	if due, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, due.Add(-reserve))
	}
	return context.WithCancel(ctx)
}

// now returns the time by the clock of the options, the zero time where they have none.
func (o *Options) now() time.Time {
	if o.Now == nil {
		return time.Time{}
	}
	return o.Now()
}

// part returns a context that ends when a part of the time left is over.
func (o *Options) part(ctx context.Context, share float64) (context.Context, context.CancelFunc) {
	if due, ok := ctx.Deadline(); ok && o.Now != nil {
		left := due.Sub(o.Now())
		return context.WithDeadline(ctx, due.Add(-time.Duration(float64(left)*(1-share))))
	}
	return context.WithCancel(ctx)
}

// left returns the steps that are left, 0 if there is no budget, or no plan yet: to find one that fits may take more.
func (c *choice) left() int64 {
	if c.Steps == 0 || c.best == nil {
		return 0
	}
	return max(c.Steps-c.spent, 1)
}

// over says whether the search has to end.
func (c *choice) over(ctx context.Context) bool { return !c.affords(ctx, 1) }

// affords says whether time is left, and so many steps, or no plan is known yet.
func (c *choice) affords(ctx context.Context, steps int64) bool {
	return ctx.Err() == nil && (c.Steps == 0 || c.best == nil || c.spent+steps <= c.Steps)
}

// glanceSteps are those of a first search at most: it finds nearly the best solution early, and takes ten times as long to prove that,
// while its program may not fit, or another one be much faster.
const glanceSteps = searchSteps / 10

// glance searches a level for a good solution, once. It takes as long as it has to while no plan is known.
func (c *choice) glance(ctx context.Context, l *level) error {
	if l.glanced || c.over(ctx) {
		return nil
	}
	l.glanced = true
	most := int64(glanceSteps)
	if l.large() {
		most = searchSteps
	}
	return c.searchLevel(ctx, l, l.large(), most)
}

// solve does so, and then searches for the best solution, but of a large problem, whose relaxed problems make the solution better.
func (c *choice) solve(ctx context.Context, l *level) error {
	if err := c.glance(ctx, l); err != nil || l.solved || l.large() || c.over(ctx) {
		return err
	}
	return c.searchLevel(ctx, l, false, searchSteps)
}

// searchLevel searches a level with half of the steps and of the time left and no more steps than given, roughly if that will do, and
// lowers what it finds. Where the program needs more memory than the search saw, it searches again and looks there.
func (c *choice) searchLevel(ctx context.Context, l *level, rough bool, most int64) error {
	ctx, cancel := c.part(ctx, 0.5)
	defer cancel()
	limit := c.Memory
	for range memoryAttempts {
		c.tell("search")
		options := c.options(l, l.problem, 0.5, most, rough)
		if options.Messages = &l.messages; rough {
			options.Gap, options.Brief, options.Quick = roughGap, true, true
		}
		result, err := c.find(ctx, l.problem.WithLimit(limit), options)
		if err != nil {
			return err
		}
		if result.Solution == nil {
			if !rough || ctx.Err() != nil {
				return nil
			}
			rough = false
			continue
		}
		over, err := c.try(ctx, l, l.space.Own(result.Solution))
		ended := c.over(ctx)
		proven := most == searchSteps || result.Status == search.Optimal
		if l.solved = !rough && proven && over <= 0 && !ended; err != nil || over <= 0 || ended {
			return err
		}
		rough = false
		closer, err := c.watch(ctx, l, l.solution, limit)
		if err != nil {
			return err
		}
		if closer {
			continue
		}
		if limit = min(limit, result.Peak) - over; limit <= 0 {
			return nil
		}
	}
	return nil
}

// tighter are parts of the memory limit under which plans are searched that may be faster than those under the limit itself.
var tighter = [...]float64{0.85, 0.7, 0.5}

// searchTighter searches a level under smaller limits where memory is short: what has to be gathered there is sent as one, so that programs
// may be faster than those of solutions that gather less, of which the search pays for each by itself.
func (c *choice) searchTighter(ctx context.Context, l *level) error {
	if l.large() || !c.confined() || !c.open(wideGap) {
		return nil
	}
	for _, part := range tighter {
		if _, err := c.searchUnder(ctx, l, int64(part*float64(c.Memory))); err != nil {
			return err
		}
	}
	return nil
}

// watch makes the problem of a level count what programs hold for moments, at the ops where that of a solution holds more than
// a limit. It reports whether there are any that did not count yet: relaxed problems may have watched them since it was made.
func (c *choice) watch(ctx context.Context, l *level, solution []int32, limit int64) (bool, error) {
	if _, err := l.space.Watch(ctx, solution, limit); err != nil || l.space.Watched() == l.watched {
		return false, c.late.Err()
	}
	return c.rebuild(ctx, l)
}

// rebuild makes the problem of a level again. It reports whether there were time and memory for that.
func (c *choice) rebuild(ctx context.Context, l *level) (bool, error) {
	c.tell("space")
	effort := space.Effort{Steps: c.left()}
	problem, err := l.space.Build(ctx, 0, &effort)
	c.spent += effort.Spent
	if c.gaveUp(err) {
		return false, c.late.Err()
	}
	if err == nil && !c.room.admit("the search with what programs hold for moments", l.space.Bytes(), problem.Size()) {
		return false, nil
	}
	if err == nil {
		l.problem, l.watched = problem, l.space.Watched()
	}
	return true, err
}

// try lowers a solution, offers it and suggests it for other levels. Where the program that shares all copies does not fit, it
// tries with fewer shared ones, unless one without would not fit either. It returns by how much programs exceed the limit. Where a plan is
// known, it gives up when the answer is due.
func (c *choice) try(ctx context.Context, l *level, solution []int32) (over int64, err error) {
	if err := c.late.Err(); err != nil {
		return 0, err
	}
	c.tell("lower")
	settled := c.module.Clone()
	assignment := l.space.Apply(settled, solution)
	l.solution = solution
	for i, reach := range reaches {
		if i > 0 && !c.private(ctx, l) {
			break
		}
		found, err := c.lower(c.patience(), settled.Clone(), assignment, l.space.Planner(), reach)
		if err != nil {
			if c.gaveUp(err) {
				c.early, err = true, c.late.Err()
			}
			return 0, err
		}
		c.offer(found)
		if found.step.Peak <= c.Memory {
			l.tried = append(l.tried, attempt{total: found.step.Total(), solution: solution})
		}
		c.short = c.short || found.step.Peak > c.Memory
		if excess := found.step.Peak - c.Memory; i == 0 || excess < over {
			over, l.crowding = excess, found.merges-c.Memory
		}
		if over <= 0 {
			c.space.Suggest(settled, assignment)
			break
		}
	}
	return over, nil
}

// patience is the context of what makes a plan of a solution: without a plan, one that comes late is better than none.
func (c *choice) patience() context.Context {
	if c.best == nil {
		return c.late
	}
	return c.ctx
}

// private says whether the program of a level's latest solution fits if each read has a copy of its own.
func (c *choice) private(ctx context.Context, l *level) bool {
	peak, err := l.space.Peak(ctx, l.solution)
	return err == nil && peak <= c.Memory
}

// certificate compares the chosen plan with the bound. That knows nothing of time that is saved by computing something twice: a plan below
// it is not proven to be the best.
func (c *choice) certificate() Certificate {
	out := Certificate{Cost: c.best.step.Total(), Status: search.Feasible.String(), Steps: c.spent, Seed: c.Seed}
	out.Bound = min(c.bound, out.Cost)
	switch {
	case out.Bound == out.Cost && (c.best.again == 0 || c.bound == out.Cost):
		out.Status = search.Optimal.String()
	case c.early:
		out.Status = search.Early.String()
	}
	if out.Cost > 0 {
		out.Gap = float64(out.Cost-out.Bound) / float64(out.Cost)
	}
	return out
}
