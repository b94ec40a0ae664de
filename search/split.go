package search

import (
	"cmp"
	"math"
	"slices"
)

const (
	memorySplits = 4 // candidates for a split by the memory of their values
	labelSplits  = 3 // and by whether roundings agree on their label
	trialSweeps  = 4 // pairs of sweeps to try one half of a split
)

// split divides the values of a node of the model in two.
type split struct {
	node  int32
	in    []bool
	score float64
}

// split returns the split of a node of the tree. Nodes of even number part where roundings disagree most over memory, which leads to new
// solutions soonest; the others, and those where roundings agree, try candidates by a few sweeps on both halves: the best raises the bound
// of both.
func (g *stage) split(number int) split {
	msg := g.dual.msg
	copy(msg.price, g.dual.prices)
	msg.setPrices()
	base := g.dual.sweep(nil)
	g.left = msg.left
	candidates := append(g.memorySplits(), g.labelSplits()...)
	if number%2 == 0 && len(candidates) > 0 {
		return candidates[0]
	}
	candidates = append(candidates, g.surestSplit())
	saved := slices.Clone(msg.msg)
	gap := float64(g.s.cost) - float64(g.bound)
	for j := range candidates {
		c := &candidates[j]
		gain := func(keep bool) float64 {
			defer copy(msg.msg, saved)
			return min(max(g.dual.trial(c.node, c.in, keep)-base, 0), gap) + gap/1000
		}
		c.score = gain(true) * gain(false)
	}
	g.s.charge(g.dual.spent)
	g.dual.spent = 0
	return slices.MaxFunc(candidates, func(a, b split) int { return cmp.Compare(a.score, b.score) })
}

// trial returns the bound after a few sweeps if node i keeps only its values in the set, or only the others.
func (d *ascent) trial(i int32, in []bool, keep bool) float64 {
	unary := d.msg.unary[d.m.off[i]:d.m.off[i+1]]
	saved := slices.Clone(unary)
	for a := range unary {
		if in[a] != keep {
			unary[a] += d.msg.huge
		}
	}
	best := math.Inf(-1)
	for range trialSweeps {
		best = max(best, d.sweep(nil))
	}
	copy(unary, saved)
	return best
}

// memorySplits returns the nodes over the price of whose memory the last roundings disagree most, split in light and heavy values. Prices
// can mix two solutions, one of which does not fit; those nodes are where they part.
func (g *stage) memorySplits() []split {
	prefix := g.dual.prefix()
	var out []split
	for i := range int32(len(g.m.node)) {
		if len(g.m.items[i]) == 0 {
			continue
		}
		rent := g.rents(i, prefix)
		lo, hi := math.Inf(1), math.Inf(-1)
		for a, r := range rent {
			if g.left[int(g.m.off[i])+a] <= float64(g.s.cost)-float64(g.bound) {
				lo, hi = min(lo, r), max(hi, r)
			}
		}
		if !(lo < hi) {
			continue
		}
		above, seen := 0, 0
		for _, x := range g.dual.recent {
			if x != nil {
				seen++
				if rent[x[i]] > (lo+hi)/2 {
					above++
				}
			}
		}
		c := split{node: i, in: make([]bool, len(rent)), score: (hi - lo) * (0.1 + float64(min(above, seen-above)))}
		for a, r := range rent {
			c.in[a] = r > (lo+hi)/2
		}
		out = append(out, c)
	}
	return best(out, memorySplits)
}

// rents returns what the memory of the values of node i costs at the best prices, whose sums prefix holds.
func (g *stage) rents(i int32, prefix []float64) []float64 {
	rent := make([]float64, g.m.values(i))
	for _, it := range g.m.items[i] {
		p := prefix[it.e] - prefix[it.s]
		for a, use := range it.use {
			rent[a] += float64(p * float64(use))
		}
	}
	return rent
}

// labelSplits returns the nodes on whose label the last roundings disagree most, among those with most arcs: the most frequent label on its
// own.
func (g *stage) labelSplits() []split {
	var out []split
	for i := range int32(len(g.m.node)) {
		count, seen := make([]int, g.m.values(i)), 0
		for _, x := range g.dual.recent {
			if x != nil {
				count[x[i]]++
				seen++
			}
		}
		a := slices.Index(count, slices.Max(count))
		if count[a] == seen {
			continue
		}
		c := split{node: i, in: make([]bool, len(count)), score: float64((seen - count[a]) * g.m.degree(i))}
		c.in[a] = true
		out = append(out, c)
	}
	return best(out, labelSplits)
}

// surestSplit returns the node whose second-best value loses most, weighted by its arcs and items: its best value on its own.
func (g *stage) surestSplit() split {
	most, out := -1.0, split{}
	for i := range int32(len(g.m.node)) {
		left := g.left[g.m.off[i]:g.m.off[i+1]]
		if len(left) < 2 {
			continue
		}
		a := slices.Index(left, slices.Min(left))
		regret := math.Inf(1)
		for b, v := range left {
			if b != a {
				regret = min(regret, v)
			}
		}
		if score := (regret + 1e-6) * float64(1+g.m.degree(i)+len(g.m.items[i])); score > most {
			most, out = score, split{node: i, in: make([]bool, len(left))}
			out.in[a] = true
		}
	}
	return out
}

// best returns the n splits of largest score.
func best(splits []split, n int) []split {
	slices.SortStableFunc(splits, func(a, b split) int { return cmp.Compare(b.score, a.score) })
	return splits[:min(n, len(splits))]
}
