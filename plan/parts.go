package plan

import (
	"context"
	"errors"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/microbatch"
)

// fruitless is how many numbers of parts in a row do not help where no more are tried.
const fruitless = 3

// begin finds out by quick searches how fast the batch is in some numbers of parts, as long as there is time, of which each may have as
// much as those after it, and some of the latest helped; of a large problem the latest.
func (s *partsSearch) begin(ctx, late context.Context) (err error) {
	s.begun = true
	if err := s.prepare(late); err != nil || s.splitter == nil {
		return err
	}
	vain := 0
	for numbers := s.numbers(); len(numbers) > 0 && s.timeLeft(ctx) > s.each; numbers = numbers[1:] {
		s.most = numbers[0]
		share, cancel := s.part(ctx, 1/float64(len(numbers)))
		c, err := s.decideOn(share, late, numbers[0])
		cancel()
		switch {
		case errors.Is(err, diag.ErrInfeasible):
			continue
		case err != nil || c == nil:
			return err
		}
		if vain++; s.take(c) {
			vain = 0
		}
		if s.quick != nil && (vain == fruitless || vain > 0 && c.strategies > largeProblem) {
			return nil
		}
	}
	return nil
}

// numbers are those of parts that are tried, each at least twice the one before.
func (s *partsSearch) numbers() (list []int64) {
	last := int64(1)
	for _, n := range s.splitter.Parts() {
		if n >= 2*last && n != s.partsBefore() {
			list, last = append(list, n), n
		}
	}
	return list
}

// prepare finds out how the batch can be split, once; it cannot where there is no splitter. It fails with the context's error.
func (s *partsSearch) prepare(late context.Context) error {
	if s.splitter != nil {
		return nil
	}
	splitter, err := microbatch.New(late, s.module, batchInputs(s.module))
	if err != nil {
		return late.Err()
	}
	s.splitter = splitter
	return nil
}

// partsBefore returns the number of parts in the plan that the search begins with, 0 for none.
func (o *Options) partsBefore() int64 {
	if o.From == nil {
		return 0
	}
	return o.From.Microbatches
}

// resume takes the plan that the search begins with, if that computes its batch in parts, as the quick one in so many.
func (s *partsSearch) resume(ctx, late context.Context) error {
	parts := s.partsBefore()
	if parts == 0 {
		return nil
	}
	if err := s.prepare(late); err != nil || s.splitter == nil {
		return err
	}
	c, err := s.decideOn(ctx, late, parts)
	if err == nil && c != nil {
		s.take(c)
	}
	if foundNone(late, err) {
		return nil
	}
	return err
}

// take takes notice of what a quick search came to. It reports whether that is the best plan so far.
func (s *partsSearch) take(c *choice) (better bool) {
	if c.best == nil {
		if s.tightest == nil || c.least.step.Peak < s.tightest.least.step.Peak {
			s.tightest = c
		}
		return false
	}
	s.plans = append(s.plans, c)
	if better = s.quick == nil || c.best.step.Total() < s.quick.best.step.Total(); better {
		s.quick = c
	}
	return better
}

// decideOn chooses a plan of so many microbatches, quickly. There is none where the batch cannot be split into so many, or no baseline is
// as fast as the best plan of the whole batch, however much it holds.
func (s *partsSearch) decideOn(ctx, late context.Context, parts int64) (*choice, error) {
	s.report("microbatches", 0, 0)
	m, err := s.splitter.Split(late, parts)
	if err != nil {
		return nil, late.Err()
	}
	p := s.planning(m, parts)
	p.screening = true
	baselines, err := p.baselines(late)
	if err != nil || !s.promise(baselines) {
		return nil, err
	}
	return p.decideFrom(ctx, late, baselines)
}

// planning returns a planner of a module that computes the batch in so many parts.
func (s *partsSearch) planning(m *ir.Module, parts int64) *planner {
	p := *s.planner
	p.module, p.found, p.state, p.parts, p.strategies = m, s.clean.clone(), replaced(m), parts, 0
	p.found.Module, p.shown, p.unsplit, p.inParts = m, s.baselines, s.alternative(), nil
	if p.alike = p.unsplit; s.quick != nil && (p.alike == nil || s.quick.prefers(s.quick.best, p.alike)) {
		p.alike = s.quick.best
	}
	return &p
}

// promise says whether one of some baselines is faster than the best plan of the whole batch.
func (s *partsSearch) promise(baselines []baseline) bool {
	return slices.ContainsFunc(baselines, func(b baseline) bool { return b.lowered != nil && s.faster(b.lowered) })
}
