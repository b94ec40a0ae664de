package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawStage draws a model that is only arc consistent, and a state in it that fits.
func drawStage(t *rapid.T) (*primal, *rand.Rand) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 6))
	p := denseProblem(rng)
	w := newWork(context.Background(), p)
	w.arcConsistent()
	s := newSolver(context.Background(), p, Options{})
	g := newPrimal(s.lanes[1], newStage(s.lanes[0], w, -Inf, nil, nil))
	for a := range int32(3) {
		x := slices.Repeat([]int32{a}, len(g.m.node))
		if st := newState(g.m, x); st.fits() {
			g.st = st
		}
	}
	if g.st == nil {
		t.Skip("no state")
	}
	return g, rng
}

// checkState recomputes what the state keeps up to date.
func checkState(t *rapid.T, st *state, atMost int64) {
	use := make([]int64, len(st.use))
	st.m.usage(st.x, use)
	if st.cost != st.m.cost(st.x) || !slices.Equal(use, st.use) || !st.fits() || st.cost > atMost {
		t.Fatalf("cost %d, computed %d, at most %d; usage %v, computed %v", st.cost, st.m.cost(st.x), atMost, st.use, use)
	}
}

// Whatever a step of the search changes, what the state has noted of costs and usages is what counting afresh gives.
func TestStateStaysExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, rng := drawStage(t)
		price := make([]float64, len(g.m.base))
		for i := range price {
			price[i] = 2 * rng.Float64()
		}
		g.unit = 0.1
		for range 10 {
			before := g.st.cost
			y := slices.Clone(g.st.x)
			for range 1 + rng.IntN(len(y)) {
				y[rng.IntN(len(y))] = rng.Int32N(3)
			}
			switch rng.IntN(5) {
			case 0:
				if fell := g.st.recombine(context.Background(), y, g.in); fell != (g.st.cost < before) {
					t.Fatalf("recombine says %v", fell)
				}
			case 1:
				g.hood.step(g.st, price, rng)
			case 2:
				g.st.descend(context.Background())
			case 3:
				g.fuse(y)
			case 4:
				copy(g.walk.x, y)
				g.s.until = g.s.spent + 20_000
				g.challenge()
			}
			checkState(t, g.st, before)
		}
	})
}

// TestRecombineBuysRoom needs a dear part to make room for a good one.
func TestRecombineBuysRoom(t *testing.T) {
	b := NewBuilder()
	b.AddNode([]int64{5, 0}, []int64{4, 10}, 0, 2)
	b.AddNode([]int64{0, 1}, []int64{10, 4}, 1, 3)
	b.SetLimit(14)
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	st := newState(compile(newWork(context.Background(), p)), []int32{0, 0})
	if !st.recombine(context.Background(), []int32{1, 1}, make([]bool, 2)) || st.cost != 1 || !slices.Equal(st.x, []int32{1, 1}) {
		t.Errorf("cost %d at %v", st.cost, st.x)
	}
}

// A region is solved to the best of all its labelings, or of those whose labels are among some values.
func TestRegionSolvesExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, rng := drawStage(t)
		nodes := g.hood.grow(rng, 1+rng.IntN(6))
		among := slices.Repeat([][]int32{{0, 1, 2}}, len(nodes))
		solve := g.hood.region.solve
		if rng.IntN(2) == 0 {
			for j := range among {
				among[j] = [][]int32{{0}, {1, 2}, {2, 0}}[rng.IntN(3)]
			}
			solve = func(nodes, x []int32, unary []int64, limit int64) ([]int32, int64, bool) {
				return g.hood.region.solveAmong(nodes, among, x, unary, limit)
			}
		}
		labels, _, ok := solve(nodes, g.st.x, g.m.unary, 1<<16)
		if !ok {
			t.Fatal("not solved")
		}
		x := slices.Clone(g.st.x)
		for j, i := range nodes {
			x[i] = labels[j]
		}
		got, best := g.m.cost(x), Inf
		for n := range pow(3, len(nodes)) {
			allowed := true
			for j, i := range nodes {
				x[i] = int32(n % 3)
				allowed = allowed && slices.Contains(among[j], x[i])
				n /= 3
			}
			if allowed {
				best = min(best, g.m.cost(x))
			}
		}
		if got != best {
			t.Fatalf("region costs %d, best %d", got, best)
		}
	})
}

func pow(b, e int) int {
	r := 1
	for range e {
		r *= b
	}
	return r
}

// TestTruncatedBounds stops the search at many points: the bound must hold at each, and no more is spent than allowed. The least budgets
// end before a solution is known.
func TestTruncatedBounds(t *testing.T) {
	for seed := range 12 {
		p := denseProblem(rand.New(rand.NewPCG(uint64(seed), 8)))
		o := bruteForce(p)
		if o.best >= Inf {
			continue
		}
		for steps := int64(1); steps < 5_000_000; steps = steps*3/2 + 1 {
			r, err := Solve(context.Background(), p, Options{Steps: steps})
			var none *InfeasibleError
			if steps < 200_000 && errors.As(err, &none) && !none.Proven {
				continue
			}
			if err != nil || r.Bound > o.best || r.Cost < o.best || r.Steps > steps {
				t.Fatalf("seed %d, %d steps: %d spent, bound %d, cost %d, optimum %d, %v", seed, steps, r.Steps, r.Bound, r.Cost, o.best, err)
			}
		}
	}
}

// TestTruncatedTree does the same for branching alone.
func TestTruncatedTree(t *testing.T) {
	for seed := range 30 {
		p := denseProblem(rand.New(rand.NewPCG(uint64(seed), 10)))
		o := bruteForce(p)
		for budget := int64(1000); budget < 5_000_000; budget *= 2 {
			s := newSolver(context.Background(), p, Options{Steps: budget})
			w := newWork(context.Background(), p)
			if w.reduce(s.ctx); w.failed != nil {
				continue
			}
			s.allow(budget)
			g := newStage(s.lanes[0], w, -Inf, nil, nil)
			bound := s.branch(g, newPrimal(s.lanes[1], g))
			if min(bound, s.cost) > o.best {
				t.Fatalf("seed %d, budget %d: bound %d, cost %d, optimum %d", seed, budget, bound, s.cost, o.best)
			}
		}
	}
}

// TestEquivalentProblems transforms a problem in ways that scale or keep the optimum.
func TestEquivalentProblems(t *testing.T) {
	solve := func(t *rapid.T, p *Problem) int64 {
		r, err := Solve(context.Background(), p, Options{Steps: 20_000_000})
		if err != nil {
			return Inf
		}
		if r.Status != Optimal {
			t.Fatalf("status %s", r.Status)
		}
		return r.Cost
	}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		p := randomProblem(rng)
		want := solve(t, p)
		if got := solve(t, rebuilt(p, rng)); got != want {
			t.Errorf("relabelled, stretched, split and duplicated: optimum %d, was %d", got, want)
		}
		if p.HasLimit && p.Limit >= 0 {
			if got := solve(t, p.WithLimit(p.Limit+3)); got > want {
				t.Errorf("a higher limit raised the optimum from %d to %d", want, got)
			}
		}
	})
}

// rebuilt returns p with its nodes in another order, edges shuffled, turned around and split in two, the first strategy of every node
// doubled, time stretched, and usage and limit tripled.
func rebuilt(p *Problem, rng *rand.Rand) *Problem {
	b := NewBuilder()
	order := rng.Perm(p.NumNodes())
	index := make([]int32, len(order))
	for j, i := range order {
		lo, hi := p.Off[i], p.Off[i+1]
		usages := append(slices.Clone(p.Use[lo:hi]), p.Use[lo])
		for a := range usages {
			usages[a] *= 3
		}
		b.AddNode(append(slices.Clone(p.Cost[lo:hi]), p.Cost[lo]), usages, 5*p.Lo[i]+2, 5*p.Hi[i]+2)
		index[i] = int32(j)
	}
	for _, e := range rng.Perm(p.NumEdges()) {
		u, v := p.EA[e], p.EB[e]
		ku, kv := p.NumStrategies(int(u))+1, p.NumStrategies(int(v))+1
		one, two := make([]int64, ku*kv), make([]int64, ku*kv)
		for x := range ku {
			for y := range kv {
				c := p.edgeCost(e, int32(x%(ku-1)), int32(y%(kv-1)))
				one[y*ku+x], two[x*kv+y] = c/3, c-c/3
				if c >= Inf {
					one[y*ku+x], two[x*kv+y] = 0, Inf
				}
			}
		}
		b.AddEdge(index[v], index[u], b.AddMatrix(kv, ku, one))
		b.AddEdge(index[u], index[v], b.AddMatrix(ku, kv, two))
	}
	if p.HasLimit {
		b.SetLimit(3 * p.Limit)
	}
	b.AddConstant(p.Constant)
	q, err := b.Build()
	if err != nil {
		panic(err)
	}
	return q
}
