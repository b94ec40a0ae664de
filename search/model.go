package search

import "slices"

// table is an interned cost matrix of a model: exact, and above its least entry for message passing. Sweeps over large models wait for
// memory; where a bound need not close to the last unit, half as many bytes do.
type table struct {
	ka, kb int
	v      []int64
	rows   []float64
	short  []float32 // in the place of rows
	least  int64
	most   int64 // the largest finite cost, or minus the least one if that is more
}

// arc is an edge of a model between node a and a later node b. The values of a select rows of the table as pa says, those of b columns as
// pb says; nil is the identity. Its messages go to rows and columns, not to values: toA and toB are their offsets.
type arc struct {
	a, b     int32
	toA, toB int32
	pa, pb   []int32
	t        *table
}

// cost returns the cost of value x of the first and y of the second node.
func (e *arc) cost(x, y int32) int64 {
	return e.t.v[int(through(e.pa, x))*e.t.kb+int(through(e.pb, y))]
}

// entries returns the work of passing a message over it.
func (e *arc) entries() int { return e.t.ka * e.t.kb }

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
	onward   *waves
	back     *waves

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
	tables := newTables(w.rough)
	for _, i := range m.node {
		for _, e := range w.live(i) {
			if j := w.other(e, i); i < j {
				v := w.from(i, e)
				m.addArc(arc{a: index[i], b: index[j], pa: v.near, pb: v.far, t: tables.intern(v)})
			}
		}
	}
	m.onward, m.back = forwardWaves(m), backwardWaves(m)
	return m
}

func (m *model) addArc(e arc) {
	id := int32(len(m.arcs))
	e.toA, e.toB = int32(m.msgs), int32(m.msgs+e.t.ka)
	m.arcs = append(m.arcs, e)
	m.msgs += e.t.ka + e.t.kb
	m.entries += int64(e.entries())
	m.forward[e.a] = append(m.forward[e.a], id)
	m.backward[e.b] = append(m.backward[e.b], id)
}

// tables interns the tables of a model: by the matrix and the part of it that a view shows, and by content.
type tables struct {
	short bool
	views map[*int64][]viewTable
	all   map[uint64][]*table
}

// viewTable is the table of a view's rows and columns.
type viewTable struct {
	row, col []int
	t        *table
}

func newTables(short bool) *tables {
	return &tables{short, map[*int64][]viewTable{}, map[uint64][]*table{}}
}

func (s *tables) intern(v *view) *table {
	of := &v.v[0]
	for _, known := range s.views[of] {
		if slices.Equal(known.row, v.row) && slices.Equal(known.col, v.col) {
			return known.t
		}
	}
	costs := make([]int64, 0, v.entries())
	for _, row := range v.row {
		for _, col := range v.col {
			costs = append(costs, v.v[row+col])
		}
	}
	t := s.content(len(v.row), len(v.col), costs)
	s.views[of] = append(s.views[of], viewTable{v.row, v.col, t})
	return t
}

func (s *tables) content(ka, kb int, v []int64) *table {
	h := hashMatrix(ka, kb, v)
	for _, t := range s.all[h] {
		if t.ka == ka && slices.Equal(t.v, v) {
			return t
		}
	}
	t := &table{ka: ka, kb: kb, v: v, least: slices.Min(v), most: maxFinite(v)}
	if s.short {
		t.short = floats[float32](v, t.least)
	} else {
		t.rows = floats[float64](v, t.least)
	}
	s.all[h] = append(s.all[h], t)
	return t
}

// floats returns costs above the least one.
func floats[T float32 | float64](v []int64, least int64) []T {
	out := make([]T, len(v))
	for e, c := range v {
		out[e] = T(toFloat(c, least))
	}
	return out
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
		c := e.cost(x[e.a], x[e.b])
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
