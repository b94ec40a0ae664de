package search

import (
	"context"
	"math"
	"slices"
)

// eliminationEntries bounds the size of the matrix that eliminating a node of degree 2 makes.
const eliminationEntries = 1 << 14

// eliminate removes nodes of degree 0, 1 and 2 that use no memory, exactly: the best cost for every choice of the neighbours moves to them
// (rule P9 of solver.md section 4.3). It reports whether it removed any.
func (w *work) eliminate(ctx context.Context) bool {
	changed := false
	for i := range w.cells {
		c := &w.cells[i]
		if c.dead || len(c.items) > 0 {
			continue
		}
		if w.stop(ctx) {
			return changed
		}
		switch adj := w.live(int32(i)); len(adj) {
		case 0:
			w.eliminateAlone(int32(i))
		case 1:
			w.eliminateLeaf(int32(i), adj[0])
		case 2:
			first, second := w.from(int32(i), adj[0]), w.from(int32(i), adj[1])
			ka, kb := len(first.col), len(second.col)
			if ka*kb > eliminationEntries || ka*kb > 4*len(c.unary)*(ka+kb) {
				continue
			}
			w.eliminateBetween(int32(i), adj[0], adj[1], first, second)
		default:
			continue
		}
		changed = true
	}
	return changed
}

func (w *work) eliminateAlone(i int32) {
	best := 0
	unary := w.cells[i].unary
	for a, c := range unary {
		if c < unary[best] {
			best = a
		}
	}
	w.proveNodes(proveOut, i)
	w.constant += unary[best]
	w.log = append(w.log, step{kind: stepEliminate, node: i, left: -1, right: -1, table: []int32{int32(best)}})
	w.bury(i)
}

func (w *work) eliminateLeaf(i, e int32) {
	w.proveNodes(proveOut, i)
	u, v := w.other(e, i), w.from(i, e)
	value, least := lightest(v.near, len(v.row), w.cells[i].unary)
	w.spent += v.entries()
	best, table := make([]int64, len(v.col)), make([]int32, len(v.col))
	for d, col := range v.col {
		best[d] = Inf
		for c, row := range v.row {
			if s := addCost(v.v[row+col], least[c]); s < best[d] {
				best[d], table[d] = s, value[c]
			}
		}
	}
	for x := range w.cells[u].unary {
		w.cells[u].unary[x] += best[through(v.far, int32(x))]
	}
	w.cells[u].checked = false
	w.detach(e)
	w.log = append(w.log, step{kind: stepEliminate, node: i, left: u, right: -1, table: spread(table, v.far)})
	w.bury(i)
}

// lightest returns for each of n classes its value of least cost, and that cost.
func lightest(class []int32, n int, costs []int64) (value []int32, least []int64) {
	value, least = make([]int32, n), slices.Repeat([]int64{math.MaxInt64}, n)
	for a, cost := range costs {
		if c := through(class, int32(a)); cost < least[c] {
			value[c], least[c] = int32(a), cost
		}
	}
	return value, least
}

// eliminateBetween joins the two neighbours of node i by a link that is the min-plus product of theirs with i, e and g, as i sees them.
func (w *work) eliminateBetween(i, e, g int32, ve, vg *view) {
	w.proveNodes(proveOut, i)
	u, v := w.other(e, i), w.other(g, i)
	k := w.size(i)
	class, first := w.number.join(ve.near, vg.near, k, len(ve.row), len(vg.row))
	value, least := lightest(class, len(first), w.cells[i].unary)
	one, two := make([]int, len(first)), make([]int, len(first))
	for c, x := range first {
		one[c], two[c] = ve.row[through(ve.near, x)], vg.row[through(vg.near, x)]
	}
	p := w.multiply(&operands{ve.v, vg.v, one, two, ve.col, vg.col, least})
	w.detach(e)
	w.detach(g)
	w.log = append(w.log, step{kind: stepEliminate, node: i, left: u, right: v, width: int32(len(vg.col)), table: p.best, values: value,
		leftClass: ve.far, rightClass: vg.far})
	w.bury(i)
	w.attach(link{a: u, b: v, m: p.sum, ra: ve.far, rb: vg.far})
}
