package search

import (
	"context"
	"math"
	"slices"
)

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
	links := w.rowsOfLinks(i)
	if links == nil {
		return false
	}
	stand := w.verdict(&w.cells[i], links)
	if stand == nil {
		return false
	}
	for b, a := range stand {
		if a != b {
			w.proveDominated(i, b, a)
		}
	}
	root := func(a int) int {
		for stand[a] != a {
			a = stand[a]
		}
		return a
	}
	return w.prune(i, func(a int) bool { return stand[a] != a }, root)
}

// rowsOf are the rows that a node's values have in one of its links.
type rowsOf struct {
	class []int32
	pairs *rowPairs
}

// rowsOfLinks returns the rows of a node's links; nil if comparing them all would take too long.
func (w *work) rowsOfLinks(i int32) []rowsOf {
	links, k, work := []rowsOf{}, w.size(i), 0
	for _, e := range w.live(i) {
		v := w.from(i, e)
		links = append(links, rowsOf{v.near, w.pairsOf(v)})
		if work += max(k*k, int(v.entries())*len(v.row)); work > dominanceWork {
			return nil
		}
	}
	return links
}

// verdict is what dominance says of a node: all nodes with such costs, usage and links are alike.
type verdict struct {
	unary []int64
	items []item
	links []rowsOf
	stand []int
}

func (v *verdict) serves(c *cell, links []rowsOf) bool {
	sameUse := func(a, b item) bool { return slices.Equal(a.use, b.use) }
	sameRows := func(a, b rowsOf) bool { return a.pairs == b.pairs && slices.Equal(a.class, b.class) }
	return slices.Equal(v.unary, c.unary) && slices.EqualFunc(v.items, c.items, sameUse) && slices.EqualFunc(v.links, links, sameRows)
}

// verdict returns what standIns does. Where values share rows, nodes are often alike, as those of equal layers are, and one of
// them is looked at.
func (w *work) verdict(c *cell, links []rowsOf) []int {
	if !w.sharing() {
		return w.standIns(c, links)
	}
	h := hashMatrix(len(links), len(c.items), c.unary)
	for _, v := range w.verdicts[h] {
		if v.serves(c, links) {
			return v.stand
		}
	}
	v := &verdict{slices.Clone(c.unary), c.items, links, w.standIns(c, links)}
	if w.verdicts == nil {
		w.verdicts = map[uint64][]*verdict{}
	}
	w.verdicts[h] = append(w.verdicts[h], v)
	return v.stand
}

// standIns returns for every value of a node one that dominates it, or itself; nil if none is dominated.
func (w *work) standIns(c *cell, links []rowsOf) []int {
	k := len(c.unary)
	stand, found := make([]int, k), false
	for a := range stand {
		stand[a] = a
	}
	probes := probe(c.unary, links)
	for b := range k {
		for a := range k {
			if a == b || stand[a] != a || !probes.allow(a, b) || !lighter(c.items, a, b) {
				continue
			}
			if w.cheaper(c, links, int32(a), int32(b)) {
				stand[b], found = a, true
				break
			}
		}
	}
	if !found {
		return nil
	}
	return stand
}

// probes are costs of every value beside a few choices of the neighbours: most pairs of values need no more than these to be told apart.
type probes [3][]int64

func probe(unary []int64, links []rowsOf) *probes {
	p := &probes{}
	for j := range p {
		p[j] = slices.Clone(unary)
		for _, l := range links {
			col := l.pairs.col[j*(len(l.pairs.col)-1)/(len(p)-1)]
			for a := range p[j] {
				p[j][a] = addCost(p[j][a], l.pairs.v[l.pairs.row[through(l.class, int32(a))]+col])
			}
		}
	}
	return p
}

// allow reports whether value a may dominate b: it costs no more wherever b is possible.
func (p *probes) allow(a, b int) bool {
	for _, cost := range p {
		if cost[a] > cost[b] && cost[b] < Inf {
			return false
		}
	}
	return true
}

// rowPairs are rows of a matrix, and by how much one may exceed another in some of its columns.
type rowPairs struct {
	v        []int64
	row, col []int
	worst    []int64 // by pair of rows, unknown or what excess returned; made at its first call
}

const unknown = math.MinInt64

// pairsOf returns the rows of a view: the same for views of the same part of a matrix.
func (w *work) pairsOf(v *view) *rowPairs {
	if w.rows == nil {
		w.rows = map[*int64][]*rowPairs{}
	}
	of := &v.v[0]
	for _, p := range w.rows[of] {
		if slices.Equal(p.row, v.row) && slices.Equal(p.col, v.col) {
			return p
		}
	}
	p := &rowPairs{v: v.v, row: v.row, col: v.col}
	w.rows[of] = append(w.rows[of], p)
	return p
}

// excess returns the most that row a costs above row b in a column that b allows, -Inf if there is none.
func (p *rowPairs) excess(w *work, a, b int32) int64 {
	if p.worst == nil {
		p.worst = slices.Repeat([]int64{unknown}, len(p.row)*len(p.row))
	}
	at := &p.worst[int(a)*len(p.row)+int(b)]
	if *at != unknown {
		return *at
	}
	w.spent += int64(len(p.col))
	*at = -Inf
	ra, rb := p.row[a], p.row[b]
	for _, col := range p.col {
		if old := p.v[rb+col]; old < Inf {
			*at = max(*at, p.v[ra+col]-old)
		}
	}
	return *at
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
func (w *work) cheaper(c *cell, links []rowsOf, a, b int32) bool {
	sum := c.unary[a] - c.unary[b]
	for _, l := range links {
		worst := l.pairs.excess(w, through(l.class, a), through(l.class, b))
		if worst > Inf/2 {
			return false
		}
		sum += worst
	}
	return sum <= 0
}
