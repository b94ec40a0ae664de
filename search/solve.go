package search

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
)

// DefaultSteps is the budget of [Solve] if Options.Steps is 0: a few seconds on one core.
const DefaultSteps int64 = 1_000_000_000

// Options of [Solve] and [MinPeak]. The zero value is good.
type Options struct {
	// Steps is the budget in work units, about the number of matrix entries visited (10^9 are in the order of a second). It depends on
	// nothing but the problem and the seed, so that results can be repeated. 0 means DefaultSteps, or five times what the reductions at
	// the start take if that is more; a rough search then takes what it needs.
	Steps int64
	// Complete lets reductions, and the search for the smallest limit where no solution was found, run to their end even where that
	// takes more than Steps. It is meant for problems for which no solution is known.
	Complete bool
	Seed     uint64
	// Initial are warm starts. The result is never worse than any of them that is a solution; others are ignored.
	Initial [][]int32
	// Brief leaves out the search for the smallest limit that works where no solution was found.
	Brief bool
	// Memory is the most bytes that the open nodes of the tree may take: beyond them the search goes depth first. 0 means 1 GiB.
	Memory int64
	// Messages, if not nil, are where the dual begins, and in the end where that of the problem's first model stood: those of a problem with
	// the same nodes, strategies and edges and nearly the same costs give a good bound at once.
	Messages *Messages
	// Rough ends the search where the dual stalls, with a good bound and a good solution, rather than branch. Values stay that others
	// dominate, so that Messages are about all of them.
	Rough bool
	// Quick says that of a rough search the solution counts, not the bound: where many nodes are alike, the best solution that treats them
	// alike, and takes strategies that lose little on the bound, will do.
	Quick bool
	// Narrow keeps a rough search to strategies that lose little by Messages, if these are of a problem with the same strategies, and leaves
	// Messages as they are: a good solution of a problem with slightly other costs is found in a fraction of the time, but no bound.
	Narrow bool
	// Gap ends the search where the cost exceeds the bound by no more than this part of the cost.
	Gap float64
	// Certify asks for a certificate of the bound. It costs a few percent of the time, and memory for what it records; in problems whose
	// edges share rows more, since it names single strategies.
	Certify bool
	// Progress, if not nil, is called for every better solution, every better bound and every phase, in order, from the calling goroutine.
	Progress func(Event)
}

// Event tells of progress. Cost is Inf while no solution is known; Solution is not nil if the event is a better solution, and must not be
// changed.
type Event struct {
	Cost, Bound int64
	Steps       int64
	Phase       string // `reduce`, `dual` or `tree`
	Source      string // what found it, such as `walk`; `bound` for a better bound, `phase` at the beginning of a phase
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
	// Certificate proves Bound if Options.Certify is set, else it is nil.
	Certificate *Certificate
	// Reached is a bound on the cost of the solutions that were searched: of a rough search those that treat nodes alike that are, or take
	// the strategies of a narrow search; else it is Bound.
	Reached int64
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
// Then the result still says how many steps were taken.
//
// The result depends only on the problem and the options, unless the context ends.
func Solve(ctx context.Context, p *Problem, opt Options) (Result, error) {
	s := newSolver(ctx, p, opt)
	s.warm()
	if opt.Rough && opt.Messages != nil && s.beginFolded() && opt.Quick {
		return s.result(), nil
	}
	w := s.model()
	if opt.Certify {
		w.prove(p)
		s.proof = w.proof
	}
	bound := s.root(w)
	s.raise(bound)
	if s.found {
		return s.result(), nil
	}
	if err := ctx.Err(); err != nil {
		return Result{Steps: s.steps()}, err
	}
	return s.explain(w.failed, bound >= Inf)
}

// solver is the state of one call of Solve.
type solver struct {
	ctx    context.Context
	p      *Problem
	opt    Options
	budget int64
	memory int64  // of the tree
	grows  bool   // the budget is the default one, which grows with the reductions
	strict bool   // nothing may take more than the budget
	proof  *proof // nil without Options.Certify
	lanes  [2]*lane
	phase  string

	folded   *folded // the dual begins with the messages of its problem; nil for none
	narrowed bool    // strategies were left out: nothing that is proven from then on holds for the problem
	reached  int64   // a bound on what was searched, if that is not the whole problem
	found    bool
	first    bool // stop at the first solution
	best     []int32
	cost     int64 // Inf if there is no solution
	peak     int64
	bound    int64
}

func newSolver(ctx context.Context, p *Problem, opt Options) *solver {
	grows := opt.Steps <= 0
	if grows {
		opt.Steps = DefaultSteps
	}
	s := &solver{grows: grows, strict: !grows && !opt.Complete, ctx: ctx, p: p, opt: opt, budget: opt.Steps, phase: "reduce", cost: Inf,
		bound: -Inf, memory: cmp.Or(opt.Memory, openBytes)}
	for i := range s.lanes {
		rng := rand.New(rand.NewPCG(opt.Seed, mix(opt.Seed)+uint64(i)))
		s.lanes[i] = &lane{ctx: ctx, p: p, rng: rng, until: opt.Steps, limit: opt.Steps, table: exactTable, cost: Inf}
		if !s.strict {
			s.lanes[i].limit = math.MaxInt64
		}
	}
	return s
}

// warm takes what is known before any search: a bound, and the warm starts.
func (s *solver) warm() {
	s.raise(s.p.leastCost())
	for _, x := range s.opt.Initial {
		s.lanes[0].offer(x, "initial")
	}
	s.merge()
}

// model returns the working model of the problem, or of the part of it that a narrow search looks at.
func (s *solver) model() *work {
	w := newWork(s.ctx, s.p)
	w.rough = s.opt.Rough
	s.narrowed = s.narrow(w)
	return w
}

// over reports whether the search has to stop, given the bound of what is left.
func (s *solver) over(bound int64) bool {
	return bound >= Inf || s.found && (s.first || bound >= s.cost-s.tolerance()) || s.work() >= s.budget || s.lanes[0].cut || s.lanes[1].cut ||
		s.ctx.Err() != nil
}

// tolerance returns by how much the cost may exceed the bound in the end.
func (s *solver) tolerance() int64 { return int64(s.opt.Gap * math.Abs(float64(s.cost))) }

// raise takes a bound that is valid for all that is searched.
func (s *solver) raise(bound int64) {
	if s.narrowed {
		s.reached = max(s.reached, min(bound, s.cost))
		return
	}
	if bound = min(bound, s.cost); bound > s.bound {
		s.bound = bound
		s.report("bound", nil)
	}
}

// enter begins a phase.
func (s *solver) enter(phase string) {
	s.phase = phase
	s.report("phase", nil)
}

func (s *solver) report(source string, x []int32) {
	if s.opt.Progress != nil {
		s.opt.Progress(Event{Cost: s.cost, Bound: min(s.bound, s.cost), Steps: s.work(), Phase: s.phase, Source: source, Solution: x})
	}
}

// steps returns the work that counts as spent: the last piece of work may end a little beyond the budget.
func (s *solver) steps() int64 {
	if s.strict {
		return min(s.work(), s.opt.Steps)
	}
	return s.work()
}

func (s *solver) result() Result {
	r := Result{Solution: s.best, Cost: s.cost, Bound: min(s.bound, s.cost), Peak: s.peak, Status: Feasible, Steps: s.steps()}
	if s.proof != nil {
		r.Certificate = newCertificate(s.p, s.proof, r)
		r.Bound = min(r.Bound, r.Certificate.Bound)
	}
	switch {
	case r.Bound == r.Cost:
		r.Status = Optimal
	case s.ctx.Err() != nil:
		r.Status = Early
	}
	r.Reached = max(r.Bound, s.reached)
	return r
}

// stallRounds is the number of rounds without progress after which the search turns to branching.
const stallRounds = 8

// root searches the whole problem and returns its proven bound.
func (s *solver) root(w *work) int64 {
	zero := s.lanes[0]
	zero.first, s.lanes[1].first = s.first, s.first
	zero.reduce(w)
	switch {
	case s.grows && s.opt.Rough:
		s.budget = math.MaxInt64
	case s.grows:
		s.budget = max(s.budget, 5*zero.spent)
	}
	if w.failed != nil {
		return Inf
	}
	if zero.cut || s.ctx.Err() != nil {
		return -Inf
	}
	s.allow(s.budget)
	g := s.begin(w)
	g.settle()
	s.merge()
	s.raise(g.bound)
	if s.over(g.bound) {
		return g.bound
	}
	p := s.ascend(g)
	if s.opt.Rough || s.over(g.bound) {
		return g.bound
	}
	return s.branch(g, p)
}

// begin compiles the reduced problem, and starts from the messages that are known.
func (s *solver) begin(w *work) *stage {
	known := s.opt.Messages
	if known == nil {
		return newStage(s.lanes[0], w, -Inf, nil, nil)
	}
	prices, from := known.take(s.p, s.narrowed)
	if s.folded != nil {
		prices, from = nil, s.folded.messages(known.folded, w)
	}
	g := newStage(s.lanes[0], w, -Inf, prices, from)
	if !s.narrowed {
		g.messages = known
	}
	return g
}

// Steps of the dual in an epoch: of a search to the end, of a rough one, and of one that begins with the messages of the folded problem.
const roundSteps, roughSteps, foldedSteps = 20, 6, 2

// stalledPart is the part of the bound by which an epoch raises it at least before a quick search narrows.
const stalledPart = 200

// ascend raises the bound in one lane and looks for solutions in the other until neither gets anywhere.
func (s *solver) ascend(g *stage) *primal {
	s.enter("dual")
	p := newPrimal(s.lanes[1], g)
	steps, patience, look := roundSteps, stallRounds, p.round
	if s.opt.Rough { // the roundings of the dual are solutions enough
		steps, patience, look = roughSteps, 1, nil
	}
	if s.folded != nil {
		steps = foldedSteps
	}
	for idle := 0; idle < patience && !s.over(g.bound); idle++ {
		bound, cost := g.bound, s.cost
		if look != nil {
			if p.m != g.m {
				p = newPrimal(s.lanes[1], g)
			}
			p.follow(g)
		}
		s.allow(epochWork(g.m) * int64(steps) / roundSteps)
		s.epoch(func() { g.ascend(steps) }, look)
		s.raise(g.bound)
		g.adopt()
		least := max(abs(g.bound)/100_000, 1)
		if s.found {
			least = max((s.cost-g.bound)/64, 1)
		}
		if g.bound >= bound+least || s.cost < cost {
			idle = -1
		}
		certified := g.left != nil // not where the context ended before that
		if s.opt.Quick && !s.narrowed && g.st != nil && certified && g.bound-bound < abs(g.bound)/stalledPart {
			s.narrowed = true
			g.narrow()
		}
	}
	return p
}

// epochWork is the work of an epoch on a model: what a round of the dual takes.
func epochWork(m *model) int64 { return 3*(roundSteps+2)*m.entries + 100_000 }

// branch searches what is left of a stage in a tree, and returns the proven bound. Now and then one lane looks for solutions instead.
func (s *solver) branch(g *stage, p *primal) int64 {
	s.enter("tree")
	if p.m != g.m {
		p = newPrimal(s.lanes[1], g)
	}
	p.follow(g)
	t := newTree(s, g)
	for turn := 0; !s.over(t.bound()) && t.proof < proofWords; turn++ {
		a, b := t.pop(), (*treeNode)(nil)
		if turn%3 > 0 {
			b = t.pop()
		}
		var left, right []*treeNode
		s.allow(8 * epochWork(g.m))
		if b == nil {
			s.lanes[1].until = s.lanes[1].spent + min(epochWork(g.m), s.lanes[1].until-s.lanes[1].spent)
		}
		s.epoch(func() { left = a.visit(s.lanes[0]) }, func() {
			if b != nil {
				right = b.visit(s.lanes[1])
				return
			}
			p.adopt()
			p.round()
		})
		t.finish(a, left)
		t.finish(b, right)
		s.raise(t.bound())
	}
	g.raise(t.bound())
	return g.bound
}
