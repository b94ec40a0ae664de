package plan

import (
	"context"
	"slices"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/search"
	"autoshard/search/space"
)

// Session is a model that is planned again and again while the shardings of its inputs and outputs are changed one by one. It keeps the
// module, its rules, the ways between layouts with their prices, the baselines that depend on no sharding, and the latest plan, which the
// next search begins with. It must not be used by two goroutines at once.
type Session struct {
	planner *planner
	clean   findings // what is to be said whatever is pinned
	prior   *prior
}

// prior is what a plan leaves to the next one of the module.
type prior struct {
	planner   *planner
	baselines []baseline
	state     []int
	space     *space.Space
	level     *level // nil where nothing was searched
	best      *lowered
	gap       float64    // of the certificate
	earlier   []*lowered // the latest plans, the best of the last one first
}

// remembered bounds the earlier plans of a session that count again where they keep what is wanted.
const remembered = 6

// NewSession makes a plan as [Make] does, and keeps what it takes to make the next ones fast.
func NewSession(ctx context.Context, source *answer.Source, o Options) (*Session, *Plan, error) {
	late, cancel := patient(ctx)
	defer cancel()
	p, err := newPlanner(late, source, o)
	if err != nil {
		return nil, nil, err
	}
	s := &Session{planner: p, clean: p.found}
	plan, prior, err := p.make(ctx, late)
	if err != nil {
		return nil, nil, err
	}
	s.planner, s.clean.Module, s.prior = prior.planner, prior.planner.module, prior
	return s, plan, nil
}

// Plan makes a plan with some shardings changed. It is never worse than the one before as far as that keeps them, with the values that do
// not moved to where they are wanted: from there the neighbourhood of these values is searched, and then the whole space for a while.
// Errors are those of [Make]; after one the shardings are as they were.
func (s *Session) Plan(ctx context.Context, pins ...Pin) (plan *Plan, err error) {
	defer diag.Recover("plan", &err)
	late, cancel := patient(ctx)
	defer cancel()
	p := *s.planner
	p.found, p.prior, p.strategies = s.clean.clone(), s.prior, 0
	undo, err := p.change(pins)
	if err != nil {
		undo()
		return nil, err
	}
	p.state, p.Pins = replaced(p.module), slices.Concat(p.Pins, pins)
	plan, prior, err := p.make(ctx, late)
	if err != nil {
		undo()
		return nil, err
	}
	if prior.level == nil {
		prior.level = s.prior.level
	}
	for _, x := range s.prior.earlier {
		if x != prior.best && len(prior.earlier) < remembered {
			prior.earlier = append(prior.earlier, x)
		}
	}
	s.planner, s.prior = &p, prior
	return plan, nil
}

// change writes pins into the module, and returns what takes them back.
func (p *planner) change(pins []Pin) (undo func(), err error) {
	f, m := p.module.MainFunc(), p.module
	results, before := slices.Clone(f.ResultShardings), lists.Of(m.NumValues(), func(v int) ir.ShardingID { return m.Sharding(ir.ValueID(v)) })
	undo = func() {
		for v, id := range before {
			m.SetSharding(ir.ValueID(v), id)
		}
		copy(f.ResultShardings, results)
	}
	return undo, p.steer(pins, nil)
}

// reuse takes over a baseline of an earlier plan that depends on nothing that the user writes. It reports whether there is one.
func (p *planner) reuse(b *baseline, i int) bool {
	if p.prior == nil || b.kept || !slices.Equal(p.prior.state, p.state) {
		return false
	}
	note := b.note
	*b = p.prior.baselines[i]
	b.note = note
	return true
}

// What is found quickly is good enough where the gap is below two percent, or not much above that of the earlier plan.
const quickGap, gapGrowth = 0.02, 1.1

// quickRounds bounds how often the relaxed problem is solved then.
const quickRounds = 2

// nearby is how many edges around a changed value are searched first, with so many steps if no budget is given.
const nearby, nearSteps = 4, 10_000_000

// again searches the level of an earlier plan from where that was left. It reports whether that was enough: there is a plan.
func (c *choice) again(ctx context.Context) (done bool, err error) {
	if c.prior == nil || c.prior.level == nil {
		return false, nil
	}
	l, err := c.build(ctx, c.prior.level.Level, false)
	if l == nil || err != nil {
		return false, err
	}
	c.last, l.quick = l, true
	l.messages, c.prior.level.messages = c.prior.level.messages, search.Messages{} // a search changes them: they serve once
	if err := c.near(ctx, l); err != nil {
		return false, err
	}
	if err := c.solve(ctx, l); err != nil {
		return false, err
	}
	for range quickRounds {
		if more, err := c.settled(ctx, l, roughly); err != nil || !more {
			return c.best != nil, err
		}
		if c.close() {
			return true, nil
		}
	}
	if l.quick = false; c.best == nil {
		return false, nil
	}
	if err := c.solve(ctx, l); err != nil {
		return false, err
	}
	return true, c.prove(ctx, l)
}

// close says whether the best plan is as near to the bound as can be hoped for.
func (c *choice) close() bool {
	return c.best != nil && c.certificate().Gap < max(quickGap, gapGrowth*c.prior.gap)
}

// near offers earlier plans that keep what is wanted. The last one, if it does not, is offered with the values moved that cannot stay as
// they were, and the nodes around them searched. A search that begins with a solution looks around that, and finds others later: the next
// one does not know of this.
func (c *choice) near(ctx context.Context, l *level) error {
	kept := false
	for _, x := range c.prior.earlier {
		if c.space.Respects(x.annotated) {
			c.offer(x)
			kept = kept || x == c.prior.best
		}
	}
	if kept {
		return nil
	}
	solution, apart := l.space.Nearest(l.problem)
	c.tell("search")
	part, lift := l.problem.WithLimit(c.Memory).Within(solution, l.problem.Around(apart, nearby))
	result, err := c.find(ctx, part, search.Options{Steps: nearSteps, Seed: c.Seed, Brief: true})
	if err != nil {
		return err
	}
	if result.Solution != nil { // something fits so near
		solution = lift(result.Solution)
	}
	_, err = c.try(ctx, l, solution)
	l.solution = nil
	return err
}
