package space

import (
	"math/bits"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/parallel"
	"autoshard/ir"
	"autoshard/search"
)

// measure gives up where the entries of matrices are too many.
func (s *Space) measure() {
	made, visits := map[matrixKey]bool{}, 0
	for i := range s.links {
		l := &s.links[i]
		n := len(s.lists.all[l.rows].unique) * len(s.lists.all[l.cols].unique)
		visits += n
		if key := s.key(i, false); !made[key] {
			made[key] = true
			s.entries += n
		}
		if !s.charge(0) || !s.bounded(s.entries, maxEntries, smallEntries) || !s.bounded(visits, s.mostVisits(), splitVisits) {
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
	merged           int64
	gathers          int32 // what gathers pay that are sent with others
	spot             int32 // where gathers are sent with others, from 1; 0 for none
	sure             share
	partners         int32 // what else can be in one ring with products
	uses             int64 // that may share a copy, where that matters
	fed              bool
}

func (s *Space) key(i int, relaxed bool) matrixKey {
	l := &s.links[i]
	key := matrixKey{rows: s.lists.all[l.rows].set, cols: s.lists.all[l.cols].set, work: -1, tensor: l.tensor}
	if !relaxed {
		if key.runs = l.runs; s.sharing(l) != nil {
			key.spot = l.spot + 1
		}
		return key
	}
	key.parts, key.sure, key.merged, key.partners, key.fed = s.copies.id[i], l.sure, l.merged, s.partners.id[i], l.fed
	if key.gathers = s.paying.gathersID(l.copy); s.pairing && s.paying.whole[l.copy] {
		key.gathers = -1
	}
	if l.mayRing() {
		key.typ = l.typ
	}
	if s.likely {
		key.uses = l.uses
	}
	if l.product != nil {
		key.cols, key.work, key.contracted = l.cols, l.product.product, l.contracted
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
	if relaxed {
		s.findPartners()
	}
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

// matricesAtOnce are filled before they are added: until then they take memory twice.
const matricesAtOnce = 64

// fill makes the matrices, on all cores.
func (s *Space) fill(b *search.Builder, all []matrix, relaxed bool) {
	s.ways(all)
	b.Grow(0, s.filled)
	var cols [matricesAtOnce]columns
	var values [matricesAtOnce][]int64
	for some := range slices.Chunk(all, matricesAtOnce) {
		for i := range some {
			l := &s.links[some[i].link]
			cols[i] = s.columns(l, relaxed)
			if relaxed && !s.charge(int64(len(s.lists.all[l.rows].unique)*len(cols[i].of))) {
				return
			}
		}
		parallel.Each(len(some), func(i int) { values[i] = s.prices(some[i].link, &cols[i], relaxed) })
		for i := range some {
			m := &some[i]
			l := &s.links[m.link]
			if relaxed && l.product != nil {
				m.cols = cols[i].at
			}
			m.id = b.AddMatrix(len(s.lists.all[l.rows].unique), len(cols[i].of), values[i])
		}
	}
	s.filled = b.Entries()
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
			if l.fed {
				c.of[i].work = anything
			}
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
	if relaxed {
		return s.leastPrices(i, c)
	}
	pairs, shares := s.priced[s.pairsKey(l)], s.sharing(l)
	values := make([]int64, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		values[i] = times(max(0, p.all-unpaid(shares, p.along, p.gathered)), l.runs)
	}
	return values
}

// leastPrices fills a matrix of the relaxed problem.
func (s *Space) leastPrices(i int, c *columns) []int64 {
	l := &s.links[i]
	pairs, dues := s.priced[s.pairsKey(l)], s.dues(i)
	n := len(dues)
	values := make([]int64, 0, len(pairs)/n*len(c.of))
	for row := 0; row < len(pairs); row += n {
		for _, col := range c.of {
			values = append(values, s.least(l, &pairs[row+int(col.layout)], &dues[col.layout], col.work))
		}
	}
	return values
}

// pairsKey tells apart what prices of pairs of layouts depend on.
type pairsKey struct {
	rows, cols int32 // sets of layouts
	tensor     *collectives.Tensor
}

func (s *Space) pairsKey(l *link) pairsKey {
	return pairsKey{s.lists.all[l.rows].set, s.lists.all[l.cols].set, l.tensor}
}

// manyTensors are how many tensors have their ways found before these are forgotten: they take several times the memory of the prices.
const manyTensors = 16

// ways prices the pairs of layouts of some matrices that have no prices yet, tensor by tensor.
func (s *Space) ways(all []matrix) {
	var tensors []*collectives.Tensor
	links := map[*collectives.Tensor][]*link{}
	if s.priced == nil {
		s.priced = map[pairsKey][]price{}
	}
	for i := range all {
		l := &s.links[all[i].link]
		key := s.pairsKey(l)
		if _, ok := s.priced[key]; ok {
			continue
		}
		n := len(s.lists.all[l.rows].unique) * len(s.lists.all[l.cols].unique)
		if !s.charge(int64(n) * pairWork) {
			return
		}
		s.priced[key] = make([]price, n)
		if links[l.tensor] == nil {
			tensors = append(tensors, l.tensor)
		}
		links[l.tensor] = append(links[l.tensor], l)
	}
	for some := range slices.Chunk(tensors, manyTensors) {
		var next []*link
		for _, t := range some {
			next = append(next, links[t]...)
		}
		if s.find(next); s.err != nil {
			s.priced = nil
			return
		}
		for _, t := range some {
			t.Forget()
		}
	}
}

// find prices the pairs of layouts of some links.
func (s *Space) find(links []*link) {
	asks, prices := make([]collectives.Ask, len(links)), make([][]price, len(links))
	for i, l := range links {
		prices[i] = s.priced[s.pairsKey(l)]
		asks[i] = collectives.Ask{Tensor: l.tensor, From: s.knownOf(l.rows), To: s.knownOf(l.cols)}
	}
	err := s.planner.Each(s.effort.ctx, asks, func(ask, from, to int, w *collectives.Way) {
		l := links[ask]
		rows, cols := s.lists.all[l.rows].unique, s.lists.all[l.cols].unique
		prices[ask][from*len(cols)+to] = s.priceOf(w, rows[from], cols[to])
	})
	if s.err == nil {
		s.err = err
	}
}

// knownOf returns the layouts of a list as the planner knows them.
func (s *Space) knownOf(list int32) []collectives.LayoutID {
	var known []collectives.LayoutID
	for _, id := range s.lists.all[list].unique {
		known = append(known, s.known[id])
	}
	return known
}

// portion returns a part of a price, rounded down.
func portion(price, part int64) int64 {
	hi, lo := bits.Mul64(uint64(price), uint64(part))
	out, _ := bits.Div64(hi, lo, wholeCopy)
	return int64(out)
}
