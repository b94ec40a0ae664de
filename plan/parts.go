package plan

import (
	"context"
	"errors"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/microbatch"
)

// fruitless is how many numbers of parts in a row do not help where no more are tried, and likeliest is the part of the time that is left
// for the batch in parts that each of them may take: those that promise most come first. Finding these out takes another part at most.
const fruitless, likeliest, looking = 3, 0.5, 0.2

// begin finds out by quick searches how fast the batch is in some numbers of parts, as long as there is time, of which each may have as
// much as those after it, or half, and some of the latest helped; of large problems, which place every axis on its own, the latest.
func (s *partsSearch) begin(ctx, late context.Context) (err error) {
	s.begun = true
	if err := s.prepare(s.due, late); err != nil || s.splitter == nil {
		return err
	}
	numbers, t, err := s.likely(ctx, late)
	if err != nil {
		return err
	}
	vain, ways := 0, s.ways()
	for ; len(numbers) > 0 && s.timeLeft(ctx) > s.each; numbers = numbers[1:] {
		if t == nil || t.parts != numbers[0] {
			if t, err = s.splitInto(s.due, late, numbers[0]); err != nil || t == nil {
				return err
			}
		}
		s.most = max(s.most, t.parts)
		share, cancel := s.part(ctx, max(1/float64(len(numbers)), likeliest))
		c, better, err := s.decideOn(share, late, t, ways)
		cancel()
		switch {
		case errors.Is(err, diag.ErrInfeasible):
			continue
		case err != nil:
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

// likely returns the numbers of parts that are tried, in their order: where time or steps are limited, from the fewest parts in which a
// baseline fits downwards, and then those above, since a plan in too few parts takes long to find and is slow. The batch in the first of
// them comes with that.
func (s *partsSearch) likely(ctx, late context.Context) (numbers []int64, first *splitBatch, err error) {
	if numbers = s.numbers(); !s.hasty {
		return numbers, nil, nil
	}
	look, cancel := s.part(ctx, looking)
	defer cancel()
	least := 0 // of the numbers, the place after the first in which a baseline fits
	for fits := false; least < len(numbers) && !fits && look.Err() == nil; least++ {
		t, err := s.splitInto(s.due, late, numbers[least])
		if err != nil {
			return nil, nil, err
		}
		if t == nil {
			numbers = numbers[:least]
			break
		}
		first, fits = t, slices.ContainsFunc(t.baselines, t.fits)
	}
	slices.Reverse(numbers[:least])
	return numbers, first, nil
}

// splitBatch is the batch in some number of parts, and what is known of that without search.
type splitBatch struct {
	*planner
	baselines []baseline
}

// fits says whether a baseline has a program that memory holds.
func (p *planner) fits(b baseline) bool { return b.lowered != nil && b.lowered.step.Peak <= p.Memory }

// splitInto returns the batch in so many parts; nil where it cannot be split into so many, or no baseline is as fast as the best plan of
// the whole batch, however much it holds, or ctx ends first. Errors are those of baselines.
func (s *partsSearch) splitInto(ctx, late context.Context, parts int64) (*splitBatch, error) {
	s.report("microbatches", 0, 0)
	m, err := s.splitter.Split(ctx, parts)
	if err != nil {
		return nil, late.Err()
	}
	t := &splitBatch{planner: s.planning(m, parts)}
	switch t.baselines, err = t.planner.baselines(ctx); {
	case err != nil && ctx.Err() != nil:
		return nil, late.Err()
	case err != nil || !s.promise(t.baselines):
		return nil, err
	}
	return t, nil
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

// prepare finds out how the batch can be split, once; it cannot where there is no splitter, as where ctx ends first. It fails with late's
// error.
func (s *partsSearch) prepare(ctx, late context.Context) error {
	if s.splitter != nil {
		return nil
	}
	splitter, err := microbatch.New(ctx, s.module, batchInputs(s.module))
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
	if err := s.prepare(late, late); err != nil || s.splitter == nil {
		return err
	}
	t, err := s.splitInto(late, late, parts)
	if err != nil || t == nil {
		return err
	}
	if _, _, err := s.decideOn(ctx, late, t, s.ways()); !foundNone(late, err) {
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

// decideOn chooses plans of the batch in some number of parts, quickly, in some ways that share time and steps, and takes notice of them.
// It returns the last, and whether one is the best so far.
func (s *partsSearch) decideOn(ctx, late context.Context, t *splitBatch, ways []int) (last *choice, better bool, err error) {
	steps := s.Steps
	for i, groups := range ways {
		if last != nil && ctx.Err() != nil {
			break
		}
		p := s.planning(t.module, t.parts)
		p.groups, p.lowering = groups, t.lowering
		left := len(ways) - i
		if s.Steps > 0 {
			p.Steps = max(steps/int64(left), 1)
		}
		part, cancel := s.part(ctx, 1/float64(left))
		last, err = p.decideFrom(part, late, t.baselines)
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
