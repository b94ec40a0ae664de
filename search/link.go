package search

import (
	"slices"

	"autoshard/internal/lists"
)

// matrix is a cost matrix in row-major order, immutable because edges and clones share it.
type matrix struct {
	cols int32
	v    []int64
}

// link is an edge of the working model. The live value x of node a selects row ra[x] of the matrix, the live value y of b column rb[y]; a
// nil map is the identity. Deleting values and merging nodes thus re-index an edge without copying its matrix, and values share rows.
type link struct {
	a, b   int32
	m      *matrix
	ra, rb []int32
	dead   bool
}

// at returns the cost of the live values x of l.a and y of l.b.
func (l *link) at(x, y int32) int64 {
	return l.m.v[int(through(l.ra, x))*int(l.m.cols)+int(through(l.rb, y))]
}

// view is a link as seen from one of its nodes: the live values that select the same row or column form a class, and the cost of two
// classes is v[row[c]+col[d]]. The classes of the values of the near and of the far node are in near and far; nil is the identity.
type view struct {
	v         []int64
	row, col  []int
	near, far []int32
}

func (v *view) at(class, farClass int) int64 { return v.v[v.row[class]+v.col[farClass]] }

// values returns the cost of a live value of the near and one of the far node.
func (v *view) values(x, y int32) int64 {
	return v.v[v.row[through(v.near, x)]+v.col[through(v.far, y)]]
}

// entries is the work of visiting all pairs of classes.
func (v *view) entries() int64 { return int64(len(v.row) * len(v.col)) }

// from returns the view of link e from node i.
func (w *work) from(i, e int32) *view { return w.look(&w.links[e], i) }

func (w *work) look(l *link, i int32) *view {
	v := &view{v: l.m.v}
	rows, cols := len(l.m.v)/int(l.m.cols), int(l.m.cols)
	v.near, v.row = w.classes(l.ra, w.size(l.a), rows, cols)
	v.far, v.col = w.classes(l.rb, w.size(l.b), cols, 1)
	if l.a != i {
		v.row, v.col, v.near, v.far = v.col, v.row, v.far, v.near
	}
	return v
}

// sharing reports whether values share rows. They do in problems that say so; a proof is about single values, so that with one, every value
// is its own class.
func (w *work) sharing() bool { return w.shared && w.proof == nil }

// classes numbers the rows that k values select out of n, in order of the rows, so that links of the same matrix often have the same
// classes. It returns the offsets of the rows, which are stride apart.
func (w *work) classes(rows []int32, k, n, stride int) (class []int32, offset []int) {
	offset = make([]int, 0, min(k, n))
	if rows == nil || !w.sharing() {
		for x := range int32(k) {
			offset = append(offset, int(through(rows, x))*stride)
		}
		return nil, offset
	}
	number := w.number.zeros(n)
	for _, row := range rows {
		number[row] = 1
	}
	for row, used := range number {
		if used > 0 {
			number[row] = int32(len(offset))
			offset = append(offset, row*stride)
		}
	}
	class = make([]int32, k)
	for x, row := range rows {
		class[x] = number[row]
	}
	clear(number)
	return class, offset
}

// numbering numbers small integers in order of first use. The zero value is ready.
type numbering struct {
	id    []int32 // 1 + the number; 0 for none
	used  []int32
	count int32
}

// start forgets all numbers; integers up to n may come.
func (n *numbering) start(most int) {
	for _, x := range n.used {
		n.id[x] = 0
	}
	n.used, n.count = n.used[:0], 0
	if len(n.id) < most {
		n.id = make([]int32, most)
	}
}

// zeros forgets all numbers and returns n zeros, to be zeros again before the next use.
func (n *numbering) zeros(most int) []int32 {
	n.start(most)
	return n.id[:most]
}

// of returns the number of x, and whether it is new.
func (n *numbering) of(x int32) (number int32, added bool) {
	if id := n.id[x]; id > 0 {
		return id - 1, false
	}
	n.count++
	n.id[x] = n.count
	n.used = append(n.used, x)
	return n.count - 1, true
}

// join returns the classes of k values that agree in two partitions with p and q classes, and the first value of each.
func (n *numbering) join(first, second []int32, k, p, q int) (class, values []int32) {
	if first == nil || second == nil {
		return nil, lists.Range[int32](k)
	}
	n.start(p * q)
	class = make([]int32, k)
	for x := range int32(k) {
		c, added := n.of(first[x]*int32(q) + second[x])
		if class[x] = c; added {
			values = append(values, x)
		}
	}
	if len(values) == k {
		class = nil
	}
	return class, values
}

// common returns the classes of k values that agree in all of several partitions, of sizes classes each, and the first value of each.
func (n *numbering) common(partitions [][]int32, sizes []int, k int) (class, values []int32) {
	if len(partitions) == 0 {
		return make([]int32, k), []int32{0}
	}
	class, count := partitions[0], sizes[0]
	if class == nil {
		return nil, lists.Range[int32](k)
	}
	for j, next := range partitions {
		class, values = n.join(class, next, k, count, sizes[j])
		if count = len(values); class == nil {
			break
		}
	}
	return class, values
}

// attach adds a link, summing it into the link that already joins the two nodes, and queues it.
func (w *work) attach(l link) {
	key := pairKey(l.a, l.b)
	e, ok := w.pairs[key]
	if !ok {
		e = int32(len(w.links))
		w.links = append(w.links, l)
		w.queued = append(w.queued, false)
		w.pairs[key] = e
		w.cells[l.a].adj = append(w.cells[l.a].adj, e)
		w.cells[l.b].adj = append(w.cells[l.b].adj, e)
		w.push(e)
		return
	}
	a, b := w.links[e].a, w.links[e].b
	old, more := w.from(a, e), w.look(&l, a)
	ra, rows := w.number.join(old.near, more.near, w.size(a), len(old.row), len(more.row))
	rb, cols := w.number.join(old.far, more.far, w.size(b), len(old.col), len(more.col))
	w.spent += int64(len(rows) * len(cols))
	sum := make([]int64, 0, len(rows)*len(cols))
	for _, x := range rows {
		for _, y := range cols {
			sum = append(sum, addCost(old.values(x, y), more.values(x, y)))
		}
	}
	w.replace(e, link{a: a, b: b, m: &matrix{int32(len(cols)), sum}, ra: ra, rb: rb})
}

// replace puts another link of the same nodes, in any order, in the place of link e and queues it.
func (w *work) replace(e int32, l link) {
	w.links[e] = l
	w.push(e)
}

// dense returns the costs of a link for all pairs of live values, in row-major order.
func (w *work) dense(l *link) []int64 {
	ka, kb := int32(w.size(l.a)), int32(w.size(l.b))
	w.spent += int64(ka) * int64(kb)
	m := make([]int64, 0, ka*kb)
	for x := range ka {
		for y := range kb {
			m = append(m, l.at(x, y))
		}
	}
	return m
}

// compress returns a link with given costs for all pairs of live values, in which equal rows are one, and equal columns.
func (w *work) compress(a, b int32, dense []int64) link {
	ka, kb := w.size(a), w.size(b)
	if !w.sharing() {
		return link{a: a, b: b, m: &matrix{int32(kb), dense}}
	}
	ra, rows := distinct(ka, func(x int) []int64 { return dense[x*kb : (x+1)*kb] })
	column := make([]int64, len(rows))
	rb, cols := distinct(kb, func(y int) []int64 {
		for c, x := range rows {
			column[c] = dense[int(x)*kb+y]
		}
		return column
	})
	v := make([]int64, 0, len(rows)*len(cols))
	for _, x := range rows {
		for _, y := range cols {
			v = append(v, dense[int(x)*kb+int(y)])
		}
	}
	return link{a: a, b: b, m: &matrix{int32(len(cols)), v}, ra: ra, rb: rb}
}

// distinct returns the classes of k equal rows, nil if all differ, and the first row of each.
func distinct(k int, row func(x int) []int64) (class, first []int32) {
	seen := map[uint64][]int32{} // used for look-ups only
	var rows [][]int64
	class = make([]int32, k)
	for x := range k {
		r := row(x)
		h := hashMatrix(1, len(r), r)
		at := slices.IndexFunc(seen[h], func(c int32) bool { return slices.Equal(rows[c], r) })
		if at >= 0 {
			class[x] = seen[h][at]
			continue
		}
		class[x] = int32(len(rows))
		seen[h] = append(seen[h], class[x])
		rows, first = append(rows, slices.Clone(r)), append(first, int32(x))
	}
	if len(first) == k {
		class = nil
	}
	return class, first
}

// detach removes link e.
func (w *work) detach(e int32) {
	l := &w.links[e]
	l.dead = true
	delete(w.pairs, pairKey(l.a, l.b))
}

// push queues link e and marks its ends as changed.
func (w *work) push(e int32) {
	l := &w.links[e]
	w.cells[l.a].checked, w.cells[l.b].checked = false, false
	if !w.queued[e] {
		w.queued[e] = true
		w.queue = append(w.queue, e)
	}
}

// live drops dead links from the adjacency of node i and returns the rest.
func (w *work) live(i int32) []int32 {
	c := &w.cells[i]
	c.adj = slices.DeleteFunc(c.adj, func(e int32) bool { return w.links[e].dead })
	return c.adj
}

// other returns the end of link e that is not i.
func (w *work) other(e, i int32) int32 {
	if w.links[e].a == i {
		return w.links[e].b
	}
	return w.links[e].a
}
