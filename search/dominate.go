package search

import "context"

// dominanceWork bounds the entries that looking for dominated values of one node may visit; nodes beyond it are left alone.
const dominanceWork = 1 << 21

// dominate deletes every value that another value of its node can replace at no more cost and no more memory whatever the neighbours take
// (rules P4 and P5 of solver.md section 4.3). It reports whether it deleted any.
func (w *work) dominate(ctx context.Context) bool {
	changed := false
	for i := range w.cells {
		if w.stop(ctx) {
			return changed
		}
		if c := &w.cells[i]; !c.dead && !c.checked && len(c.unary) > 1 {
			c.checked = true
			changed = w.dominateNode(int32(i)) || changed
		}
	}
	return changed
}

func (w *work) dominateNode(i int32) bool {
	c := &w.cells[i]
	k := len(c.unary)
	work := 0
	for _, e := range w.live(i) {
		work += k * k * w.size(w.other(e, i))
	}
	if work > dominanceWork {
		return false
	}
	var rows [][]int64 // per link, the costs of all values of i, each value's row together
	stand := make([]int, k)
	for a := range stand {
		stand[a] = a
	}
	found := false
	for b := range k {
		for a := range k {
			if a == b || stand[a] != a || !lighter(c.items, a, b) || c.unary[a] > c.unary[b] && len(c.adj) == 0 {
				continue
			}
			if rows == nil && len(c.adj) > 0 {
				rows = w.rows(i)
			}
			if w.cheaper(c, rows, a, b) {
				w.proveDominated(i, b, a)
				stand[b], found = a, true
				break
			}
		}
	}
	if !found {
		return false
	}
	root := func(a int) int {
		for stand[a] != a {
			a = stand[a]
		}
		return a
	}
	return w.prune(i, func(a int) bool { return stand[a] != a }, root)
}

// rows returns the live matrices of node i's links with the values of i as rows.
func (w *work) rows(i int32) [][]int64 {
	adj := w.live(i)
	rows := make([][]int64, len(adj))
	for j, e := range adj {
		rows[j] = w.rowsFrom(i, e)
	}
	return rows
}

// lighter reports whether value a uses at most as much memory as b at all times.
func lighter(items []item, a, b int) bool {
	for _, it := range items {
		if it.use[a] > it.use[b] {
			return false
		}
	}
	return true
}

// cheaper reports whether value a costs at most as much as b for all values of the neighbours.
func (w *work) cheaper(c *cell, rows [][]int64, a, b int) bool {
	sum := c.unary[a] - c.unary[b]
	for _, m := range rows {
		k := len(m) / len(c.unary)
		ra, rb := m[a*k:(a+1)*k], m[b*k:(b+1)*k]
		w.spent += int64(k)
		worst := -Inf
		for y, v := range ra {
			if rb[y] < Inf {
				worst = max(worst, v-rb[y])
			}
		}
		if worst > Inf/2 {
			return false
		}
		sum += worst
	}
	return sum <= 0
}
