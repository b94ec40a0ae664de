package plan

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"autoshard/internal/diag"
	"autoshard/microbatch"
	"autoshard/program"
	"autoshard/rewrites"
)

// slow is how many times as long as the fastest program that does not fit a plan takes where microbatches are tried.
const slow = 1.25

// decide chooses a plan, of a program that computes its batch in microbatches where no other fits, or none that is nearly as fast as those
// that memory does not hold. Quick searches do without.
func (p *planner) decide(ctx, late context.Context) (*choice, error) {
	found, begin := p.found.clone(), p.timeLeft(ctx)
	baselines, err := p.baselines(late)
	if err != nil {
		return nil, err
	}
	left := p.timeLeft(ctx)
	c, err := p.decideFrom(ctx, late, baselines)
	short := errors.Is(err, diag.ErrInfeasible) || err == nil && c.isSlow()
	if !short || p.screening || p.Without.Has(rewrites.Microbatches) || p.prior != nil || 3*p.timeLeft(ctx) < 2*left {
		return c, err
	}
	s := &partsSearch{planner: p, clean: found, baselines: baselines, best: c, each: 4 * (begin - left)}
	other, failed := s.search(ctx, late)
	switch {
	case failed != nil:
		return nil, failed
	case other != nil:
		return other, nil
	}
	return c, s.explain(err)
}

// explain adds to the error that no plan fits what microbatches come to, if any were tried.
func (s *partsSearch) explain(err error) error {
	var none *diag.Error
	if s.tightest == nil || !errors.As(err, &none) {
		return err
	}
	least := s.tightest.least.step.Peak
	if s.nearest != nil && least >= s.nearest.step.Peak {
		return none.WithNote(diag.Position{}, "no plan of the batch in parts, of up to %d microbatches, was found to need less", s.tried)
	}
	return none.WithNote(diag.Position{}, "in %d microbatches less would do: `--memory %s` has a plan", s.tightest.parts, atLeast(least))
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

// isSlow says whether a plan takes much longer than a program that memory does not hold.
func (c *choice) isSlow() bool {
	return len(c.crowded) > 0 && float64(c.best.step.Total()) > slow*float64(c.crowded[0].step.Total())
}

// partsSearch looks for the number of microbatches with which a step is fastest.
type partsSearch struct {
	*planner
	clean     findings
	baselines []baseline
	best      *choice       // the best plan of the whole batch; nil where none fits
	each      time.Duration // that a plan takes at least
	splitter  *microbatch.Splitter
	tried     int64   // microbatches at most
	tightest  *choice // of those in which nothing fits, the one with the program that needs least
}

// search returns the best plan with microbatches, nil where none fits, or none is faster than that of the whole batch. Quick searches say
// where to begin. From there on plans are searched to the end: of a large problem that one alone, and if it is faster as it is.
func (s *partsSearch) search(ctx, late context.Context) (*choice, error) {
	var err error
	if s.splitter, err = microbatch.New(late, s.module, batchInputs(s.module)); err != nil {
		return nil, late.Err()
	}
	parts := s.splitter.Parts()
	best, err := s.doubling(ctx, late, parts, true)
	if err != nil || best == nil {
		return nil, err
	}
	parts = slices.DeleteFunc(parts, func(n int64) bool { return n < best.parts })
	if best.strategies > largeProblem {
		if parts = parts[:1]; s.best != nil && !s.best.faster(best.best) {
			return nil, nil
		}
	}
	best.screening = false // what goes on from the plan is searched to its end
	full, err := s.doubling(ctx, late, parts, false)
	switch {
	case err != nil:
		return nil, err
	case full != nil && full.best.step.Total() < best.best.step.Total():
		best = full
	}
	if s.best != nil && !s.best.faster(best.best) {
		return nil, nil
	}
	return best, nil
}

// doubling returns the fastest plan with one of some numbers of microbatches, each at least twice the one before, as long as that helps and
// there is time; nil where none fits.
func (s *partsSearch) doubling(ctx, late context.Context, parts []int64, quick bool) (best *choice, err error) {
	least := int64(2)
	for _, n := range parts {
		if n < least || s.timeLeft(ctx) <= s.each {
			continue
		}
		least, s.tried = 2*n, max(s.tried, n)
		s.report("microbatches", 0, 0)
		c, err := s.decideOn(ctx, late, n, quick)
		switch {
		case errors.Is(err, diag.ErrInfeasible):
		case err != nil:
			return nil, err
		case c == nil || best != nil && (c.best == nil || c.best.step.Total() >= best.best.step.Total()):
			return best, nil
		case c.best != nil:
			best = c
		case s.tightest == nil || c.least.step.Peak < s.tightest.least.step.Peak:
			s.tightest = c
		}
	}
	return best, nil
}

// decideOn chooses a plan of so many microbatches. There is none where the batch cannot be split into so many, or no baseline is as fast as
// the best plan of the whole batch, however much it holds.
func (s *partsSearch) decideOn(ctx, late context.Context, parts int64, quick bool) (*choice, error) {
	m, err := s.splitter.Split(late, parts)
	if err != nil {
		return nil, late.Err()
	}
	q := *s.planner
	q.module, q.found, q.state, q.parts, q.screening, q.strategies = m, s.clean.clone(), replaced(m), parts, quick, 0
	q.found.Module, q.shown = m, s.baselines
	if q.unsplit = s.nearest; s.best != nil {
		q.unsplit = s.best.best
	}
	baselines, err := q.baselines(late)
	if err != nil {
		return nil, err
	}
	hopeful := func(b baseline) bool { return b.lowered != nil && s.best.faster(b.lowered) }
	if s.best != nil && !slices.ContainsFunc(baselines, hopeful) {
		return nil, nil
	}
	return q.decideFrom(ctx, late, baselines)
}

// partsGain says what computing the batch in parts saves, beside the best plan of the whole batch or, where none fits, the one that needs
// least.
func (p *planner) partsGain(with program.Estimate) []Gain {
	if p.unsplit == nil {
		return []Gain{}
	}
	alone := program.EstimateOf(p.unsplit.program, &p.unsplit.step)
	return []Gain{{rewrites.Microbatches.String(), alone.Seconds - with.Seconds, alone.SentBytes - with.SentBytes,
		alone.PeakBytes - with.PeakBytes}}
}
