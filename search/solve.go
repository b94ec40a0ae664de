package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// DefaultSteps is the budget of [Solve] if Options.Steps is 0: a few seconds on one core.
const DefaultSteps int64 = 1_000_000_000

// Options of [Solve] and [MinPeak]. The zero value is good.
type Options struct {
	// Steps is the budget in work units, about the number of matrix entries visited (10^9 are in the order of a second). It depends on
	// nothing but the problem and the seed, so that results can be repeated. The reductions at the start always run. 0 means DefaultSteps,
	// or five times what the reductions take if that is more.
	Steps int64
	Seed  uint64
	// Initial are warm starts. The result is never worse than any of them that is a solution; others are ignored.
	Initial [][]int32
	// Progress, if not nil, is called for every better solution and every better bound, in order, from the calling goroutine.
	Progress func(Event)
}

// Event tells of progress. Cost is Inf while no solution is known; Solution is not nil if the event is a better solution, and must not be
// changed.
type Event struct {
	Cost, Bound int64
	Steps       int64
	Source      string // what found it, such as `walk`
	Solution    []int32
}

// Status says how far a result is proven.
type Status uint8

// Optimal results have cost == bound; Feasible ones ran out of steps; Early ones were cut short by the context.
const (
	Optimal Status = iota
	Feasible
	Early
)

// String returns the status in lower case.
func (s Status) String() string { return [...]string{"optimal", "feasible", "early"}[s] }

// Result is a solution with its exact cost and peak, and a proven lower bound on the cost of every solution.
type Result struct {
	Solution []int32
	Cost     int64
	Bound    int64
	Peak     int64
	Status   Status
	Steps    int64
}

// Gap returns (cost - bound) / cost, 0 for an optimal result.
func (r Result) Gap() float64 {
	if r.Cost <= r.Bound {
		return 0
	}
	return float64(r.Cost-r.Bound) / max(math.Abs(float64(r.Cost)), 1)
}

// Solve minimises the cost of a problem within its limit. It stops when the solution is proven optimal, the steps are spent, or the context
// ends; then it returns the best solution so far with a proven bound. It fails with
//   - *InfeasibleError (class diag.ErrInfeasible) if there is no solution, or none was found within the steps: see its field Proven;
//   - the context's error if that ended before any solution was known.
//
// The result depends only on the problem and the options, unless the context ends.
func Solve(ctx context.Context, p *Problem, opt Options) (Result, error) {
	s := newSolver(ctx, p, opt)
	s.raise(p.leastCost())
	for _, x := range opt.Initial {
		s.offer(x, "initial")
	}
	w := newWork(p)
	bound := s.root(w)
	s.raise(min(bound, s.incumbent()))
	if s.found {
		return s.result(), nil
	}
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return s.explain(w.failed, bound >= Inf)
}

// solver is the state of one call of Solve.
type solver struct {
	ctx    context.Context
	p      *Problem
	opt    Options
	rng    *rand.Rand
	spent  int64
	budget int64
	grows  bool      // the budget is the default one, which grows with the reductions
	prices []float64 // the best prices so far, by compressed time

	found bool
	first bool // stop at the first solution
	best  []int32
	cost  int64
	peak  int64
	bound int64
}

func newSolver(ctx context.Context, p *Problem, opt Options) *solver {
	grows := opt.Steps <= 0
	if grows {
		opt.Steps = DefaultSteps
	}
	return &solver{grows: grows, ctx: ctx, p: p, opt: opt, rng: rand.New(rand.NewPCG(opt.Seed, mix(opt.Seed))), budget: opt.Steps,
		prices: make([]float64, len(p.times)), cost: Inf, bound: -Inf}
}

func (s *solver) charge(n int64) { s.spent += n }

// done reports whether the search has to stop.
func (s *solver) done() bool {
	return s.spent >= s.budget || s.ctx.Err() != nil || s.found && (s.first || s.bound >= s.cost)
}

// incumbent returns the cost of the best solution, or Inf.
func (s *solver) incumbent() int64 { return s.cost }

// offer takes a solution of the problem if it is valid and the best so far.
func (s *solver) offer(x []int32, source string) {
	cost, peak, err := s.p.Evaluate(x)
	if err != nil || !s.p.within(peak) || s.found && cost >= s.cost {
		return
	}
	s.found, s.best, s.cost, s.peak = true, slices.Clone(x), cost, peak
	s.report(source, s.best)
}

// raise takes a bound that is valid for the whole problem.
func (s *solver) raise(bound int64) {
	if bound > s.bound {
		s.bound = bound
		s.report("bound", nil)
	}
}

func (s *solver) report(source string, x []int32) {
	if s.opt.Progress != nil {
		s.opt.Progress(Event{s.cost, min(s.bound, s.cost), s.spent, source, x})
	}
}

func (s *solver) result() Result {
	r := Result{Solution: s.best, Cost: s.cost, Bound: min(s.bound, s.cost), Peak: s.peak, Status: Feasible, Steps: s.spent}
	switch {
	case r.Bound == r.Cost:
		r.Status = Optimal
	case s.ctx.Err() != nil:
		r.Status = Early
	}
	return r
}

// stallRounds is the number of rounds without progress after which the root turns to branching.
const stallRounds = 15

// root searches the whole problem and returns its proven bound.
func (s *solver) root(w *work) int64 {
	w.reduce(s.ctx)
	s.charge(w.takeSpent())
	if s.grows {
		s.budget = max(s.budget, 5*s.spent)
	}
	if w.failed != nil {
		return Inf
	}
	if s.ctx.Err() != nil {
		return -Inf
	}
	g := newStage(s, w, -Inf)
	g.settle()
	s.raise(g.bound)
	for slice := int64(0); !g.over(); {
		g.rounds(stallRounds)
		if g.over() {
			break
		}
		slice = max(2*slice, s.spent)
		bound := s.tree(g.w.compact(), g.bound, slice)
		g.raise(bound)
		s.raise(min(g.bound, s.cost))
		g.adopt()
	}
	return g.bound
}

// over reports whether the root has nothing left to do.
func (g *stage) over() bool { return g.closed() || g.bound >= Inf || g.s.done() }

// rounds alternates dual and primal until nothing has improved for a number of rounds.
func (g *stage) rounds(stall int) {
	for idle := 0; idle < stall && !g.over(); idle++ {
		bound, cost := g.bound, g.s.cost
		before := g.s.spent
		steps := 20
		if !g.s.found && g.s.spent > g.s.budget/10 {
			steps = 5 // the model is large for the budget: a first solution matters more
		}
		g.ascend(steps)
		g.s.raise(min(g.bound, g.s.cost))
		if g.over() {
			return
		}
		if !g.s.found {
			g.dive(2 * (g.s.spent - before))
		}
		g.primal(g.s.spent - before)
		if step := max(abs(g.s.cost)/100_000, 1); g.bound >= bound+step || g.s.cost < cost {
			idle = -1
		}
	}
}
