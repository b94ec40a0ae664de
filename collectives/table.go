package collectives

import (
	"math"
	"slices"
)

// table holds the cheapest ways between the layouts of one tensor. Rows are made when they are asked for.
type table struct {
	graph  *graph
	tensor *Tensor
	pricer Pricer
	prices []int64  // of the graph's moves for this tensor, -1 if unknown yet
	fits   []int8   // per vertex: whether it divides the tensor, 0 if unknown yet
	roads  [][]road // per vertex, nil if unknown yet
	rows   map[int32]*row
	length []int32 // per vertex, the steps of the way that a search found
	queue  []entry
}

// road is an arc to a vertex that divides the tensor.
type road struct {
	price   int64
	to, arc int32
}

// row is the cheapest ways from one layout to all others, by Dijkstra's algorithm: per vertex the price, and the vertex before it.
type row struct {
	price []int64 // nowhere if there is no way
	from  []int32
}

const nowhere = math.MaxInt64

// entry is a vertex that a search has reached.
type entry struct {
	price  int64
	steps  int32
	vertex int32
}

func (e entry) before(o entry) bool {
	return e.price < o.price || e.price == o.price && e.steps < o.steps
}

func (t *table) row(start int32) *row {
	r := t.rows[start]
	if r == nil {
		r = t.search(start)
		if t.rows == nil {
			t.rows = map[int32]*row{}
		}
		t.rows[start] = r
	}
	return r
}

func (t *table) search(start int32) *row {
	r := &row{}
	t.see(r)
	r.price[start], r.from[start], t.length[start] = 0, start, 0
	t.push(entry{0, 0, start})
	for len(t.queue) > 0 {
		if e := t.pop(); e.price == r.price[e.vertex] && e.steps == t.length[e.vertex] {
			t.relax(r, e)
		}
	}
	return r
}

// see makes room for the vertices that the graph has by now.
func (t *table) see(r *row) {
	n, before := len(t.graph.vertices), len(r.price)
	t.length = append(t.length, make([]int32, max(0, n-len(t.length)))...)
	r.from = append(r.from, make([]int32, n-before)...)
	r.price = slices.Grow(r.price, n-before)[:n]
	for i := before; i < n; i++ {
		r.price[i] = nowhere
	}
}

// relax follows the roads from where the search is. Among ways of one price and length the one from the smaller vertex wins.
func (t *table) relax(r *row, e entry) {
	roads := t.roadsFrom(e.vertex)
	if len(r.price) < len(t.graph.vertices) {
		t.see(r)
	}
	for i := range roads {
		to := roads[i].to
		price := e.price + roads[i].price
		if price > r.price[to] {
			continue
		}
		next, old := entry{price, e.steps + 1, to}, entry{r.price[to], t.length[to], to}
		switch {
		case next.before(old):
			t.push(next)
		case old.before(next) || t.graph.vertices[r.from[to]].key <= t.graph.vertices[e.vertex].key:
			continue
		}
		r.price[to], r.from[to], t.length[to] = price, e.vertex, next.steps
	}
}

// roadsFrom returns the roads from a vertex.
func (t *table) roadsFrom(v int32) []road {
	for int(v) >= len(t.roads) {
		t.roads = append(t.roads, nil)
	}
	if t.roads[v] == nil {
		t.graph.explore(v)
		arcs := t.graph.vertices[v].arcs
		t.roads[v] = make([]road, 0, len(arcs))
		for i, a := range arcs {
			if t.divides(a.to) && t.fitsMemory(v, a.to) {
				t.roads[v] = append(t.roads[v], road{t.price(a.move), a.to, int32(i)})
			}
		}
	}
	return t.roads[v]
}

// arc returns the arc that the way of a row takes to a vertex: the first of its price.
func (t *table) arc(r *row, to int32) *arc {
	from := r.from[to]
	roads := t.roads[from]
	i := slices.IndexFunc(roads, func(o road) bool { return o.to == to && r.price[from]+o.price == r.price[to] })
	return &t.graph.vertices[from].arcs[roads[i].arc]
}

// divides says whether a vertex cuts the tensor into equal blocks.
func (t *table) divides(v int32) bool {
	for int(v) >= len(t.fits) {
		t.fits = append(t.fits, 0)
	}
	if t.fits[v] == 0 {
		t.fits[v] = 1
		for d, list := range t.graph.vertices[v].dims {
			if t.tensor.sizes[d]%t.graph.atoms.product(list) != 0 {
				t.fits[v] = -1
			}
		}
	}
	return t.fits[v] > 0
}

// fitsMemory says whether a device may hold the blocks of two layouts at once.
func (t *table) fitsMemory(a, b int32) bool {
	if t.tensor.most == 0 {
		return true
	}
	v := t.graph.vertices
	return t.tensor.bytes/v[a].shards+t.tensor.bytes/v[b].shards <= t.tensor.most
}

// price returns that of a move.
func (t *table) price(i int32) int64 {
	for int(i) >= len(t.prices) {
		t.prices = append(t.prices, -1)
	}
	if t.prices[i] < 0 {
		m := &t.graph.moves[i]
		t.prices[i] = t.pricer.Price(m.kind, m.axes, t.tensor.bytes/m.shards)
	}
	return t.prices[i]
}

// push adds an entry to the queue, a heap in which every entry has four below. It is written out because planning a step of Mixtral on
// 16 x 8 x 4 chips takes 10 % longer with container/heap, which makes every entry an interface value.
func (t *table) push(e entry) {
	q := append(t.queue, e)
	i := len(q) - 1
	for ; i > 0 && e.before(q[(i-1)/4]); i = (i - 1) / 4 {
		q[i] = q[(i-1)/4]
	}
	q[i], t.queue = e, q
}

func (t *table) pop() entry {
	q := t.queue
	top, last := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	i := 0
	for first := 1; first < len(q); first = 4*i + 1 {
		least := first
		for c := first + 1; c < min(first+4, len(q)); c++ {
			if q[c].before(q[least]) {
				least = c
			}
		}
		if !q[least].before(last) {
			break
		}
		q[i], i = q[least], least
	}
	if len(q) > 0 {
		q[i] = last
	}
	t.queue = q
	return top
}
