package search

import (
	"context"
	"maps"
	"math"
	"slices"
)

// item is usage[x] units of memory in the time points s <= t < e if the node takes its live value x.
type item struct {
	s, e int32
	use  []int64
}

// cell is a node of the working model. Its items are tidy when they are disjoint, sorted, at least 0 with minimum 0 over the values (the
// minimum is part of the base profile), and none is all zero.
type cell struct {
	dead bool
	tidy bool
	// checked says that no value has been dominated since the node or its links last changed.
	checked bool
	unary   []int64
	items   []item
	adj     []int32 // links, possibly dead ones
	// Only if the model has a proof: node and live values in the numbers of the problem.
	name int32
	orig []int32
}

// work is the working model that the reductions shrink. Dead nodes are those folded, merged or eliminated; log tells how to get back.
type work struct {
	cells    []cell
	links    []link
	pairs    map[uint64]int32 // live link between two nodes, by pairKey; used for look-ups only
	constant int64
	hasLimit bool
	limit    int64
	shared   bool    // strategies of the problem share rows
	rough    bool    // dominated values stay, tables are short, and all cores work on one lane
	base     []int64 // unavoidable usage at every time point
	delta    []int64 // pending changes of base as a difference array
	point    []int32 // compressed time of the problem of every time point
	log      []step
	origin   *origin // nil if the nodes are those of the problem
	proof    *proof  // nil if nothing is recorded

	queue    []int32 // links to look at again
	queued   []bool
	number   numbering // scratch
	products products
	rows     map[*int64][]*rowPairs // by matrix; used for look-ups only
	verdicts map[uint64][]*verdict  // likewise
	spent    int64                  // matrix entries visited
	until    int64                  // spent entries at which the reductions stop
	cut      bool                   // they have stopped so: the model is valid, but not reduced to the end
	failed   *conflict
}

// conflict says why the working model has no solution: a node ran out of values, or, if memory is set, a time point of the problem's
// compressed time cannot fit.
type conflict struct {
	memory bool
	time   int32
	need   int64 // least usage at time, if more than the limit
	node   int32
}

func pairKey(a, b int32) uint64 { return uint64(min(a, b))<<32 | uint64(max(a, b)) }

// newWork copies the problem: forbidden strategies are gone, parallel edges are summed, matrices are shared. It is not complete if the
// context ends.
func newWork(ctx context.Context, p *Problem) *work {
	n := p.NumNodes()
	w := &work{cells: make([]cell, n), pairs: make(map[uint64]int32, p.NumEdges()), constant: p.Constant,
		hasLimit: p.HasLimit && len(p.times) > 0, limit: p.Limit, shared: p.sharesRows(), until: math.MaxInt64}
	w.base, w.delta = make([]int64, len(p.times)), make([]int64, len(p.times)+1)
	w.point = make([]int32, len(p.times))
	for t := range w.point {
		w.point[t] = int32(t)
	}
	for i := range w.cells {
		c := &w.cells[i]
		c.unary = slices.Clone(p.Cost[p.Off[i]:p.Off[i+1]])
		if w.hasLimit && p.lo[i] < p.hi[i] {
			c.items = []item{{p.lo[i], p.hi[i], p.Use[p.Off[i]:p.Off[i+1]]}}
		}
	}
	mats := make([]*matrix, len(p.MatRows))
	for m := range mats {
		mats[m] = &matrix{p.MatCols[m], p.MatVal[p.MatOff[m]:p.MatOff[m+1]]}
	}
	for e := range p.EA {
		if e&63 == 0 && ctx.Err() != nil {
			break
		}
		w.attach(link{a: p.EA[e], b: p.EB[e], m: mats[p.EMat[e]], ra: p.ERow[e], rb: p.ECol[e]})
	}
	for i := range w.cells {
		w.prune(int32(i), func(a int) bool { return w.cells[i].unary[a] >= Inf }, nil)
	}
	return w
}

// clone returns an independent copy. Slices that are replaced, never written to, are shared.
func (w *work) clone() *work {
	c := *w
	c.cells = slices.Clone(w.cells)
	for i := range c.cells {
		if old := &c.cells[i]; !old.dead {
			old.unary, old.items, old.adj = slices.Clone(old.unary), slices.Clip(old.items), slices.Clone(old.adj)
		}
	}
	c.links, c.pairs = slices.Clone(w.links), maps.Clone(w.pairs)
	c.base, c.delta, c.point = slices.Clone(w.base), slices.Clone(w.delta), slices.Clone(w.point)
	c.queue, c.queued = slices.Clone(w.queue), slices.Clone(w.queued)
	c.log, c.number, c.products, c.rows, c.verdicts = slices.Clip(w.log), numbering{}, nil, nil, nil
	return &c
}

// compact returns an independent copy that has only the live nodes, numbered from 0. Its proof goes on where that of w ends.
func (w *work) compact() *work {
	c := &work{constant: w.constant, hasLimit: w.hasLimit, limit: w.limit, shared: w.shared, base: slices.Clone(w.base),
		delta: slices.Clone(w.delta), point: slices.Clone(w.point), failed: w.failed, until: math.MaxInt64, proof: w.proof.fork()}
	index := make([]int32, len(w.cells))
	var node []int32
	for i := range w.cells {
		if old := &w.cells[i]; !old.dead {
			index[i] = int32(len(node))
			node = append(node, int32(i))
			c.cells = append(c.cells, cell{tidy: old.tidy, checked: old.checked, unary: slices.Clone(old.unary), items: slices.Clip(old.items),
				name: old.name, orig: old.orig})
		}
	}
	c.origin = &origin{w.origin, w.log, node, len(w.cells)}
	c.links, c.pairs = make([]link, 0, len(w.pairs)), make(map[uint64]int32, len(w.pairs))
	for e := range w.links {
		if l := w.links[e]; !l.dead {
			l.a, l.b = index[l.a], index[l.b]
			id := int32(len(c.links))
			c.links = append(c.links, l)
			c.pairs[pairKey(l.a, l.b)] = id
			c.cells[l.a].adj = append(c.cells[l.a].adj, id)
			c.cells[l.b].adj = append(c.cells[l.b].adj, id)
			if c.queued = append(c.queued, w.queued[e]); w.queued[e] {
				c.queue = append(c.queue, id)
			}
		}
	}
	return c
}

func (w *work) size(i int32) int { return len(w.cells[i].unary) }

// prune deletes the live values of node i for which gone holds. stand, if not nil, names for a deleted value the value that is at least as
// good (dominance), so that solutions from outside can follow. It reports whether anything was deleted.
func (w *work) prune(i int32, gone func(a int) bool, stand func(a int) int) bool {
	c := &w.cells[i]
	if c.dead || w.failed != nil {
		return false
	}
	k := len(c.unary)
	var keep []int32
	moved := make([]int32, k)
	for a := range k {
		moved[a] = -1
		if !gone(a) {
			moved[a] = int32(len(keep))
			keep = append(keep, int32(a))
		}
	}
	if len(keep) == k {
		return false
	}
	if len(keep) == 0 {
		w.failed = &conflict{node: i}
		w.proveFailed()
		return true
	}
	if stand != nil {
		for a := range k {
			if moved[a] < 0 {
				moved[a] = moved[stand(a)]
			}
		}
	}
	w.log = append(w.log, step{kind: stepRestrict, node: i, table: keep, back: moved})
	w.reindex(i, keep)
	return true
}

// reindex keeps the values keep of node i and follows in its links.
func (w *work) reindex(i int32, keep []int32) {
	c := &w.cells[i]
	c.unary = pick(c.unary, keep)
	if w.proof != nil {
		c.orig = pick(c.orig, keep)
	}
	items := make([]item, len(c.items))
	for j, it := range c.items {
		items[j] = item{it.s, it.e, pick(it.use, keep)}
	}
	c.items, c.tidy, c.checked = items, len(items) == 0, false
	for _, e := range w.live(i) {
		l := &w.links[e]
		if l.a == i {
			l.ra = compose(l.ra, keep)
		} else {
			l.rb = compose(l.rb, keep)
		}
		w.push(e)
	}
}

// compose returns the map x -> m[f[x]]; a nil m is the identity.
func compose(m, f []int32) []int32 {
	if m == nil {
		return f
	}
	return pick(m, f)
}

// pick returns from[f[0]], from[f[1]], ...
func pick[T any](from []T, f []int32) []T {
	out := make([]T, len(f))
	for x, a := range f {
		out[x] = from[a]
	}
	return out
}

// stop reports whether the reductions have to stop: the context ended, or they visited what they may.
func (w *work) stop(ctx context.Context) bool {
	if w.spent >= w.until {
		w.cut = true
	}
	return w.cut || ctx.Err() != nil
}

// takeSpent returns the entries visited since the last call.
func (w *work) takeSpent() int64 {
	n := w.spent
	w.spent = 0
	return n
}
