package search

import "context"

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
			ka, kb := w.size(w.other(adj[0], int32(i))), w.size(w.other(adj[1], int32(i)))
			if ka*kb > eliminationEntries || ka*kb > 4*len(c.unary)*(ka+kb) {
				continue
			}
			w.eliminateBetween(int32(i), adj[0], adj[1])
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
	u := w.other(e, i)
	rows := w.rowsFrom(u, e)
	unary, k := w.cells[i].unary, len(w.cells[i].unary)
	table := make([]int32, w.size(u))
	for x := range table {
		best, at := Inf, 0
		for a, c := range rows[x*k : (x+1)*k] {
			if s := addCost(c, unary[a]); s < best {
				best, at = s, a
			}
		}
		w.cells[u].unary[x] += best
		table[x] = int32(at)
	}
	w.cells[u].checked = false
	w.detach(e)
	w.log = append(w.log, step{kind: stepEliminate, node: i, left: u, right: -1, table: table})
	w.bury(i)
}

func (w *work) eliminateBetween(i, e, g int32) {
	w.proveNodes(proveOut, i)
	u, v := w.other(e, i), w.other(g, i)
	ru, rv := w.rowsFrom(u, e), w.rowsFrom(v, g)
	unary, k := w.cells[i].unary, len(w.cells[i].unary)
	ku, kv := w.size(u), w.size(v)
	sum, table := make([]int64, ku*kv), make([]int32, ku*kv)
	w.spent += int64(ku * kv * k)
	half := make([]int64, k)
	for x := range ku {
		for a, c := range ru[x*k : (x+1)*k] {
			half[a] = addCost(c, unary[a])
		}
		for y := range kv {
			best, at := Inf, 0
			for a, c := range rv[y*k : (y+1)*k] {
				if s := c + half[a]; s < best {
					best, at = s, a
				}
			}
			sum[x*kv+y], table[x*kv+y] = best, int32(at)
		}
	}
	w.detach(e)
	w.detach(g)
	w.log = append(w.log, step{kind: stepEliminate, node: i, left: u, right: v, width: int32(kv), table: table})
	w.bury(i)
	w.attach(link{a: u, b: v, m: &matrix{int32(kv), sum}})
}

// rowsFrom returns the live matrix of link e with the values of node u as rows.
func (w *work) rowsFrom(u, e int32) []int64 {
	l := &w.links[e]
	m := w.dense(l)
	ka, kb := w.size(l.a), w.size(l.b)
	out := make([]int64, ka*kb)
	if l.a == u {
		copy(out, m)
		return out
	}
	for x := range ka {
		for y := range kb {
			out[y*ka+x] = m[x*kb+y]
		}
	}
	return out
}
