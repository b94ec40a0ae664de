package search

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// price returns the cost of a labelling, Inf where it selects something forbidden.
func price(p *Problem, x []int32) int64 {
	cost, _, err := p.Evaluate(x)
	if err != nil {
		return Inf
	}
	return cost
}

// A gap is filled with what is cheapest beside the others. The part of a problem in which only the nodes around it choose has the costs of
// the problem: lifted, its optimum is what enumeration finds there.
func TestParts(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		p := randomProblem(rng).WithoutLimit()
		x := make([]int32, p.NumNodes())
		for i := range x {
			x[i] = rng.Int32N(int32(p.NumStrategies(i)))
		}
		gap := rng.IntN(len(x))
		x[gap] = -1
		filled := p.Filled(x)
		for a := range p.NumStrategies(gap) {
			other := slices.Clone(filled)
			if other[gap] = int32(a); price(p, other) < price(p, filled) {
				t.Errorf("seed %d: %v costs %d, filled with strategy %d it costs %d", seed, filled, price(p, filled), a, price(p, other))
			}
		}
		free := p.Around([]int32{int32(gap)}, 1)
		for i := range x {
			joined := i == gap
			for e := range p.EA {
				joined = joined || int(p.EA[e])+int(p.EB[e]) == i+gap && (int(p.EA[e]) == i || int(p.EB[e]) == i)
			}
			if free[i] != joined {
				t.Errorf("seed %d: node %d is around node %d: %v", seed, i, gap, free[i])
			}
		}
		part, lift := p.Within(filled, free)
		want := bruteForce(part).best
		r, err := Solve(t.Context(), part, Options{})
		if err != nil && want < Inf || err == nil && (r.Cost != want || price(p, lift(r.Solution)) != want || want > price(p, filled)) {
			t.Errorf("seed %d: the part costs %d, lifted %d, by enumeration %d, before %d: %v", seed, r.Cost, price(p, lift(r.Solution)), want,
				price(p, filled), err)
		}
	}
}
