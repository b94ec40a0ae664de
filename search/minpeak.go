package search

import (
	"context"
	"slices"
)

// PeakResult is a solution of small peak. Bound is a proven lower bound on the peak of every solution; Status is Optimal if they are equal.
type PeakResult struct {
	Solution []int32
	Peak     int64
	Bound    int64
	Cost     int64
	Status   Status
	Steps    int64
}

// MinPeak minimises the peak usage of a problem, whatever the cost and the limit, and returns a valid solution that attains it. It searches
// the smallest limit that works by bisection between a lower bound, the usage that no choice avoids, and the best peak so far. It fails
// like [Solve].
func MinPeak(ctx context.Context, p *Problem, opt Options) (PeakResult, error) {
	if opt.Steps <= 0 {
		opt.Steps, opt.Complete = DefaultSteps, true
	}
	q := p.usageOnly()
	b := &bisection{ctx: ctx, p: q, opt: opt}
	for _, x := range opt.Initial {
		b.take(x)
	}
	if b.x == nil {
		if err := b.start(); err != nil {
			return PeakResult{Steps: b.spent}, err
		}
	}
	b.bound = min(b.unavoidable(), b.peak)
	b.run()
	// The costs of q are not those of p, but both allow the same solutions.
	cost, _, _ := p.Evaluate(b.x)
	r := PeakResult{Solution: b.x, Peak: b.peak, Bound: b.bound, Cost: cost, Status: Feasible, Steps: b.spent}
	switch {
	case b.bound == b.peak:
		r.Status = Optimal
	case ctx.Err() != nil:
		r.Status = Early
	}
	return r, nil
}

// bisection is the state of MinPeak: the best solution so far and the bound.
type bisection struct {
	ctx   context.Context
	p     *Problem
	opt   Options
	spent int64
	x     []int32
	peak  int64
	bound int64
}

// take keeps a solution if it is valid and has the smallest peak so far.
func (b *bisection) take(x []int32) {
	if _, peak, err := b.p.Evaluate(x); err == nil && (b.x == nil || peak < b.peak) {
		b.x, b.peak = slices.Clone(x), peak
	}
}

// start finds any solution.
func (b *bisection) start() error {
	s := newSolver(b.ctx, b.p, Options{Steps: b.opt.Steps, Seed: b.opt.Seed, Complete: b.opt.Complete})
	r, err := s.solveFirst()
	b.spent += s.work()
	if err == nil {
		b.take(r)
	}
	return err
}

// run tries the bound itself first, then halves what is left. Limits that failed without proof count as too small for the search only.
func (b *bisection) run() {
	low := b.bound // smallest limit not yet given up
	for limit := low; low < b.peak && b.spent < b.opt.Steps && b.ctx.Err() == nil; limit = low + (b.peak-low)/2 {
		s := newSolver(b.ctx, b.p.WithLimit(limit), Options{Steps: b.opt.Steps / 16, Seed: b.opt.Seed, Complete: b.opt.Complete})
		w := newWork(b.ctx, s.p)
		s.first = true
		proven := s.root(w) >= Inf
		b.spent += s.work()
		switch {
		case s.found:
			b.take(s.best)
		case proven && b.ctx.Err() == nil:
			low = limit + 1
			b.bound = max(b.bound, low)
		default:
			low = limit + 1
		}
	}
}

// solveFirst returns any solution.
func (s *solver) solveFirst() ([]int32, error) {
	s.first = true
	w := newWork(s.ctx, s.p)
	bound := s.root(w)
	if s.found {
		return s.best, nil
	}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	out := &InfeasibleError{Proven: bound >= Inf, Node: -1}
	if w.failed != nil {
		out.Node = w.failed.node
	}
	return nil, out
}

// usageOnly returns the problem without limit in which a strategy costs its usage and pairs cost nothing unless forbidden.
func (p *Problem) usageOnly() *Problem {
	q := p.WithoutLimit()
	q.Constant = 0
	q.Cost = slices.Clone(p.Cost)
	for i := range p.NumNodes() {
		for a := p.Off[i]; a < p.Off[i+1]; a++ {
			if q.Cost[a] < Inf {
				q.Cost[a] = 0
				if p.lo[i] < p.hi[i] {
					q.Cost[a] = p.Use[a]
				}
			}
		}
	}
	q.MatVal = slices.Clone(p.MatVal)
	for e, c := range q.MatVal {
		if c < Inf {
			q.MatVal[e] = 0
		}
	}
	return q
}

// unavoidable returns a lower bound on the peak: the largest usage over time if every node that is left after merging takes the least it
// can at every time step.
func (b *bisection) unavoidable() int64 {
	w := newWork(b.ctx, b.p.WithLimit(maxTotal))
	if !b.opt.Complete {
		w.until = b.opt.Steps - b.spent
	}
	w.structure(b.ctx)
	b.spent += w.takeSpent()
	w.tidyAll()
	return slices.Max(append(w.base, 0))
}
