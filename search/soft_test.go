package search

import (
	"context"
	"math/rand/v2"
	"testing"
)

// TestSoft compares with the lexicographic optimum of an enumeration: fewest forbidden entries first, then least cost of the rest.
func TestSoft(t *testing.T) {
	used := 0
	for seed := range 300 {
		p := randomProblem(rand.New(rand.NewPCG(uint64(seed), 15)))
		soft, price, err := p.Soft()
		if err != nil {
			t.Fatal(err)
		}
		count, rest, ok := fewestForbidden(p)
		r, err := Solve(context.Background(), soft, Options{Steps: 20_000_000})
		if !ok {
			if err == nil {
				t.Fatalf("seed %d: solved, but nothing fits", seed)
			}
			continue
		}
		if err != nil || r.Status != Optimal || r.Cost != count*price+rest {
			t.Fatalf("seed %d: cost %d, %v, want %d forbidden entries at %d and %d", seed, r.Cost, err, count, price, rest)
		}
		used += int(min(count, 1))
	}
	if used < 10 {
		t.Errorf("only %d problems need forbidden entries", used)
	}
}

// fewestForbidden enumerates the solutions that fit.
func fewestForbidden(p *Problem) (count, rest int64, ok bool) {
	x := make([]int32, p.NumNodes())
	for {
		n, sum := int64(0), p.Constant
		add := func(c int64) {
			if c >= Inf {
				n++
			} else {
				sum += c
			}
		}
		for i, a := range x {
			add(p.Cost[p.Off[i]+a])
		}
		for e := range p.EA {
			add(p.edgeCost(e, x[p.EA[e]], x[p.EB[e]]))
		}
		peak := int64(0)
		for _, u := range p.profile(x) {
			peak = max(peak, u)
		}
		if p.within(peak) && (!ok || n < count || n == count && sum < rest) {
			count, rest, ok = n, sum, true
		}
		i := 0
		for ; i < len(x); i++ {
			if x[i]++; int(x[i]) < p.NumStrategies(i) {
				break
			}
			x[i] = 0
		}
		if i == len(x) {
			return count, rest, ok
		}
	}
}
