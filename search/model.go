package search

import "slices"

// table is an interned cost matrix of a model: exact, and as float64 above its least entry, for message passing.
type table struct {
	ka, kb int
	v      []int64
	rows   []float64
	least  float64
}

// arc is an edge of a model between node a and a later node b; toA and toB are the offsets of its messages.
type arc struct {
	a, b     int32
	toA, toB int32
	t        *table
}

// model is a frozen copy of a working model, in flat arrays for the inner loops. Node i has the values off[i] to off[i+1]; forward[i] and
// backward[i] are its arcs to later and from earlier nodes. Usage counts above base.
type model struct {
	node     []int32 // node of the problem
	off      []int32
	unary    []int64
	arcs     []arc
	forward  [][]int32
	backward [][]int32
	items    [][]item
	base     []int64
	point    []int32
	limit    int64
	hasLimit bool
	constant int64
	entries  int64 // matrix entries, the price of a sweep in one direction
	msgs     int   // length of all messages

	origin    *origin
	proofArcs []proofArc // made when a proof needs them
}

// compile freezes the working model.
func compile(w *work) *model {
	w.tidyAll()
	m := &model{base: slices.Clone(w.base), point: slices.Clone(w.point), limit: w.limit, hasLimit: w.hasLimit && len(w.base) > 0,
		constant: w.constant, off: []int32{0}}
	index := make([]int32, len(w.cells))
	for i := range w.cells {
		if c := &w.cells[i]; !c.dead {
			index[i] = int32(len(m.node))
			m.node = append(m.node, int32(i))
			m.unary = append(m.unary, c.unary...)
			m.off = append(m.off, int32(len(m.unary)))
			m.items = append(m.items, c.items)
		}
	}
	m.origin = &origin{w.origin, slices.Clip(w.log), m.node, len(w.cells)}
	m.forward, m.backward = make([][]int32, len(m.node)), make([][]int32, len(m.node))
	intern := map[uint64][]*table{}
	for _, i := range m.node {
		for _, e := range w.live(i) {
			if j := w.other(e, i); i < j {
				m.addArc(index[i], index[j], internTable(intern, w.size(i), w.size(j), w.rowsFrom(i, e)))
			}
		}
	}
	return m
}

func (m *model) addArc(a, b int32, t *table) {
	id := int32(len(m.arcs))
	m.arcs = append(m.arcs, arc{a, b, int32(m.msgs), int32(m.msgs + t.ka), t})
	m.msgs += t.ka + t.kb
	m.entries += int64(t.ka * t.kb)
	m.forward[a] = append(m.forward[a], id)
	m.backward[b] = append(m.backward[b], id)
}

func internTable(intern map[uint64][]*table, ka, kb int, v []int64) *table {
	h := hashMatrix(ka, kb, v)
	for _, t := range intern[h] {
		if t.ka == ka && slices.Equal(t.v, v) {
			return t
		}
	}
	least := slices.Min(v)
	t := &table{ka: ka, kb: kb, v: v, rows: make([]float64, ka*kb), least: float64(least)}
	for e, c := range v {
		t.rows[e] = toFloat(c, least)
	}
	intern[h] = append(intern[h], t)
	return t
}

// values returns the number of values of node i.
func (m *model) values(i int32) int { return int(m.off[i+1] - m.off[i]) }

// degree returns the number of arcs of node i.
func (m *model) degree(i int32) int { return len(m.forward[i]) + len(m.backward[i]) }

// cost returns the exact cost of a labelling, or Inf if it selects a forbidden entry.
func (m *model) cost(x []int32) int64 {
	sum := m.constant
	for i, a := range x {
		sum += m.unary[m.off[i]+a]
	}
	for i := range m.arcs {
		e := &m.arcs[i]
		c := e.t.v[int(x[e.a])*e.t.kb+int(x[e.b])]
		if c >= Inf {
			return Inf
		}
		sum += c
	}
	return sum
}

// usage stores the usage of a labelling at every time point in use and returns its largest excess over the limit (negative if it fits).
func (m *model) usage(x []int32, use []int64) int64 {
	if !m.hasLimit {
		return -1
	}
	clear(use)
	for i, a := range x {
		for _, it := range m.items[i] {
			use[it.s] += it.use[a]
			if int(it.e) < len(use) {
				use[it.e] -= it.use[a]
			}
		}
	}
	sum, worst := int64(0), -Inf
	for t := range use {
		sum += use[t]
		use[t] = sum + m.base[t]
		worst = max(worst, use[t]-m.limit)
	}
	return worst
}

// solution lifts a labelling to the problem.
func (m *model) solution(x []int32) []int32 { return m.origin.solution(slices.Clone(x)) }

// labelling projects a solution of the problem to the model; false if a reduction has excluded it.
func (m *model) labelling(solution []int32) ([]int32, bool) { return m.origin.values(solution) }
