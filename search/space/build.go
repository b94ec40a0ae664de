package space

import (
	"context"
	"errors"
	"fmt"

	"autoshard/collectives"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/search"
)

// Build returns the selection problem under a memory limit in bytes per device, 0 for none. It fails with ErrTooLarge
// where the problem would need too much memory, ErrSteps where the effort's steps do not suffice, the context's error
// where that ends, and diag.ErrInfeasible where the pins rule out every way to cut an op.
func (s *Space) Build(ctx context.Context, limit int64, effort *Effort) (*search.Problem, error) {
	return s.build(ctx, limit, effort, false)
}

// Relaxed returns the problem with costs that the program of a solution surely takes: uses that may share a copy pay
// their part of it, what may overlap with a product costs only what goes beyond the product, one branch of several
// counts, and values that may stay out of memory take no time there. Solutions are those of Build, and so is the
// memory that they need. It fails like Build.
func (s *Space) Relaxed(ctx context.Context, limit int64, effort *Effort) (*search.Problem, error) {
	return s.build(ctx, limit, effort, true)
}

func (s *Space) build(ctx context.Context, limit int64, effort *Effort, relaxed bool) (*search.Problem, error) {
	effort.ctx = ctx
	s.effort, s.err = effort, nil
	if s.links == nil {
		if err := s.enumerate(); err != nil {
			s.nodes, s.links = nil, nil
			return nil, err
		}
	}
	b := search.NewBuilder()
	for i := range s.nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := &s.nodes[i]
		costs := make([]int64, len(n.strategies))
		usages := make([]int64, len(n.strategies))
		for j := range n.strategies {
			st := &n.strategies[j]
			costs[j], usages[j] = st.cost, s.usage(n, st)
			if relaxed {
				costs[j] = st.least
			}
		}
		b.AddNode(costs, usages, n.lo, n.hi)
	}
	s.matrices(b, relaxed)
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
	s.count, s.layouts, s.known, s.layoutIDs, s.nodes = 0, nil, nil, map[ir.ShardingID]layoutID{}, nil
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
		if len(s.nodes[i].strategies) == 0 {
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
		layouts := appendNew(s.tensorLayouts(m.Shape(v)), s.pinned(pin))
		for _, l := range layouts {
			if s.allows(pin, &l) {
				id := s.intern(l)
				n.strategies = append(n.strategies, strategy{operands: []layoutID{id}, kept: []layoutID{id}})
			}
		}
		s.nodes = append(s.nodes, n)
	}
}

// usage returns the bytes that a node's values take on one device.
func (s *Space) usage(n *node, st *strategy) int64 {
	total := int64(0)
	for i, v := range n.values {
		if s.isTensor(v) && !s.fused[v] {
			total += s.m.ValueType(v).Bytes() / s.layouts[st.kept[i]].Shards()
		}
	}
	return total
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
		if key := (sets{rows.set, cols.set, l.tensor}); !seen[key] {
			seen[key] = true
			pairs += len(rows.unique) * len(cols.unique)
		}
		if key := l.key(false); !made[key] {
			made[key] = true
			entries += len(rows.at) * len(cols.at)
		}
		if !s.charge(0) || !s.bounded(pairs, maxPairs, smallPairs) || !s.bounded(entries, maxEntries, smallEntries) {
			return
		}
	}
}

// matrixKey tells links apart whose prices differ.
type matrixKey struct {
	rows, cols, product int32
	tensor              *collectives.Tensor
	runs, shared        int64
	sure                share
}

func (l *link) key(relaxed bool) matrixKey {
	if !relaxed {
		return matrixKey{rows: l.rows, cols: l.cols, tensor: l.tensor, runs: l.runs}
	}
	return matrixKey{l.rows, l.cols, l.product, l.tensor, 0, l.shared, l.sure}
}

// matrices adds the edges.
func (s *Space) matrices(b *search.Builder, relaxed bool) {
	made := map[matrixKey]search.MatrixID{}
	for i := range s.links {
		l := &s.links[i]
		key := l.key(relaxed)
		id, ok := made[key]
		if !ok {
			if !s.charge(int64(len(s.lists.all[l.rows].at) * len(s.lists.all[l.cols].at))) {
				return
			}
			id = b.AddMatrix(len(s.lists.all[l.rows].at), len(s.lists.all[l.cols].at), s.prices(l, relaxed))
			made[key] = id
		}
		b.AddEdge(l.from, l.to, id)
	}
}

// prices fills a matrix. Strategies outnumber layouts by far, so each pair of layouts is planned once.
func (s *Space) prices(l *link, relaxed bool) []int64 {
	rows, cols := &s.lists.all[l.rows], &s.lists.all[l.cols]
	pairs := make([]price, len(rows.unique)*len(cols.unique))
	for i, from := range rows.unique {
		for j, to := range cols.unique {
			if pairs[i*len(cols.unique)+j] = s.reshard(from, to, l.tensor); s.err != nil {
				return make([]int64, len(rows.at)*len(cols.at))
			}
		}
	}
	values := make([]int64, 0, len(rows.at)*len(cols.at))
	for _, i := range rows.at {
		for c, j := range cols.at {
			p := &pairs[int(i)*len(cols.unique)+int(j)]
			if relaxed {
				values = append(values, l.least(p, s.overlap(l, c)))
			} else {
				values = append(values, p.all*l.runs)
			}
		}
	}
	return values
}

// overlap returns the time of the product that a strategy of a link's reader computes meanwhile.
func (s *Space) overlap(l *link, strategy int) int64 {
	if l.product < 0 {
		return 0
	}
	return s.lists.times[l.product][strategy]
}

// least returns what a program surely takes for a reshard: its part of a copy that all uses share, or a copy of its own
// whose gather overlaps with a product.
func (l *link) least(p *price, product int64) int64 {
	return min(l.sure.of(p.least)/l.shared, l.sure.of(p.least-min(p.last, product)))
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
