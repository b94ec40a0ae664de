package search

import (
	"context"
	"math/rand/v2"
	"slices"
)

// lane is what one of the two workers of an epoch may change, beside models of its own (solver.md section 4.11). During an epoch lanes
// share nothing that changes; between epochs the solver merges what they found, in order. So the result does not depend on how the
// goroutines were scheduled, or on how many run at once.
type lane struct {
	ctx   context.Context
	p     *Problem
	rng   *rand.Rand
	spent int64
	until int64 // the work at which the lane has to stop
	limit int64 // the work at which even a reduction that began has to stop
	cut   bool  // one did: the lane must not go on with its model
	first bool  // stop at the first solution
	table int64 // bound on the tables when a whole model is solved by elimination

	found  bool
	best   []int32
	cost   int64 // Inf if there is no solution
	peak   int64
	source string
}

func (l *lane) charge(n int64) { l.spent += n }

// reduce runs the reductions of a model at the lane's expense.
func (l *lane) reduce(w *work) {
	w.until = l.limit - l.spent
	w.reduce(l.ctx)
	l.charge(w.takeSpent())
	l.cut = l.cut || w.cut
}

// done reports whether the lane has to stop.
func (l *lane) done() bool {
	return l.cut || l.spent >= l.until || l.first && l.found || l.ctx.Err() != nil
}

// offer takes a solution of the problem if it is valid and the best so far.
func (l *lane) offer(x []int32, source string) {
	cost, peak, err := l.p.Evaluate(x)
	if err != nil || !l.p.within(peak) || l.found && cost >= l.cost {
		return
	}
	l.found, l.best, l.cost, l.peak, l.source = true, slices.Clone(x), cost, peak, source
}

// work returns what the lanes have spent together.
func (s *solver) work() int64 { return s.lanes[0].spent + s.lanes[1].spent }

// allow lets the lanes spend up to the given work each, within the budget.
func (s *solver) allow(work int64) {
	rest := max(s.budget-s.work(), 0)
	for _, l := range s.lanes {
		l.until = l.spent + min(work, rest/2+1)
		if s.strict {
			l.limit = l.spent + rest/2 + 1
		}
	}
}

// epoch runs one function in each lane, at the same time, and merges what they found. Either may be nil.
func (s *solver) epoch(zero, one func()) {
	done := make(chan struct{})
	go func() {
		if one != nil {
			one()
		}
		close(done)
	}()
	if zero != nil {
		zero()
	}
	<-done
	s.merge()
}

// merge makes the best solution of both lanes that of the solver and of both lanes.
func (s *solver) merge() {
	for _, l := range s.lanes {
		if l.found && (!s.found || l.cost < s.cost) {
			s.found, s.best, s.cost, s.peak = true, l.best, l.cost, l.peak
			s.report(l.source, s.best)
		}
	}
	for _, l := range s.lanes {
		l.found, l.best, l.cost, l.peak = s.found, s.best, s.cost, s.peak
	}
}
