package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

// layered makes an instance of the kind that programs give: repeated layers of a chain of ops with side inputs (weights) and, every few
// layers, values that many later ops read (hubs). A strategy stands for a layout; an edge costs nothing between equal layouts and the
// price of a conversion, which depends on the size of the value, between others. slack is the limit over the least peak, in percent above
// it; 0 means no limit.
func layered(seed uint64, nodes, strategies, slack int) *Problem {
	rng := rand.New(rand.NewPCG(seed, 7))
	b := NewBuilder()
	var layouts [][]int32 // layout of every strategy of every node
	add := func(size int64, lo, hi int32) int32 {
		k := 5 + rng.IntN(strategies-4)
		costs, usages, own := make([]int64, k), make([]int64, k), make([]int32, k)
		for a := range k {
			own[a] = rng.Int32N(12)
			shards := int64(1) << (own[a] % 4)
			usages[a] = size / shards
			costs[a] = size*shards/32 + rng.Int64N(size/8+1)
		}
		usages[0], own[0] = size/8, 3 // every node can do with little memory
		layouts = append(layouts, own)
		return b.AddNode(costs, usages, lo, hi)
	}
	link := func(u, v int32, size int64) {
		lu, lv := layouts[u], layouts[v]
		m := make([]int64, len(lu)*len(lv))
		for x, p := range lu {
			for y, q := range lv {
				switch {
				case p == q:
				case p%4 == q%4:
					m[x*len(lv)+y] = size / 4
				case (p^q)&8 != 0 && p&1 != 0:
					m[x*len(lv)+y] = Inf
				default:
					m[x*len(lv)+y] = size/2 + int64(p+q)
				}
			}
		}
		b.AddEdge(u, v, b.AddMatrix(len(lu), len(lv), m))
	}
	last, hub := add(1<<20, 0, 2), int32(0)
	for len(layouts) < nodes {
		t := int32(len(layouts))
		size := int64(1) << (14 + rng.IntN(8))
		v := add(size, t, t+2+rng.Int32N(20))
		link(last, v, size)
		switch rng.IntN(4) {
		case 0:
			w := add(size*2, 0, t)
			link(w, v, size*2)
		case 1:
			link(hub, v, 1<<16)
		case 2:
			link(max(0, v-2-rng.Int32N(6)), v, size/2)
		}
		if rng.IntN(60) == 0 {
			hub = v
		}
		last = v
	}
	p, err := b.Build()
	if err != nil {
		panic(err)
	}
	if slack > 0 {
		least := (&bisection{ctx: context.Background(), p: p, opt: Options{Steps: 1e9}}).unavoidable()
		return p.WithLimit(least + least/100*int64(slack))
	}
	return p
}

func BenchmarkLayered(b *testing.B) {
	for _, n := range []int{500, 2000, 5000} {
		for _, slack := range []int{0, 10, 50} {
			b.Run(fmt.Sprintf("nodes=%d/slack=%d", n, slack), func(b *testing.B) {
				p := layered(1, n, 40, slack)
				for b.Loop() {
					r, err := Solve(context.Background(), p, Options{Steps: 1_000_000_000})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(100*r.Gap(), "%gap")
					b.ReportMetric(float64(r.Steps)/1e6, "Msteps")
				}
			})
		}
	}
}
