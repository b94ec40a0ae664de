package search

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
)

// seeds is the number of random problems a test solves; the long run of docs/testing.md asks for more.
var seeds = flag.Int("seeds", 1000, "random problems per test")

// checkResult compares a result with the oracle and the exact evaluator.
func checkResult(t *testing.T, seed int, p *Problem, o oracle, r Result, err error) {
	t.Helper()
	if o.best >= Inf {
		checkInfeasible(t, seed, o, err)
		return
	}
	if err != nil {
		t.Fatalf("seed %d: %v, optimum %d", seed, err, o.best)
	}
	cost, peak, err := p.Evaluate(r.Solution)
	if err != nil || cost != r.Cost || peak != r.Peak || !p.within(peak) {
		t.Fatalf("seed %d: cost %d peak %d, evaluated %d %d %v", seed, r.Cost, r.Peak, cost, peak, err)
	}
	if r.Bound > o.best || r.Cost < o.best || r.Status == Optimal && r.Cost != o.best {
		t.Fatalf("seed %d: bound %d, cost %d, %s, optimum %d", seed, r.Bound, r.Cost, r.Status, o.best)
	}
}

func checkInfeasible(t *testing.T, seed int, o oracle, err error) {
	t.Helper()
	var inf *InfeasibleError
	if !errors.As(err, &inf) || !errors.Is(err, diag.ErrInfeasible) {
		t.Fatalf("seed %d: %v, want infeasible", seed, err)
	}
	if !inf.Proven {
		t.Errorf("seed %d: not proven: %v", seed, err)
	}
	if inf.Memory != (o.minPeak < Inf) {
		t.Errorf("seed %d: memory %v, least peak %d", seed, inf.Memory, o.minPeak)
	}
	if inf.Memory && (inf.MinLimit < o.minPeak || inf.Need > o.minPeak) {
		t.Errorf("seed %d: %+v, least peak %d", seed, inf, o.minPeak)
	}
}

// The solver finds the optimum of small problems and proves it, or proves that there is no solution.
func TestSolveAgainstBruteForce(t *testing.T) {
	for seed := range *seeds {
		p := randomProblem(rand.New(rand.NewPCG(uint64(seed), 1)))
		o := bruteForce(p)
		r, err := Solve(context.Background(), p, Options{Steps: 2_000_000, Seed: uint64(seed)})
		checkResult(t, seed, p, o, r, err)
		if err == nil && r.Status != Optimal {
			t.Errorf("seed %d: %s with bound %d, cost %d, optimum %d", seed, r.Status, r.Bound, r.Cost, o.best)
		}
	}
}

// TestSearchAgainstBruteForce solves problems as if they were too large for elimination, so that prices, exclusions and the tree have to do
// all the work.
func TestSearchAgainstBruteForce(t *testing.T) {
	for seed := range *seeds / 2 {
		rng := rand.New(rand.NewPCG(uint64(seed), 11))
		p := randomProblem(rng)
		if seed%4 == 0 {
			p = denseProblem(rng)
		}
		o := bruteForce(p)
		s := newSolver(context.Background(), p, Options{Steps: 20_000_000, Seed: uint64(seed)})
		s.lanes[0].table, s.lanes[1].table = 0, 0
		s.raise(s.root(newWork(context.Background(), p)))
		if !s.found {
			if o.best < Inf {
				t.Fatalf("seed %d: nothing found, optimum %d", seed, o.best)
			}
			continue
		}
		r := s.result()
		checkResult(t, seed, p, o, r, nil)
		if r.Status != Optimal {
			t.Errorf("seed %d: %s with bound %d, cost %d, optimum %d", seed, r.Status, r.Bound, r.Cost, o.best)
		}
	}
}

// Problems in which every node has edges to all others are solved to their optimum, too.
func TestSolveDenseAgainstBruteForce(t *testing.T) {
	for seed := range *seeds / 10 {
		p := denseProblem(rand.New(rand.NewPCG(uint64(seed), 5)))
		o := bruteForce(p)
		r, err := Solve(context.Background(), p, Options{Steps: 20_000_000, Seed: uint64(seed)})
		checkResult(t, seed, p, o, r, err)
		if r.Status != Optimal {
			t.Errorf("seed %d: %s with bound %d, cost %d, optimum %d", seed, r.Status, r.Bound, r.Cost, o.best)
		}
	}
}

// TestTwelveNodes solves problems of up to twelve nodes with up to six strategies to optimality.
func TestTwelveNodes(t *testing.T) {
	for seed := range *seeds / 5 {
		p := twelveNodes(rand.New(rand.NewPCG(uint64(seed), 14)))
		want := enumerate(p)
		r, err := Solve(context.Background(), p, Options{})
		if want >= Inf {
			var inf *InfeasibleError
			if !errors.As(err, &inf) || !inf.Proven {
				t.Errorf("seed %d: %v, there is no solution", seed, err)
			}
			continue
		}
		if err != nil || r.Status != Optimal || r.Cost != want {
			t.Errorf("seed %d: %s with bound %d, cost %d, optimum %d, %v", seed, r.Status, r.Bound, r.Cost, want, err)
		}
	}
}

// TestStageAgainstBruteForce runs the stages behind the reductions on models that are not reduced, so that nothing is solved before they
// come to work: the dual, its integer bound and fixing, rounding, the walk, neighbourhoods and the dive.
func TestStageAgainstBruteForce(t *testing.T) {
	found, exact := 0, 0
	for seed := range 1000 {
		p := randomProblem(rand.New(rand.NewPCG(uint64(seed), 2)))
		o := bruteForce(p)
		s := newSolver(context.Background(), p, Options{Steps: 500_000})
		w := newWork(context.Background(), p)
		if w.failed != nil {
			continue
		}
		w.arcConsistent()
		if w.failed != nil {
			if o.best < Inf {
				t.Fatalf("seed %d: failed, optimum %d", seed, o.best)
			}
			continue
		}
		if w.hasLimit && (slices.Max(w.base) > w.limit) {
			continue
		}
		s.allow(s.budget)
		g := newStage(s.lanes[0], w, -Inf, nil, nil)
		q := newPrimal(s.lanes[1], g)
		g.dual.step(Inf)
		q.walk.step(q.s.rng, 1, true)
		q.dive(100_000)
		for range 6 {
			s.merge()
			g.adopt()
			s.unreduced(g, q)
		}
		s.merge()
		if min(g.bound, s.cost) > o.best {
			t.Fatalf("seed %d: bound %d, cost %d, optimum %d", seed, g.bound, s.cost, o.best)
		}
		if s.found {
			found++
			r := s.result()
			r.Bound = min(g.bound, s.cost)
			checkResult(t, seed, p, o, r, nil)
			if s.cost == o.best {
				exact++
			}
		}
	}
	if found < 500 || exact < found*95/100 {
		t.Errorf("%d solutions, %d of them optimal", found, exact)
	}
}

// arcConsistent applies rule P1 alone, which message passing relies on.
func (w *work) arcConsistent() {
	for len(w.queue) > 0 && w.failed == nil {
		e := w.queue[0]
		w.queue = w.queue[1:]
		w.queued[e] = false
		l := w.links[e]
		for _, i := range []int32{l.a, l.b} {
			allowed, _ := w.from(i, e).allowed(w.size(i), w.size(w.other(e, i)))
			w.prune(i, func(a int) bool { return allowed[a] == 0 }, nil)
			if w.failed != nil {
				return
			}
		}
	}
	w.tidyAll()
}

// unreduced is one round of a stage that never goes back to the reductions.
func (s *solver) unreduced(g *stage, q *primal) {
	for range 5 {
		g.dual.step(g.s.cost)
		g.consider(g.dual.x, "rounding")
	}
	msg := g.dual.msg
	msg.forward(nil)
	msg.backward()
	g.raise(msg.certify().bound)
	if g.closed() {
		return
	}
	q.follow(g)
	q.s.until = q.s.spent + 2000
	q.round()
}

// TestExclude compares the exclusions by cost with the best solution that uses the value or pair.
func TestExclude(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	excluded := 0
	for seed := range 500 {
		p := randomProblem(rand.New(rand.NewPCG(uint64(seed), 3)))
		w := newWork(context.Background(), p)
		if w.arcConsistent(); w.failed != nil || w.hasLimit && slices.Max(w.base) > w.limit {
			continue
		}
		m := compile(w)
		msg := newMessages(context.Background(), m)
		for t := range msg.price {
			msg.price[t] = rng.Float64() * rng.Float64() * 4
		}
		msg.setPrices()
		for range rng.IntN(4) {
			msg.forward(nil)
			msg.backward()
		}
		c := msg.certify()
		best := bruteForceWork(p, w, nil)
		if c.bound > best {
			t.Fatalf("seed %d: bound %d, best %d", seed, c.bound, best)
		}
		upper := min(best, Inf/2) - rng.Int64N(3)
		x := c.exclude(t.Context(), upper)
		if x == nil {
			continue
		}
		for v, gone := range x.value {
			i, _ := slices.BinarySearch(m.off, int32(v)+1)
			if with := bruteForceWork(p, w, map[int32]int32{m.node[i-1]: int32(v) - m.off[i-1]}); gone && with <= upper {
				t.Fatalf("seed %d: value %d of node %d excluded above %d, best %d", seed, v, i-1, upper, with)
			}
		}
		for id, pairs := range x.pair {
			e := &m.arcs[id]
			for x := range int32(m.values(e.a)) {
				for y := range int32(m.values(e.b)) {
					if pairs == nil || !pairs[int(through(e.pa, x))*e.t.kb+int(through(e.pb, y))] {
						continue
					}
					if with := bruteForceWork(p, w, map[int32]int32{m.node[e.a]: x, m.node[e.b]: y}); with <= upper {
						t.Fatalf("seed %d: values %d and %d of arc %d excluded above %d, best %d", seed, x, y, id, upper, with)
					}
				}
			}
		}
		excluded += x.values + x.pairs
	}
	if excluded < 500 {
		t.Errorf("only %d exclusions", excluded)
	}
}

// bruteForceWork enumerates the live values of a working model that has been pruned only, where the nodes in fix have their values there.
func bruteForceWork(p *Problem, w *work, fix map[int32]int32) int64 {
	best := Inf
	values := make([]int32, len(w.cells))
	for {
		fits := true
		for i, a := range fix {
			fits = fits && values[i] == a
		}
		x := w.solution(slices.Clone(values))
		if cost, peak, err := p.Evaluate(x); err == nil && fits && p.within(peak) {
			best = min(best, cost)
		}
		i := 0
		for ; i < len(values); i++ {
			if values[i]++; int(values[i]) < w.size(int32(i)) {
				break
			}
			values[i] = 0
		}
		if i == len(values) {
			return best
		}
	}
}

// MinPeak finds the least usage that any solution needs, and says what its own solution costs and needs.
func TestMinPeakAgainstBruteForce(t *testing.T) {
	attained := 0
	for seed := range *seeds {
		p := randomProblem(rand.New(rand.NewPCG(uint64(seed), 4)))
		o := bruteForce(p)
		r, err := MinPeak(context.Background(), p, Options{Steps: 4_000_000})
		if o.minPeak >= Inf {
			checkInfeasible(t, seed, o, err)
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		cost, peak, err := p.Evaluate(r.Solution)
		if err != nil || peak != r.Peak || cost != r.Cost || r.Bound > o.minPeak || r.Peak < o.minPeak {
			t.Fatalf("seed %d: %+v evaluates to %d, %d, %v; least peak %d", seed, r, cost, peak, err, o.minPeak)
		}
		if r.Status == Optimal {
			attained++
		} else {
			t.Errorf("seed %d: peak %d, bound %d, least %d", seed, r.Peak, r.Bound, o.minPeak)
		}
	}
	if attained < *seeds/2 {
		t.Errorf("only %d proven", attained)
	}
}

// A solution that the caller knows is the least that it gets back; ones that are none are passed over.
func TestWarmStartIsNeverWorse(t *testing.T) {
	for seed := range 60 {
		p := layered(uint64(seed), 30, 6, seed%3*10)
		full, err := Solve(context.Background(), p, Options{Steps: 3_000_000})
		if err != nil {
			continue
		}
		bad := make([]int32, 3)
		r, err := Solve(context.Background(), p, Options{Steps: 1, Initial: [][]int32{bad, full.Solution}})
		if err != nil || r.Cost > full.Cost || r.Bound > full.Cost {
			t.Fatalf("seed %d: cost %d bound %d %v, warm start has %d", seed, r.Cost, r.Bound, err, full.Cost)
		}
	}
}

// The same problem, steps and seed give the same events on any number of cores; costs fall, bounds rise, and no bound is above a cost.
func TestSolveIsDeterministic(t *testing.T) {
	p := layered(3, 300, 20, 10)
	run := func(procs int) (events []Event) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		_, err := Solve(context.Background(), p, Options{Steps: 40_000_000, Seed: 5, Progress: func(e Event) { events = append(events, e) }})
		if err != nil {
			t.Fatal(err)
		}
		return events
	}
	first := run(1)
	if len(first) < 3 {
		t.Fatalf("only %d events", len(first))
	}
	for _, procs := range []int{2} {
		if d := cmp.Diff(first, run(procs)); d != "" {
			t.Fatalf("GOMAXPROCS %d: %s", procs, d)
		}
	}
	for i := 1; i < len(first); i++ {
		a, b := first[i-1], first[i]
		if b.Cost > a.Cost || b.Bound < min(a.Bound, b.Cost) || b.Bound > b.Cost ||
			b.Source != "phase" && b.Cost == a.Cost && b.Bound == a.Bound {
			t.Errorf("event %d: %+v after %+v", i, b, a)
		}
	}
}

// A canceled search ends at once with the best that it has; without anything it fails with the context's error.
func TestCancel(t *testing.T) {
	p := layered(4, 3000, 30, 10)
	ctx, cancel := context.WithCancel(context.Background())
	var asked time.Time
	r, err := Solve(ctx, p, Options{Steps: 1e12, Progress: func(e Event) {
		if e.Cost < Inf && asked.IsZero() {
			asked = time.Now()
			cancel()
		}
	}})
	if err != nil || r.Status != Early || r.Solution == nil {
		t.Fatalf("%+v, %v", r.Status, err)
	}
	if late := time.Since(asked); late > time.Second {
		t.Errorf("stopped %v after the cancellation", late)
	}
	if _, err := Solve(ctx, p, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the start: %v", err)
	}
	r, err = Solve(ctx, p, Options{Initial: [][]int32{r.Solution}})
	if err != nil || r.Status != Early {
		t.Errorf("cancelled with a warm start: %v, %v", r.Status, err)
	}
}
