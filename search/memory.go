package search

import (
	"cmp"
	"math/bits"
	"slices"
)

// pruneMemory deletes the values and pairs of values that cannot fit the limit even when everything else takes its minimum (rules P7 and P8
// of solver.md section 4.3). It reports whether it changed anything.
func (w *work) pruneMemory() bool {
	w.tidyAll()
	for t, use := range w.base {
		if use > w.limit {
			w.failed = &conflict{memory: true, time: w.point[t], need: use, node: -1}
			w.proveFailed(int32(t))
			return true
		}
	}
	top := newRangeMax(w.base)
	changed := false
	for i := range w.cells {
		if c := &w.cells[i]; !c.dead && len(c.items) > 0 {
			bad := w.overfull(c.items, len(c.unary), top)
			if bad != nil {
				w.proveOverfull(int32(i), bad, top)
				if !slices.Contains(bad, false) {
					w.proveFailed()
					w.failed = &conflict{memory: true, time: w.point[w.tightest(c.items, top)], node: int32(i)}
					return true
				}
				changed = w.prune(int32(i), func(a int) bool { return bad[a] }, nil) || changed
			}
		}
	}
	return changed || w.prunePairs(top)
}

// overfull marks the values of tidy items that cannot fit; nil if there are none.
func (w *work) overfull(items []item, k int, top *rangeMax) []bool {
	var bad []bool
	for _, it := range items {
		slack := w.limit - top.max(it.s, it.e)
		for a, use := range it.use {
			if use > slack {
				if bad == nil {
					bad = make([]bool, k)
				}
				bad[a] = true
			}
		}
	}
	return bad
}

// tightest returns the time point of largest base usage under the items.
func (w *work) tightest(items []item, top *rangeMax) int32 {
	best := items[0].s
	for _, it := range items {
		if use := top.max(it.s, it.e); use > w.base[best] {
			best = it.s + int32(slices.Index(w.base[it.s:it.e], use))
		}
	}
	return best
}

// prunePairs forbids the pairs of values of linked nodes that exceed the limit together.
func (w *work) prunePairs(top *rangeMax) bool {
	share := make([][]float64, len(w.cells)) // largest usage of a value as a share of the slack
	most := make([]float64, len(w.cells))
	for i := range w.cells {
		c := &w.cells[i]
		if c.dead || len(c.items) == 0 {
			continue
		}
		share[i] = make([]float64, len(c.unary))
		for _, it := range c.items {
			slack := float64(w.limit-top.max(it.s, it.e)) + 1
			for a, use := range it.use {
				share[i][a] = max(share[i][a], float64(use)/slack)
			}
		}
		most[i] = slices.Max(share[i])
	}
	changed := false
	for e := range w.links {
		if l := &w.links[e]; !l.dead && most[l.a]+most[l.b] > 0.999 && most[l.a] > 0 && most[l.b] > 0 {
			changed = w.forbidPairs(int32(e), share[l.a], share[l.b], top) || changed
		}
	}
	return changed
}

// forbidPairs applies rule P8 to link e. The shares only select candidates; the test is exact.
func (w *work) forbidPairs(e int32, shareA, shareB []float64, top *rangeMax) bool {
	l := w.links[e]
	var m []int64
	for x, ra := range shareA {
		for y, rb := range shareB {
			if ra+rb <= 0.999 || l.at(int32(x), int32(y)) >= Inf || !w.collide(w.cells[l.a].items, x, w.cells[l.b].items, y, top) {
				continue
			}
			if m == nil {
				m = w.dense(&l)
			}
			w.proveCollision(l.a, x, l.b, y, top)
			m[x*len(shareB)+y] = Inf
		}
	}
	if m == nil {
		return false
	}
	w.replace(e, w.compress(l.a, l.b, m))
	return true
}

// collide reports whether value x of one node and y of another exceed the limit together at some time point.
func (w *work) collide(p []item, x int, q []item, y int, top *rangeMax) bool {
	for i, j := 0, 0; i < len(p) && j < len(q); {
		s, e := max(p[i].s, q[j].s), min(p[i].e, q[j].e)
		if s < e && p[i].use[x]+q[j].use[y] > w.limit-top.max(s, e) {
			return true
		}
		if p[i].e <= q[j].e {
			i++
		} else {
			j++
		}
	}
	return false
}

// dropPoints removes the time points that no solution needs: those where the limit cannot be exceeded (rule P6), and those where every item
// is also at a neighbouring point whose base is at least as large. Without a limit there are none to begin with.
func (w *work) dropPoints() {
	if !w.hasLimit || len(w.base) == 0 {
		return
	}
	w.tidyAll()
	most, starts, ends := w.pointSums()
	kept := make([]int32, 0, len(w.base))
	for t := range int32(len(w.base)) {
		if w.base[t]+most[t] <= w.limit {
			continue
		}
		implied := false
		for len(kept) > 0 && !implied {
			k := kept[len(kept)-1]
			if ends[t] == ends[k] && w.base[k] <= w.base[t] {
				w.proveImplied(k, t)
				kept = kept[:len(kept)-1]
				continue
			}
			if starts[t] != starts[k] || w.base[t] > w.base[k] {
				break
			}
			w.proveImplied(t, k)
			implied = true
		}
		if !implied {
			kept = append(kept, t)
		}
	}
	if len(kept) == len(w.base) {
		return
	}
	index := make([]int32, len(w.base)+1) // index after removal
	for j, t := range kept {
		index[t+1] = int32(j) + 1
	}
	for t := range w.base {
		index[t+1] = max(index[t+1], index[t])
	}
	w.base, w.point, w.delta = pick(w.base, kept), pick(w.point, kept), w.delta[:len(kept)+1]
	for i := range w.cells {
		if len(w.cells[i].items) > 0 {
			w.cells[i].items, w.cells[i].checked = moveItems(w.cells[i].items, index), false
		}
	}
}

// pointSums returns for every time point the largest usage of all items there, and how many items start and end up to it.
func (w *work) pointSums() (most, starts, ends []int64) {
	n := len(w.base) + 1
	most, starts, ends = make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range w.cells {
		for _, it := range w.cells[i].items {
			use := slices.Max(it.use)
			most[it.s] += use
			most[it.e] -= use
			starts[it.s]++
			ends[it.e]++
		}
	}
	for t := 1; t < n; t++ {
		most[t] += most[t-1]
		starts[t] += starts[t-1]
		ends[t] += ends[t-1]
	}
	return most, starts, ends
}

func moveItems(items []item, index []int32) []item {
	var out []item
	for _, it := range items {
		if s, e := index[it.s], index[it.e]; s < e {
			out = append(out, item{s, e, it.use})
		}
	}
	return out
}

// tidyAll makes the items of all nodes tidy and brings base up to date.
func (w *work) tidyAll() {
	for i := range w.cells {
		if c := &w.cells[i]; !c.dead && !c.tidy {
			c.items = w.tidyItems(c.items, len(c.unary))
			c.tidy = true
		}
	}
	sum := int64(0)
	for t := range w.base {
		sum += w.delta[t]
		w.base[t] += sum
	}
	clear(w.delta)
}

// boundary is the start (sign 1) or end (-1) of an item.
type boundary struct {
	at   int32
	sign int64
	use  []int64
}

// tidyItems returns tidy items of the same usage, up to the minimum over the values, which goes to the base.
func (w *work) tidyItems(items []item, k int) []item {
	ends := make([]boundary, 0, 2*len(items))
	for _, it := range items {
		ends = append(ends, boundary{it.s, 1, it.use}, boundary{it.e, -1, it.use})
	}
	slices.SortStableFunc(ends, func(p, q boundary) int { return cmp.Compare(p.at, q.at) })
	var out []item
	cur := make([]int64, k)
	for j, b := range ends {
		for a, use := range b.use {
			cur[a] += b.sign * use
		}
		if j+1 == len(ends) || ends[j+1].at == b.at {
			continue
		}
		s, e, least := b.at, ends[j+1].at, slices.Min(cur)
		if least != 0 {
			w.addBase(s, e, least)
		}
		if slices.Max(cur) == least {
			continue
		}
		use := make([]int64, k)
		for a := range use {
			use[a] = cur[a] - least
		}
		if n := len(out); n > 0 && out[n-1].e == s && slices.Equal(out[n-1].use, use) {
			out[n-1].e = e
			continue
		}
		out = append(out, item{s, e, use})
	}
	return out
}

// rangeMax answers maxima over ranges of a fixed array in constant time by a sparse table.
type rangeMax struct{ levels [][]int64 }

func newRangeMax(values []int64) *rangeMax {
	r := &rangeMax{[][]int64{values}}
	for width := 1; 2*width <= len(values); width *= 2 {
		last := r.levels[len(r.levels)-1]
		next := make([]int64, len(values)-2*width+1)
		for t := range next {
			next[t] = max(last[t], last[t+width])
		}
		r.levels = append(r.levels, next)
	}
	return r
}

// max returns the maximum over s <= t < e; s < e.
func (r *rangeMax) max(s, e int32) int64 {
	level := bits.Len32(uint32(e-s)) - 1
	row := r.levels[level]
	return max(row[s], row[e-int32(1)<<level])
}
