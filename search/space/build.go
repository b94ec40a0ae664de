package space

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/search"
)

// Build returns the selection problem under a memory limit in bytes per device, 0 for none. It fails with ErrTooLarge
// where the problem would need too much memory, ErrSteps where the effort's steps do not suffice, the context's error
// where that ends, and diag.ErrInfeasible where the pins rule out every way to cut an op.
func (s *Space) Build(ctx context.Context, limit int64, effort *Effort) (*search.Problem, error) {
	return s.build(ctx, limit, effort, false, true)
}

// Relaxed returns the problem with costs that the program of a solution surely takes: uses that may share a copy pay
// their part of it, what may overlap with a product costs only what goes beyond the product, one branch of several
// counts, and values that may stay out of memory take no time there. Solutions are those of Build, and so is the
// memory that they need, but what is held for moments counts only if that is asked for: then the uses of a copy pay the
// same, for solutions that share as many as fit. It fails like Build.
func (s *Space) Relaxed(ctx context.Context, limit int64, effort *Effort, watching bool) (*search.Problem, error) {
	if watching && s.links != nil {
		s.equalParts()
	}
	return s.build(ctx, limit, effort, true, watching)
}

func (s *Space) build(ctx context.Context, limit int64, effort *Effort, relaxed, watching bool) (*search.Problem, error) {
	effort.ctx = ctx
	s.effort, s.err = effort, nil
	if s.links == nil {
		if err := s.enumerate(); err != nil {
			s.nodes, s.links = nil, nil
			return nil, err
		}
	}
	b := search.NewBuilder()
	b.Grow(s.count, 0)
	var costs, usages []int64
	live := s.lives(watching)
	for i := range s.nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := &s.nodes[i]
		costs, usages = costs[:0], usages[:0]
		for j := range n.class.strategies {
			st := &n.class.strategies[j]
			cost := st.cost * n.runs
			if relaxed {
				cost = n.sure.of(st.least)
			}
			costs, usages = append(costs, cost), append(usages, st.bytes)
		}
		lo, hi := live(int32(i))
		b.AddNode(costs, usages, lo, hi)
	}
	s.matrices(b, relaxed)
	s.holds(b, watching)
	if s.err != nil {
		return nil, s.err
	}
	if limit > 0 {
		b.SetLimit(limit)
	}
	p, err := b.Build()
	if errors.Is(err, diag.ErrTooLarge) { // sums of costs
		return nil, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return p, err
}

// enumerate makes the nodes - inputs, ops, results - and their links.
func (s *Space) enumerate() error {
	m := s.m
	s.groups = s.grouped()
	s.count, s.layouts, s.known, s.layoutIDs, s.nodes = 0, nil, nil, nil, nil
	s.adopted, s.classes, s.lists = map[ir.ShardingID]layoutID{}, newClasses(s.classes.apart), newLists()
	s.nodeOf = make([]int32, m.NumValues())
	s.slotOf = make([]int32, m.NumValues())
	for i := range s.nodeOf {
		s.nodeOf[i] = -1
	}
	s.followConstraints()
	main, _ := m.Main()
	f := m.Func(main)
	once := share{1, 1}
	for _, arg := range m.BlockArgs(f.Body) {
		s.freeNode(0, arg, 1, once)
	}
	s.collect(f.Body, 1, once)
	s.results(main)
	if s.err != nil {
		return s.err
	}
	for i := range s.nodes {
		if len(s.nodes[i].class.strategies) == 0 {
			return diag.Infeasible(diag.NoPlan, diag.Position{}, "no way to cut %s fits the shardings that are required", m.OpName(s.nodes[i].op))
		}
	}
	s.lifetimes()
	s.connect()
	s.measure()
	return s.err
}

// results adds a node for every result of the function that is pinned; others keep the layout of their value, and
// tied ones that of their input.
func (s *Space) results(main ir.FuncID) {
	m := s.m
	ret := m.LastOp(m.Func(main).Body)
	for i, pin := range s.outPins {
		v := m.Operand(ret, i)
		if pin == 0 || s.tied[i] >= 0 || !s.isTensor(v) {
			continue
		}
		n := node{result: i, operands: []ir.ValueID{v}, runs: 1, sure: share{1, 1}}
		s.sign(resultForm, &n)
		s.classes.key = binary.AppendVarint(s.classes.key, int64(pin))
		n.class = s.class(&n, func(d *draft) {
			layouts := appendNew(s.tensorLayouts(m.Shape(v)), s.pinned(pin))
			d.free(slices.DeleteFunc(layouts, func(l collectives.Layout) bool { return !s.allows(pin, &l) }))
		})
		s.add(n)
	}
}

// measure gives up where the pairs of layouts to price or the entries of matrices are too many.
func (s *Space) measure() {
	type sets struct {
		from, to int32
		tensor   *collectives.Tensor
	}
	pairs, entries := 0, 0
	seen, made := map[sets]bool{}, map[matrixKey]bool{}
	for i := range s.links {
		l := &s.links[i]
		rows, cols := &s.lists.all[l.rows], &s.lists.all[l.cols]
		size := len(rows.unique) * len(cols.unique)
		if key := (sets{rows.set, cols.set, l.tensor}); !seen[key] {
			seen[key] = true
			pairs += size
		}
		if key := s.key(i, false); !made[key] {
			made[key] = true
			entries += size
		}
		if !s.charge(0) || !s.bounded(pairs, maxPairs, smallPairs) || !s.bounded(entries, maxEntries, smallEntries) {
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
	if l.product >= 0 {
		key.cols, key.work, key.typ, key.contracted = l.cols, l.product, l.typ, l.contracted
	}
	return key
}

// matrices adds the edges. Rows of a matrix are the layouts in which a value is kept, columns those in which it is read.
func (s *Space) matrices(b *search.Builder, relaxed bool) {
	type matrix struct {
		id   search.MatrixID
		cols []int32 // of the strategies, where they depend on more than the layouts
	}
	made := map[matrixKey]matrix{}
	for i := range s.links {
		l := &s.links[i]
		rows, cols := &s.lists.all[l.rows], &s.lists.all[l.cols]
		key := s.key(i, relaxed)
		m, ok := made[key]
		if !ok {
			columns := s.columns(l, relaxed)
			if !s.charge(int64(len(rows.unique) * len(columns.of))) {
				return
			}
			if key.work >= 0 {
				m.cols = columns.at
			}
			m.id = b.AddMatrix(len(rows.unique), len(columns.of), s.prices(i, &columns, relaxed))
			made[key] = m
		}
		if key.work < 0 {
			m.cols = cols.at
		}
		b.AddEdgeThrough(l.from, l.to, m.id, rows.at, m.cols)
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
	if !relaxed || l.product < 0 {
		c := columns{make([]column, len(cols.unique)), cols.at}
		for i := range c.of {
			c.of[i].layout = int32(i)
		}
		return c
	}
	c, ids := columns{at: make([]int32, len(cols.at))}, map[column]int32{}
	for i, work := range s.lists.work[l.product] {
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
	l, parts := &s.links[i], s.copies.parts[i]
	rows, cols := &s.lists.all[l.rows], &s.lists.all[l.cols]
	values := make([]int64, len(rows.unique)*len(c.of))
	row := make([]price, len(cols.unique))
	for i, from := range rows.unique {
		for j, to := range cols.unique {
			if row[j] = s.reshard(from, to, l.tensor); s.err != nil {
				return values
			}
		}
		out := values[i*len(c.of):][:len(c.of)]
		for j, col := range c.of {
			p, part := &row[col.layout], int64(wholeCopy)
			if parts != nil {
				part = parts[col.layout]
			}
			if relaxed {
				out[j] = s.least(l, p, part, col.work)
			} else {
				out[j] = p.all * l.runs
			}
		}
	}
	return values
}

// least returns what a program surely takes for a reshard: its part of a copy that several uses share, or a copy of its own whose gather
// overlaps with a product.
func (s *Space) least(l *link, p *price, part int64, w work) int64 {
	return min(l.sure.of(portion(p.least, part)), l.sure.of(p.least-p.last.saves(w, s.m.TypeOf(l.typ).Dims, l.contracted)))
}

// portion returns a part of a price, rounded down.
func portion(price, part int64) int64 {
	hi, lo := bits.Mul64(uint64(price), uint64(part))
	out, _ := bits.Div64(hi, lo, wholeCopy)
	return int64(out)
}

// lifetimes sets the interval in which each node's values take memory: from where it is made to its last use,
// counted in ops of the main function. What is read inside a loop lives to the loop's end.
func (s *Space) lifetimes() {
	m := s.m
	main, _ := m.Main()
	body := m.Func(main).Body
	l := ir.NewLiveness(m, body)
	for i := range s.nodes {
		n := &s.nodes[i]
		for j, v := range n.values {
			lo, hi := l.Interval(v)
			if j == 0 {
				n.lo = lo
			}
			n.hi = max(n.hi, hi)
		}
		if n.isInput() && !s.donated(main, m.Index(n.values[0])) {
			n.hi = l.Len() + 1
		}
	}
}

// donated says whether the caller gives up an input's buffer.
func (s *Space) donated(main ir.FuncID, arg int) bool {
	return s.m.Func(main).ArgAttrs[arg].Donated()
}
