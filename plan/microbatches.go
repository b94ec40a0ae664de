package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"autoshard/internal/diag"
	"autoshard/microbatch"
	"autoshard/program"
	"autoshard/rewrites"
	"autoshard/search"
)

// slow is how many times as long as the fastest program that does not fit a plan takes where microbatches are tried.
const slow = 1.25

// outdoing is how many times as long one of two plans takes, of the whole batch and of the batch in parts, where its search ends: it is
// not expected to get so much faster.
const outdoing = 2

// decide chooses a plan, of a program that computes its batch in microbatches where no other fits, or none that is nearly as fast as those
// that memory does not hold. Quick searches do without.
func (p *planner) decide(ctx, late context.Context) (*choice, error) {
	found, begin := p.found.clone(), p.timeLeft(ctx)
	p.hasty = p.limited(ctx)
	baselines, err := p.baselines(late)
	if err != nil {
		return nil, err
	}
	left := p.timeLeft(ctx)
	if p.screening || p.Without.Has(rewrites.Microbatches) || p.prior != nil {
		return p.decideFrom(ctx, late, baselines)
	}
	s := &partsSearch{planner: p, due: ctx, clean: found, baselines: baselines, each: 4 * (begin - left), ended: map[*choice]bool{}}
	if err := s.resume(ctx, late); err != nil {
		return nil, err
	}
	resumed, clean := s.quick != nil, p.found.clone()
	p.inParts = s
	c, err := p.decideFrom(ctx, late, baselines)
	p.inParts = nil
	switch {
	case err != nil && !errors.Is(err, diag.ErrInfeasible), err == nil && !c.isSlow() && !s.outdoes(c) && !resumed:
		return c, err
	case !s.begun && 3*p.timeLeft(ctx) < 2*left:
		if !resumed {
			return c, err
		}
		s.begun = true // there is no time for other numbers of parts
	}
	s.whole = c
	other, failed := s.search(ctx, late)
	switch {
	case failed != nil:
		return nil, failed
	case other != nil:
		return other, nil
	case err == nil && s.outdoes(c): // by what breaks the budgets: the whole batch was not searched to the end
		whole := *p
		whole.found = clean
		c, err = whole.decideFrom(ctx, late, baselines)
	}
	return c, s.explain(err)
}

// meetParts looks for a quick plan of the batch in parts, once a plan of the whole batch turns out to be slow, or not to be found.
func (c *choice) meetParts(ctx context.Context, _ *level) error {
	s := c.inParts
	if s == nil || s.begun || !c.isSlow() {
		return nil
	}
	ctx, cancel := c.part(ctx, 0.5)
	defer cancel()
	s.whole = c
	return s.begin(ctx, c.late)
}

// outdone says whether the batch in parts is much faster than the best plan.
func (c *choice) outdone() bool { return c.inParts != nil && c.inParts.outdoes(c) }

// outdoes says whether the quick plan of the batch in parts, if there is one, is much faster than the best of the whole batch.
func (s *partsSearch) outdoes(c *choice) bool {
	return s.quick != nil && (c.best == nil || muchSlower(c.best, s.quick.best))
}

// leads says whether the quick plan of the batch in parts, if there is one, is faster than the best of the whole batch.
func (s *partsSearch) leads(c *choice) bool {
	return s.quick != nil && c.best != nil && s.quick.best.step.Total() < c.best.step.Total()
}

// muchSlower says whether a program is much slower than another one.
func muchSlower(l, than *lowered) bool { return l.step.Total()/outdoing > than.step.Total() }

// explain adds to the error that no plan fits, which is about the whole batch, what microbatches come to, if any were tried. Where they
// fit, but break the budgets, that is the error.
func (s *partsSearch) explain(err error) error {
	if s.unkept != nil && err != nil {
		return s.unkept
	}
	var none *diag.Error
	if s.tightest == nil || !errors.As(err, &none) {
		return err
	}
	least := s.tightest.least.step.Peak
	if s.nearest != nil && least >= s.nearest.step.Peak {
		return none.WithNote(diag.Position{}, "no plan of the batch in parts, of up to %d microbatches, was found to need less", s.most)
	}
	out := s.noneFits(least).WithNote(diag.Position{}, "in %d microbatches less would do: `--memory %s` has a plan", s.tightest.parts,
		atLeast(least))
	if s.nearest == nil {
		return out
	}
	out = out.WithNote(diag.Position{}, "the whole batch needs %s", diag.Bytes(s.nearest.step.Peak))
	for _, n := range none.Diagnostics[0].Notes {
		out = out.WithNote(n.Pos, "%s", n.Message)
	}
	return out
}

// timeLeft returns how much time is left until the answer is due: always the same, and much, where it is not due at any time, and none
// where it is wanted now.
func (o *Options) timeLeft(ctx context.Context) time.Duration {
	due, ok := ctx.Deadline()
	switch {
	case ctx.Err() != nil:
		return 0
	case !ok || o.Now == nil:
		return math.MaxInt64 / 4
	}
	return max(0, due.Sub(o.Now()))
}

// isSlow says whether there is no plan, or it takes much longer than a program that memory does not hold, or than what is proven where
// memory rules out a baseline that is faster.
func (c *choice) isSlow() bool {
	if c.best == nil {
		return true
	}
	than := func(ps int64) bool { return float64(c.best.step.Total()) > slow*float64(ps) }
	return len(c.crowded) > 0 && than(c.crowded[0].step.Total()) || c.binding() && than(c.bound)
}

// partsSearch looks for the number of microbatches with which a step is fastest.
type partsSearch struct {
	*planner
	due       context.Context // ends when the answer is due
	clean     findings
	baselines []baseline
	whole     *choice       // that of the whole batch; nil where none fits
	each      time.Duration // that a plan takes at least
	begun     bool
	splitter  *microbatch.Splitter // nil where the batch cannot be split
	most      int64                // microbatches that were tried
	plans     []*choice            // by quick searches
	ended     map[*choice]bool     // of these, whose number of parts was searched to the end
	quick     *choice              // the best of these; nil for none
	gained    float64              // by searches to the end: how many times as long a quick plan took, at most; 0 for none
	tightest  *choice              // of those in which nothing fits, the one with the program that needs least
	unkept    error                // that what fits keeps no budgets
}

// search returns the best plan with microbatches, nil where none fits, or none is faster than that of the whole batch. Plans are searched
// to the end in the numbers of parts in which the quick ones are not much slower than the best so far: of a large problem in that of the
// best one alone, and if that is faster as it is.
func (s *partsSearch) search(ctx, late context.Context) (*choice, error) {
	if !s.begun {
		if err := s.begin(ctx, late); err != nil {
			return nil, err
		}
	}
	best := s.quick
	if best == nil {
		return s.fit(ctx, late)
	}
	large := best.isLarge()
	if large && !s.faster(best.best) {
		return nil, nil
	}
	s.release(best.planner)
	spending, stop := s.spending(ctx)
	defer stop()
	best, err := s.searchAll(spending, late, best)
	if err == nil && !large {
		best, err = s.mergeAll(spending, late, best)
	}
	if err == nil {
		best.best = best.thriftiest()
		err = best.economize(ctx)
	}
	switch {
	case errors.Is(err, diag.ErrInfeasible):
		s.unkept = err
		return nil, nil
	case err != nil || !s.faster(best.best):
		return nil, err
	}
	return best, nil
}

// fit searches the number of parts to the end in which a quick search came nearest to the memory, where none fits. There is no plan where
// that of the whole batch is as fast. If none fits then either, it takes notice of what that needs.
func (s *partsSearch) fit(ctx, late context.Context) (*choice, error) {
	q := s.tightest
	if q == nil || q.isLarge() || s.timeLeft(ctx) <= s.each {
		return nil, nil
	}
	c, err := s.goOn(ctx, late, q)
	switch {
	case err == nil && s.faster(c.best):
		return c, nil
	case err != nil && !foundNone(late, err):
		return nil, err
	}
	if c.nearest != nil && c.nearest.step.Peak < q.least.step.Peak {
		q.least = c.nearest
	}
	return nil, nil
}

// release makes the planner of a quick plan one of a plan like any other: what goes on from it is searched to its end.
func (s *partsSearch) release(p *planner) {
	p.screening, p.unsplit, p.Steps = false, s.alternative(), s.Steps
}

// goOn searches on from a quick plan, or from where there is none, to the end.
func (s *partsSearch) goOn(ctx, late context.Context, q *choice) (*choice, error) {
	s.report("microbatches", 0, 0)
	c, p := *q, *q.planner
	s.release(&p)
	c.planner, c.ctx, c.late, c.begun, c.early = &p, ctx, late, p.now(), false
	if q.last != nil {
		l := *q.last
		l.quick, l.tried, l.messages = false, slices.Clone(l.tried), search.Messages{} // a search changes them: they serve once
		c.last = &l
	}
	if err := c.conclude(c.apart); err != nil {
		return &c, err
	}
	return &c, c.tidy(ctx)
}

// apart searches to the end with every axis on its own, also where all were placed as one, unless that is a large problem.
func (c *choice) apart(ctx context.Context) error {
	if c.groups == 0 {
		return c.toEnd(ctx)
	}
	groups, strategies, bytes := c.groups, c.strategies, c.room.level
	c.groups = 0
	l, err := c.finest(ctx)
	if err != nil {
		return err
	}
	if l != nil && !l.large() {
		c.last = l
		return c.toEnd(ctx)
	}
	c.groups, c.large, c.strategies, c.room.level = groups, true, strategies, bytes
	c.coarse(c.last)
	return c.toEnd(ctx)
}

// searchAll returns the best of a plan and those of the numbers of parts that it searches to the end, those of fast quick plans first.
func (s *partsSearch) searchAll(ctx, late context.Context, best *choice) (*choice, error) {
	for _, q := range s.fastest() {
		if q.isLarge() && q != s.quick || s.hasEnded(q.parts) || !s.promising(q.best, best.best) || s.timeLeft(ctx) <= s.each {
			continue
		}
		c, err := s.toEnd(ctx, late, q)
		if err != nil {
			return nil, err
		}
		if c != nil && c.beats(best) {
			best = c
		}
	}
	return best, nil
}

// hasEnded says whether a number of parts was searched to the end.
func (s *partsSearch) hasEnded(parts int64) bool {
	return slices.ContainsFunc(s.plans, func(q *choice) bool { return q.parts == parts && s.ended[q] })
}

// A search to the end is expected to gain on a quick plan at most the power of what others have gained, and so many times that.
const (
	gainsPower = 5
	gainsSlack = 1.25
)

// promising says whether a quick plan may become the best at the end of its search.
func (s *partsSearch) promising(quick, best *lowered) bool {
	if muchSlower(quick, best) || s.whole != nil && s.whole.best != nil && muchSlower(quick, s.whole.best) {
		return false
	}
	reach := gainsSlack * math.Pow(s.gained, gainsPower) * float64(best.step.Total())
	return s.gained == 0 || float64(quick.step.Total()) <= reach
}

// fastest returns the quick plans, the fastest first.
func (s *partsSearch) fastest() []*choice {
	return slices.SortedStableFunc(slices.Values(s.plans), func(a, b *choice) int {
		return cmp.Compare(a.best.step.Total(), b.best.step.Total())
	})
}

// toEnd searches the number of parts of a quick plan to the end. There is none where nothing fits, or no baseline is as fast as the best
// plan of the whole batch is by now.
func (s *partsSearch) toEnd(ctx, late context.Context, q *choice) (*choice, error) {
	if s.ended[q] = true; !s.promise(q.baselines) {
		return nil, nil
	}
	c, err := s.goOn(ctx, late, q)
	switch {
	case foundNone(late, err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	q.bound = max(q.bound, c.bound) // it holds for the same plans
	s.gained = max(s.gained, 1, float64(q.best.step.Total())/float64(c.best.step.Total()))
	return c, nil
}

// foundNone says whether a search ended without a plan, as nothing fits, or as time ran out before something did.
func foundNone(late context.Context, err error) bool {
	return errors.Is(err, diag.ErrInfeasible) || ranOut(err) && late.Err() == nil
}

// ranOut says whether a search ended without a plan as time did.
func ranOut(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// mergedPlans are how many quick plans are searched again with collectives that are sent as one.
const mergedPlans = 3

// mergeAll searches the fastest quick plans again with collectives that are sent as one, and returns the best plan, of a number of parts
// that was searched to the end: a quick search pays for each collective, which misleads where parts are small, and what it found leads
// elsewhere than a search to the end.
func (s *partsSearch) mergeAll(ctx, late context.Context, best *choice) (*choice, error) {
	quick := s.fastest()
	for _, q := range quick[:min(len(quick), mergedPlans)] {
		if q.last == nil || q.isLarge() || s.timeLeft(ctx) <= s.each {
			continue
		}
		if err := q.merging(ctx, q.last); err != nil {
			return nil, err
		}
		if q.beats(best) {
			s.release(q.planner)
			best = q
		}
	}
	if !slices.Contains(s.plans, best) || s.ended[best] || !s.faster(best.best) || s.timeLeft(ctx) <= s.each {
		return best, nil
	}
	c, err := s.toEnd(ctx, late, best)
	if c != nil && c.beats(best) {
		best = c
	}
	return best, err
}

// faster says whether a program is faster than the best plan of the whole batch, if there is one, by so much that it counts.
func (s *partsSearch) faster(l *lowered) bool { return s.whole == nil || s.whole.faster(l) }

// alternative returns the best program of the whole batch or, where none fits, the one that needs least.
func (s *partsSearch) alternative() *lowered {
	switch {
	case s.whole == nil:
		return s.nearest
	case s.whole.best == nil:
		return s.whole.least
	}
	return s.whole.best
}

// partsGain says what computing the batch in parts saves, beside the best plan of the whole batch that was found or, where none fits, the
// program that needs least: more than beside the best that there is, where that search ended early.
func (p *planner) partsGain(with program.Estimate) []Gain {
	if p.unsplit == nil {
		return []Gain{}
	}
	alone := program.EstimateOf(p.unsplit.program, &p.unsplit.step)
	return []Gain{{rewrites.Microbatches.String(), alone.Seconds - with.Seconds, alone.SentBytes - with.SentBytes,
		alone.PeakBytes - with.PeakBytes}}
}
