package search

import (
	"context"
	"math/rand/v2"
)

// oracle is the result of enumerating all solutions.
type oracle struct {
	best    int64 // Inf if there is no solution
	minPeak int64 // over all solutions, whatever the limit; Inf if none
}

// bruteForce enumerates every solution.
func bruteForce(p *Problem) oracle {
	o := oracle{Inf, Inf}
	x := make([]int32, p.NumNodes())
	for {
		if cost, peak, err := p.Evaluate(x); err == nil {
			o.minPeak = min(o.minPeak, peak)
			if p.within(peak) {
				o.best = min(o.best, cost)
			}
		}
		i := 0
		for ; i < len(x); i++ {
			if x[i]++; int(x[i]) < p.NumStrategies(i) {
				break
			}
			x[i] = 0
		}
		if i == len(x) {
			return o
		}
	}
}

// randomProblem draws a small problem: forbidden entries, functional edges, parallel, reversed and self edges, empty intervals with usage,
// ties, negative costs, and limits from hopeless to loose.
func randomProblem(rng *rand.Rand) *Problem {
	b := NewBuilder()
	n := 1 + rng.IntN(7)
	k := make([]int, n)
	scale := []int64{3, 20, 1 << 40}[rng.IntN(3)]
	forbid := 0.7 * rng.Float64() * rng.Float64()
	cost := func() int64 {
		if rng.Float64() < forbid {
			return Inf
		}
		return rng.Int64N(scale) - scale/4
	}
	for i := range n {
		k[i] = 1 + rng.IntN(4)
		costs, usages := make([]int64, k[i]), make([]int64, k[i])
		for a := range costs {
			costs[a] = cost()
			usages[a] = rng.Int64N(10)
		}
		lo := rng.Int32N(8)
		b.AddNode(costs, usages, lo, lo+rng.Int32N(6)-1)
	}
	for range rng.IntN(2 * n) {
		u, v := rng.IntN(n), rng.IntN(n)
		rows, ku := sharedRows(rng, k[u])
		cols, kv := sharedRows(rng, k[v])
		m := make([]int64, ku*kv)
		functional := rng.IntN(4) == 0
		for e := range m {
			m[e] = cost()
			if functional && e/kv%kv != e%kv {
				m[e] = Inf
			}
		}
		b.AddEdgeThrough(int32(u), int32(v), b.AddMatrix(ku, kv, m), rows, cols)
	}
	p, err := b.Build()
	if err != nil {
		panic(err)
	}
	least := bruteForce(p).minPeak
	if least >= Inf {
		least = 10
	}
	switch rng.IntN(5) {
	case 0:
		return p
	case 1:
		return p.WithLimit(rng.Int64N(20))
	case 2:
		return p.WithLimit(least)
	}
	return p.WithLimit(least + least*rng.Int64N(5)/10)
}

// sharedRows draws which of n rows, or columns, of a matrix each of k strategies selects: often its own.
func sharedRows(rng *rand.Rand, k int) (rows []int32, n int) {
	if rng.IntN(2) == 0 {
		return nil, k
	}
	rows, n = make([]int32, k), 1+rng.IntN(k)
	for a := range rows {
		rows[a] = rng.Int32N(int32(n))
	}
	return rows, n
}

// denseProblem draws a problem that the reductions leave mostly alone: a dense graph without forbidden entries, all nodes live together for
// a while, and a tight limit.
func denseProblem(rng *rand.Rand) *Problem {
	const n, k = 8, 3
	b := NewBuilder()
	for i := range int32(n) {
		costs, usages := make([]int64, k), make([]int64, k)
		for a := range costs {
			costs[a] = rng.Int64N(50)
			usages[a] = 60 - costs[a] + rng.Int64N(20)
		}
		b.AddNode(costs, usages, i/2, i/2+3)
		for j := range i {
			if rng.IntN(2) == 0 {
				m := make([]int64, k*k)
				for e := range m {
					m[e] = rng.Int64N(40)
				}
				b.AddEdge(j, i, b.AddMatrix(k, k, m))
			}
		}
	}
	p, err := b.Build()
	if err != nil {
		panic(err)
	}
	if least := bruteForce(p).minPeak; rng.IntN(4) > 0 {
		return p.WithLimit(least + least*rng.Int64N(8)/20)
	}
	return p
}

// twelveNodes draws a problem of 8 to 12 nodes with up to 6 strategies, most of them live together, and a limit near the least peak.
func twelveNodes(rng *rand.Rand) *Problem {
	b := NewBuilder()
	n := int32(8 + rng.IntN(5))
	k := make([]int, n)
	for i := range n {
		k[i] = 1 + rng.IntN(6)
		costs, usages := make([]int64, k[i]), make([]int64, k[i])
		for a := range costs {
			costs[a], usages[a] = rng.Int64N(100), rng.Int64N(50)
		}
		b.AddNode(costs, usages, i/3, i/3+2+rng.Int32N(4))
		for range 1 + rng.IntN(2) {
			if i == 0 {
				break
			}
			j := rng.Int32N(i)
			rows, kj := sharedRows(rng, k[j])
			cols, ki := sharedRows(rng, k[i])
			m := make([]int64, kj*ki)
			for e := range m {
				if m[e] = rng.Int64N(80); rng.IntN(8) == 0 {
					m[e] = Inf
				}
			}
			b.AddEdgeThrough(j, i, b.AddMatrix(kj, ki, m), rows, cols)
		}
	}
	p, err := b.Build()
	if err != nil {
		panic(err)
	}
	least := (&bisection{ctx: context.Background(), p: p, opt: Options{Steps: 1e9}}).unavoidable()
	return p.WithLimit(least + least*rng.Int64N(6)/10)
}

// enumerate returns the least cost of a problem without negative costs, or Inf: depth first over the nodes in order, giving up a branch as
// soon as it costs too much or uses too much.
func enumerate(p *Problem) int64 {
	best := Inf
	x := make([]int32, p.NumNodes())
	use := make([]int64, len(p.times))
	var visit func(i int, cost int64)
	visit = func(i int, cost int64) {
		if cost >= best {
			return
		}
		if i == len(x) {
			best = cost
			return
		}
		for a := range int32(p.NumStrategies(i)) {
			x[i] = a
			sum := cost + p.Cost[p.Off[i]+a]
			for e := range p.EA {
				if int(max(p.EA[e], p.EB[e])) == i {
					sum = min(sum+p.edgeCost(e, x[p.EA[e]], x[p.EB[e]]), Inf)
				}
			}
			fits := true
			for t := p.lo[i]; t < p.hi[i]; t++ {
				use[t] += p.Use[p.Off[i]+a]
				fits = fits && (!p.HasLimit || use[t] <= p.Limit)
			}
			if fits {
				visit(i+1, sum)
			}
			for t := p.lo[i]; t < p.hi[i]; t++ {
				use[t] -= p.Use[p.Off[i]+a]
			}
		}
	}
	visit(0, p.Constant)
	return best
}
