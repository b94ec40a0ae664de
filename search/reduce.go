package search

import (
	"context"
	"slices"
)

// reduce shrinks the working model to a fixpoint of all rules in the order of solver.md section 4.3. It stops early when the model has no
// solution (w.failed), the context ends or the entries that it may visit are visited (w.cut).
func (w *work) reduce(ctx context.Context) {
	for w.failed == nil {
		w.structure(ctx)
		if w.failed != nil || w.stop(ctx) {
			return
		}
		if w.hasLimit && w.pruneMemory() {
			continue
		}
		w.dropPoints()
		if w.dominate(ctx) || len(w.queue) > 0 {
			continue
		}
		if !w.eliminate(ctx) && len(w.queue) == 0 {
			return
		}
	}
}

// structure empties the queue of links: arc consistency, folding, functional merging and separable edges (rules P0 to P3).
func (w *work) structure(ctx context.Context) {
	for head := 0; head < len(w.queue) && w.failed == nil; head++ {
		if (head&63 == 0 || w.spent >= w.until) && w.stop(ctx) {
			w.queue = w.queue[head:]
			return
		}
		e := w.queue[head]
		w.queued[e] = false
		if !w.links[e].dead {
			w.examine(e)
		}
	}
	w.queue = w.queue[:0]
	for i := range w.cells {
		if c := &w.cells[i]; !c.dead && len(c.unary) == 1 && w.failed == nil {
			w.fix(int32(i))
		}
	}
}

// examine applies the first rule that changes link e.
func (w *work) examine(e int32) {
	l := w.links[e]
	ka, kb := w.size(l.a), w.size(l.b)
	m := w.dense(&l)
	rows, cols := make([]int32, ka), make([]int32, kb) // count of allowed entries
	for x := range ka {
		for y, v := range m[x*kb : (x+1)*kb] {
			if v < Inf {
				rows[x]++
				cols[y]++
			}
		}
	}
	none := func(count []int32) func(int) bool { return func(a int) bool { return count[a] == 0 } }
	if slices.Contains(rows, 0) || slices.Contains(cols, 0) {
		w.proveRows(e, rows, cols)
		w.prune(l.a, none(rows), nil)
		w.prune(l.b, none(cols), nil)
		return
	}
	one := func(c int32) bool { return c != 1 }
	toB, toA := !slices.ContainsFunc(rows, one), !slices.ContainsFunc(cols, one)
	switch {
	case ka == 1 || kb == 1:
		w.separate(e, m)
	case toB && (!toA || len(w.live(l.b)) <= len(w.live(l.a))):
		w.merge(l.a, l.b, e, firstAllowed(m, ka, kb, kb, 1))
	case toA:
		w.merge(l.b, l.a, e, firstAllowed(m, kb, ka, 1, kb))
	case separable(m, ka, kb):
		w.separate(e, m)
	}
}

// firstAllowed returns for each of n values the first of k partners that is allowed; entry (x, y) is m[x*sx+y*sy].
func firstAllowed(m []int64, n, k, sx, sy int) []int32 {
	f := make([]int32, n)
	for x := range n {
		for y := range k {
			if m[x*sx+y*sy] < Inf {
				f[x] = int32(y)
				break
			}
		}
	}
	return f
}

// separable reports whether an all-finite matrix is a sum of a row and a column vector.
func separable(m []int64, ka, kb int) bool {
	for x := range ka {
		row := m[x*kb : (x+1)*kb]
		if row[0] >= Inf {
			return false
		}
		d := row[0] - m[0]
		for y, v := range row {
			if v >= Inf || v-m[y] != d {
				return false
			}
		}
	}
	return true
}

// separate moves a separable link, or one with a single row or column, into the unary costs of its ends. Both parts get minimum 0 and the
// rest goes to the constant: the sum of the spreads stays what it was, so that no sequence of rules can overflow.
func (w *work) separate(e int32, m []int64) {
	l := w.links[e]
	w.proveNodes(proveSeparate, l.a, l.b)
	a, b, kb := w.cells[l.a].unary, w.cells[l.b].unary, w.size(l.b)
	least, x0 := m[0], 0
	for x := range a {
		if m[x*kb] < least {
			least, x0 = m[x*kb], x
		}
	}
	row := slices.Min(m[x0*kb : (x0+1)*kb])
	w.cells[l.a].checked, w.cells[l.b].checked = false, false
	for x := range a {
		a[x] += m[x*kb] - least
	}
	for y := range b {
		b[y] += m[x0*kb+y] - row
	}
	w.constant += row
	w.detach(e)
}

// fix removes a node that has one value and no links left.
func (w *work) fix(i int32) {
	c := &w.cells[i]
	w.constant += c.unary[0]
	for _, it := range c.items {
		w.addBase(it.s, it.e, it.use[0])
	}
	w.bury(i)
}

func (w *work) bury(i int32) {
	c := &w.cells[i]
	c.dead, c.tidy, c.items, c.adj = true, true, nil, nil
}

func (w *work) addBase(s, e int32, use int64) {
	w.delta[s] += use
	w.delta[e] -= use
}

// merge joins node v into u, where every live value x of u allows only f[x] in v along link e (rule P3).
func (w *work) merge(u, v, e int32, f []int32) {
	cu, cv := &w.cells[u], &w.cells[v]
	l := w.links[e]
	w.proveNodes(proveMerge, u, v)
	for x := range cu.unary {
		if l.a == u {
			cu.unary[x] += cv.unary[f[x]] + l.at(x, int(f[x]))
		} else {
			cu.unary[x] += cv.unary[f[x]] + l.at(int(f[x]), x)
		}
	}
	for _, it := range cv.items {
		cu.items = append(cu.items, item{it.s, it.e, pick(it.use, f)})
		cu.tidy = false
	}
	w.detach(e)
	for _, g := range slices.Clone(w.live(v)) {
		old := w.links[g]
		w.detach(g)
		if old.a == v {
			old.a, old.ra = u, compose(old.ra, f)
		} else {
			old.b, old.rb = u, compose(old.rb, f)
		}
		w.attach(old)
	}
	w.log = append(w.log, step{kind: stepMerge, node: v, left: u, table: f})
	w.bury(v)
}
