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
// much as those after it, and some of the latest helped; of large problems, which place every axis on its own, the latest.
func (s *partsSearch) begin(ctx, late context.Context) (err error) {
	s.begun = true
	if err := s.prepare(late); err != nil || s.splitter == nil {
		return err
	}
	vain, ways := 0, s.ways()
	for numbers := s.numbers(); len(numbers) > 0 && s.timeLeft(ctx) > s.each; numbers = numbers[1:] {
		s.most = numbers[0]
		share, cancel := s.part(ctx, 1/float64(len(numbers)))
		c, better, err := s.decideOn(share, late, numbers[0], ways)
		cancel()
		switch {
		case errors.Is(err, diag.ErrInfeasible):
			continue
		case err != nil || c == nil:
			return err
		}
		if vain++; better {
			vain = 0
		}
		if vain > 0 && c.isLarge() && s.quick != nil {
			ways = ways[:len(ways)-1]
		}
		if s.quick != nil && (vain == fruitless || len(ways) == 0) {
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
	if _, _, err := s.decideOn(ctx, late, parts, s.ways()); !foundNone(late, err) {
		return err
	}
	return nil
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

// ways returns as how many parts quick searches place the mesh, 0 being each axis on its own: where there are several, and many ways to
// place them, as one first, as people place them where memory is short.
func (s *partsSearch) ways() (groups []int) {
	if axes := len(s.axes()); axes > 2 || axes == 2 && s.isLarge() {
		groups = []int{1}
	}
	return append(groups, 0)
}

// decideOn chooses plans of so many microbatches, quickly, in some ways that share time and steps, and takes notice of them. It returns the
// last, and whether one is the best so far. There is none where the batch cannot be split into so many, or no baseline is as fast as the
// best plan of the whole batch, however much it holds.
func (s *partsSearch) decideOn(ctx, late context.Context, parts int64, ways []int) (last *choice, better bool, err error) {
	s.report("microbatches", 0, 0)
	m, err := s.splitter.Split(late, parts)
	if err != nil {
		return nil, false, late.Err()
	}
	first := s.planning(m, parts)
	baselines, err := first.baselines(late)
	if err != nil || !s.promise(baselines) {
		return nil, false, err
	}
	steps := s.Steps
	for i, groups := range ways {
		p := s.planning(m, parts)
		p.groups, p.lowering = groups, first.lowering
		left := len(ways) - i
		if s.Steps > 0 {
			p.Steps = max(steps/int64(left), 1)
		}
		part, cancel := s.part(ctx, 1/float64(left))
		last, err = p.decideFrom(part, late, baselines)
		cancel()
		if err != nil {
			return nil, better, err
		}
		better = s.take(last) || better
		steps -= last.spent
	}
	return last, better, nil
}

// planning returns a planner of a module that computes the batch in so many parts, for a quick plan.
func (s *partsSearch) planning(m *ir.Module, parts int64) *planner {
	p := *s.planner
	p.module, p.found, p.state, p.parts, p.strategies = m, s.clean.clone(), replaced(m), parts, 0
	p.found.Module, p.shown, p.unsplit, p.inParts, p.screening = m, s.baselines, s.alternative(), nil, true
	if p.alike = p.unsplit; s.quick != nil && (p.alike == nil || s.quick.prefers(s.quick.best, p.alike)) {
		p.alike = s.quick.best
	}
	return &p
}

// promise says whether one of some baselines is faster than the best plan of the whole batch.
func (s *partsSearch) promise(baselines []baseline) bool {
	return slices.ContainsFunc(baselines, func(b baseline) bool { return b.lowered != nil && s.faster(b.lowered) })
}
