package search

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

// repriced returns a problem with other costs.
func repriced(p *Problem, rng *rand.Rand) *Problem {
	c := *p
	c.Cost, c.MatVal = slices.Clone(p.Cost), slices.Clone(p.MatVal)
	for _, costs := range [][]int64{c.Cost, c.MatVal} {
		for i, cost := range costs {
			if cost < Forbidden {
				costs[i] += rng.Int64N(5)
			}
		}
	}
	return &c
}

// Rough searches of problems that differ in their costs, each from where the one before stood, prove bounds that hold and find solutions.
func TestMessagesAgainstBruteForce(t *testing.T) {
	for seed := range *seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		p := randomProblem(rng)
		var messages Messages
		for round := range 4 {
			if round > 0 {
				p = repriced(p, rng)
			}
			o := bruteForce(p)
			s := newSolver(context.Background(), p, Options{Steps: 2_000_000, Seed: uint64(seed), Messages: &messages, Rough: round != 2})
			s.lanes[0].table, s.lanes[1].table = 0, 0 // no elimination of the whole
			w := newWork(context.Background(), p)
			w.rough = s.opt.Rough
			s.raise(s.root(w))
			if s.bound > o.best {
				t.Fatalf("seed %d, round %d: bound %d, optimum %d", seed, round, s.bound, o.best)
			}
			if s.found {
				checkResult(t, seed, p, o, s.result(), nil)
			}
		}
	}
}

// A rough search takes the last rounding of the dual for a solution, also where its steps end.
func TestRoughRounding(t *testing.T) {
	p := layered(5, 300, 20, 10).WithoutLimit()
	w := newWork(t.Context(), p)
	w.arcConsistent()
	entries := compile(w).entries
	for _, sweeps := range []int64{3, 5, 9} {
		s := newSolver(t.Context(), p, Options{Rough: true})
		s.lanes[0].table = 0
		w := newWork(t.Context(), p)
		w.rough = true
		g := s.begin(w)
		s.lanes[0].until = s.lanes[0].spent + 2*entries*sweeps
		g.ascend(100)
		if !s.lanes[0].found {
			t.Errorf("no solution after %d sweeps", sweeps)
		}
	}
}

// A search goes on where another one of the problem stood, and ignores what is known of others.
func TestMessagesGoOn(t *testing.T) {
	p, other := layered(5, 300, 20, 10), layered(6, 300, 20, 10)
	bound := func(p *Problem, messages *Messages) int64 {
		r, err := Solve(context.Background(), p, Options{Steps: 40_000_000, Messages: messages, Rough: true})
		if err != nil {
			t.Fatal(err)
		}
		return r.Bound
	}
	var messages Messages
	cold := bound(p, &messages)
	for range 5 {
		if warm := bound(p, &messages); warm < cold {
			t.Errorf("bound %d from messages, %d without", warm, cold)
		}
	}
	if foreign, own := bound(other, &messages), bound(other, &Messages{}); foreign != own {
		t.Errorf("bound %d from messages of another problem, %d without", foreign, own)
	}
}

// Where a few nodes have got other strategies, a search goes on with what is known of the others, and what it proves holds.
func TestMessagesOfNearlyTheSame(t *testing.T) {
	solve := func(p *Problem, o Options) Result {
		o.Steps = 40_000_000
		r, err := Solve(t.Context(), p, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	p := layered(5, 300, 20, 10)
	var messages Messages
	known := solve(p, Options{Messages: &messages, Rough: true})
	free := make([]bool, p.NumNodes())
	for i := range free {
		free[i] = i%50 > 0
	}
	part, _ := p.Within(known.Solution, free)
	warm, cold := solve(part, Options{Messages: &messages, Rough: true}), solve(part, Options{})
	if warm.Bound > cold.Cost || cold.Bound > warm.Cost {
		t.Errorf("cost %d, bound %d; from nothing %d, %d", warm.Cost, warm.Bound, cold.Cost, cold.Bound)
	}
	solve(p, Options{Messages: &messages, Rough: true})
	if _, ends := messages.take(part, false); ends == nil {
		t.Error("messages of nearly the same problem are not taken")
	}
}

// A gap that the caller allows ends the search, which keeps it.
func TestGap(t *testing.T) {
	p := layered(3, 300, 20, 10)
	full, err := Solve(context.Background(), p, Options{Steps: 40_000_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, gap := range []float64{0.5, 0.1} {
		r, err := Solve(context.Background(), p, Options{Steps: 40_000_000, Gap: gap})
		if err != nil || r.Gap() > gap || r.Steps >= full.Steps {
			t.Errorf("gap %g: %+v %v after %d steps, of %d to the end", gap, r.Gap(), err, r.Steps, full.Steps)
		}
	}
}
