package collectives

// table holds the cheapest ways between the layouts of one tensor. Rows are made when they are asked for.
type table struct {
	graph  *graph
	tensor *Tensor
	pricer Pricer
	prices []int64 // of the graph's moves for this tensor, -1 if unknown yet
	fits   []int8  // per vertex: whether it divides the tensor, 0 if unknown yet
	rows   map[int32]*row
	queue  []entry
}

// row is the cheapest ways from one layout to all others, by Dijkstra's algorithm.
type row struct{ at []hop }

// hop is the last step of a cheapest way.
type hop struct {
	price     int64 // of the way; -1 where there is none
	from, arc int32
}

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
	s := &routes{table: t}
	s.see(start)
	s.at[start], s.steps[start] = hop{from: start}, 0
	s.push(entry{0, 0, start})
	for len(t.queue) > 0 {
		e := s.pop()
		if s.done[e.vertex] {
			continue
		}
		s.done[e.vertex] = true
		t.graph.explore(e.vertex)
		for i := range t.graph.vertices[e.vertex].arcs {
			s.relax(e, int32(i))
		}
	}
	return &row{s.at}
}

// routes is one run of the search.
type routes struct {
	*table
	at    []hop
	steps []int32
	done  []bool
}

// see makes room for a vertex.
func (s *routes) see(v int32) {
	for int(v) >= len(s.at) {
		s.at, s.steps, s.done = append(s.at, hop{price: -1}), append(s.steps, 0), append(s.done, false)
	}
}

// relax follows an arc from where the search is. Among ways of one price and length the one from the smaller vertex wins.
func (s *routes) relax(e entry, i int32) {
	a := &s.graph.vertices[e.vertex].arcs[i]
	if s.see(a.to); s.done[a.to] || !s.divides(a.to) {
		return
	}
	next := entry{e.price + s.price(a.move), e.steps + 1, a.to}
	h := &s.at[a.to]
	old := entry{h.price, s.steps[a.to], a.to}
	switch {
	case h.price < 0 || next.before(old):
		s.push(next)
	case old.before(next) || s.graph.vertices[h.from].key <= s.graph.vertices[e.vertex].key:
		return
	}
	*h, s.steps[a.to] = hop{next.price, e.vertex, i}, next.steps
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

// push adds an entry to the queue. The queue is written out because planning a step of Mixtral on 16 x 8 x 4 chips takes 10 % longer
// with container/heap, which makes every entry an interface value.
func (t *table) push(e entry) {
	q := append(t.queue, e)
	for i := len(q) - 1; i > 0 && q[i].before(q[(i-1)/2]); i = (i - 1) / 2 {
		q[i], q[(i-1)/2] = q[(i-1)/2], q[i]
	}
	t.queue = q
}

func (t *table) pop() entry {
	q := t.queue
	top := q[0]
	last := len(q) - 1
	q[0] = q[last]
	q = q[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if q[c].before(q[least]) {
				least = c
			}
		}
		if least == i {
			break
		}
		q[i], q[least] = q[least], q[i]
		i = least
	}
	t.queue = q
	return top
}
