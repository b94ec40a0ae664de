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
		if !w.rough && w.dominate(ctx) || len(w.queue) > 0 {
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
	v := w.from(l.a, e)
	w.spent += v.entries()
	rows, cols := v.allowed(w.size(l.a), w.size(l.b))
	if slices.Contains(rows, 0) || slices.Contains(cols, 0) {
		w.proveRows(e, rows, cols)
		w.prune(l.a, func(x int) bool { return rows[x] == 0 }, nil)
		w.prune(l.b, func(y int) bool { return cols[y] == 0 }, nil)
		return
	}
	one := func(c int32) bool { return c != 1 }
	toB, toA := !slices.ContainsFunc(rows, one), !slices.ContainsFunc(cols, one)
	switch {
	case len(v.row) == 1 || len(v.col) == 1:
		w.separate(e, v)
	case toB && (!toA || len(w.live(l.b)) <= len(w.live(l.a))):
		w.merge(l.a, l.b, e, v.partners(len(rows), len(cols)))
	case toA:
		w.merge(l.b, l.a, e, w.from(l.b, e).partners(len(cols), len(rows)))
	case v.separable():
		w.separate(e, v)
	}
}

// allowed returns for each of ka near and kb far values how many values of the other node it allows.
func (v *view) allowed(ka, kb int) (near, far []int32) {
	na, nb := classSizes(v.near, ka, len(v.row)), classSizes(v.far, kb, len(v.col))
	rows, cols := make([]int32, len(v.row)), make([]int32, len(v.col))
	for c, at := range v.row {
		for d, col := range v.col {
			if v.v[at+col] < Inf {
				rows[c] += nb[d]
				cols[d] += na[c]
			}
		}
	}
	return spread(rows, v.near), spread(cols, v.far)
}

// classSizes returns the number of values of each class.
func classSizes(class []int32, k, n int) []int32 {
	if class == nil {
		return slices.Repeat([]int32{1}, k)
	}
	sizes := make([]int32, n)
	for _, c := range class {
		sizes[c]++
	}
	return sizes
}

// spread returns what each value has from its class.
func spread[T any](of []T, class []int32) []T {
	if class == nil {
		return of
	}
	return pick(of, class)
}

// partners returns for each of ka near values the first of kb far values that it allows.
func (v *view) partners(ka, kb int) []int32 {
	f := make([]int32, ka)
	for x := range f {
		for y := range int32(kb) {
			if v.values(int32(x), y) < Inf {
				f[x] = y
				break
			}
		}
	}
	return f
}

// separable reports whether an all-finite matrix is a sum of a row and a column vector.
func (v *view) separable() bool {
	for _, at := range v.row {
		first := v.v[at+v.col[0]]
		if first >= Inf {
			return false
		}
		d := first - v.at(0, 0)
		for _, col := range v.col {
			if c := v.v[at+col]; c >= Inf || c-v.v[v.row[0]+col] != d {
				return false
			}
		}
	}
	return true
}

// separate moves a separable link, or one with a single row or column, into the unary costs of its ends. Both parts get minimum 0 and the
// rest goes to the constant: the sum of the spreads stays what it was, so that no sequence of rules can overflow.
func (w *work) separate(e int32, v *view) {
	l := w.links[e]
	w.proveNodes(proveSeparate, l.a, l.b)
	c0, least := 0, v.at(0, 0)
	for c := range v.row {
		if cost := v.at(c, 0); cost < least {
			c0, least = c, cost
		}
	}
	row := Inf
	for d := range v.col {
		row = min(row, v.at(c0, d))
	}
	w.cells[l.a].checked, w.cells[l.b].checked = false, false
	for x := range w.cells[l.a].unary {
		w.cells[l.a].unary[x] += v.at(int(through(v.near, int32(x))), 0) - least
	}
	for y := range w.cells[l.b].unary {
		w.cells[l.b].unary[y] += v.at(c0, int(through(v.far, int32(y)))) - row
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
	w.proveNodes(proveMerge, u, v)
	link := w.from(u, e)
	for x := range cu.unary {
		cu.unary[x] += cv.unary[f[x]] + link.values(int32(x), f[x])
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
