package space

import (
	"math/bits"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/search"
)

// lasting is the entries of a problem beyond which ways between layouts are forgotten once they are priced: they take ten times the
// memory of the prices.
const lasting = 2_000_000

// measure gives up where the entries of matrices are too many.
func (s *Space) measure() {
	made := map[matrixKey]bool{}
	for i := range s.links {
		l := &s.links[i]
		if key := s.key(i, false); !made[key] {
			made[key] = true
			s.entries += len(s.lists.all[l.rows].unique) * len(s.lists.all[l.cols].unique)
		}
		if !s.charge(0) || !s.bounded(s.entries, maxEntries, smallEntries) {
			return
		}
	}
}

// matrixKey tells links apart whose prices differ.
type matrixKey struct {
	rows, cols, work int32 // sets of layouts, and the list of products with which the columns are
	tensor           *collectives.Tensor
	runs             int64
	parts            int32
	typ              ir.TypeID // of what products read: chunks of tensors that cost the same may be smaller
	contracted       uint32
	sure             share
}

func (s *Space) key(i int, relaxed bool) matrixKey {
	l := &s.links[i]
	key := matrixKey{rows: s.lists.all[l.rows].set, cols: s.lists.all[l.cols].set, work: -1, tensor: l.tensor}
	if !relaxed {
		key.runs = l.runs
		return key
	}
	key.parts, key.sure = s.copies.id[i], l.sure
	if l.product != nil {
		key.cols, key.work, key.typ, key.contracted = l.cols, l.product.product, l.typ, l.contracted
	}
	return key
}

// matrix is the prices of links with one key. A row is a layout in which a value is kept, a column one in which it is read.
type matrix struct {
	link int // the first of the links
	id   search.MatrixID
	cols []int32 // of the strategies, where they depend on more than the layouts
}

// matrices adds the edges.
func (s *Space) matrices(b *search.Builder, relaxed bool) {
	var all []matrix
	made, of := map[matrixKey]int32{}, make([]int32, len(s.links))
	for i := range s.links {
		key := s.key(i, relaxed)
		id, ok := made[key]
		if !ok {
			id = int32(len(all))
			made[key] = id
			all = append(all, matrix{link: i})
		}
		of[i] = id
	}
	s.fill(b, all, relaxed)
	for i := range s.links {
		if !s.charge(0) {
			return
		}
		l := &s.links[i]
		m := &all[of[i]]
		cols := m.cols
		if cols == nil {
			cols = s.lists.all[l.cols].at
		}
		b.AddEdgeThrough(l.from, l.to, m.id, s.lists.all[l.rows].at, cols)
	}
}

// fill makes the matrices, tensor by tensor.
func (s *Space) fill(b *search.Builder, all []matrix, relaxed bool) {
	order, first := make([]int, len(all)), map[*collectives.Tensor]int{}
	tensor := func(i int) *collectives.Tensor { return s.links[all[i].link].tensor }
	for i := range all {
		order[i] = i
		if _, ok := first[tensor(i)]; !ok {
			first[tensor(i)] = i
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return first[tensor(i)] - first[tensor(j)] })
	for n, i := range order {
		m := &all[i]
		l := &s.links[m.link]
		c := s.columns(l, relaxed)
		values := s.prices(m.link, &c, relaxed)
		if s.err != nil {
			return
		}
		if relaxed && l.product != nil {
			m.cols = c.at
		}
		m.id = b.AddMatrix(len(s.lists.all[l.rows].unique), len(c.of), values)
		if s.forgetful && (n+1 == len(order) || tensor(order[n+1]) != l.tensor) {
			l.tensor.Forget()
		}
	}
}

// column is a layout in which a value is read, and the product that is computed meanwhile.
type column struct {
	layout int32 // in the list of different ones
	work   work
}

// columns are the different ones of a link, and where the strategies find theirs.
type columns struct {
	of []column
	at []int32
}

func (s *Space) columns(l *link, relaxed bool) columns {
	cols := &s.lists.all[l.cols]
	if !relaxed || l.product == nil {
		c := columns{make([]column, len(cols.unique)), cols.at}
		for i := range c.of {
			c.of[i].layout = int32(i)
		}
		return c
	}
	c, ids := columns{at: make([]int32, len(cols.at))}, map[column]int32{}
	for i, work := range s.lists.work[l.product.product] {
		key := column{cols.at[i], work}
		id, ok := ids[key]
		if !ok {
			id = int32(len(c.of))
			ids[key] = id
			c.of = append(c.of, key)
		}
		c.at[i] = id
	}
	return c
}

// prices fills a matrix.
func (s *Space) prices(i int, c *columns, relaxed bool) []int64 {
	l := &s.links[i]
	rows, cols := &s.lists.all[l.rows], &s.lists.all[l.cols]
	if relaxed {
		return s.leastPrices(i, c)
	}
	values := make([]int64, 0, len(rows.unique)*len(cols.unique))
	for _, from := range rows.unique {
		if !s.charge(int64(len(cols.unique)) * pairWork) {
			break
		}
		for _, to := range cols.unique {
			w := s.planner.Way(l.tensor, s.known[from], s.known[to])
			values = append(values, w.Price()*l.runs)
		}
	}
	return values
}

// leastPrices fills a matrix of the relaxed problem.
func (s *Space) leastPrices(i int, c *columns) []int64 {
	l, parts, pairs := &s.links[i], s.copies.parts[i], s.pairs(i)
	n := len(s.lists.all[l.cols].unique)
	values := make([]int64, 0, len(pairs)/n*len(c.of))
	for row := 0; row < len(pairs) && s.charge(int64(len(c.of))); row += n {
		for _, col := range c.of {
			part := int64(wholeCopy)
			if parts != nil {
				part = parts[col.layout]
			}
			values = append(values, s.least(l, &pairs[row+int(col.layout)], part, col.work))
		}
	}
	return values
}

// pairsKey tells apart what prices of pairs of layouts depend on.
type pairsKey struct {
	rows, cols int32 // sets of layouts
	tensor     *collectives.Tensor
}

// pairs returns the prices of all pairs of a link's layouts. They are remembered for the next relaxed problem of the space.
func (s *Space) pairs(i int) []price {
	l := &s.links[i]
	rows, cols := &s.lists.all[l.rows], &s.lists.all[l.cols]
	key := pairsKey{rows.set, cols.set, l.tensor}
	if known, ok := s.priced[key]; ok {
		return known
	}
	out := make([]price, 0, len(rows.unique)*len(cols.unique))
	for _, from := range rows.unique {
		for _, to := range cols.unique {
			out = append(out, s.reshard(from, to, l.tensor))
		}
	}
	if s.priced == nil {
		s.priced = map[pairsKey][]price{}
	}
	if s.err == nil {
		s.priced[key] = out
	}
	return out
}

// least returns what a program surely takes for a reshard: its part of a copy that several uses share, or a copy of its own whose gather
// overlaps with a product.
func (s *Space) least(l *link, p *price, part int64, w work) int64 {
	return min(l.sure.of(portion(p.least, part)), l.sure.of(p.least-s.saves(p.last, w, s.m.TypeOf(l.typ).Dims, l.contracted)))
}

// portion returns a part of a price, rounded down.
func portion(price, part int64) int64 {
	hi, lo := bits.Mul64(uint64(price), uint64(part))
	out, _ := bits.Div64(hi, lo, wholeCopy)
	return int64(out)
}
