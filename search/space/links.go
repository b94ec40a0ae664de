package space

import (
	"encoding/binary"
	"slices"
	"sync"

	"autoshard/collectives"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/subaxis"
)

// link is an edge to be: what it costs that node `to` reads a value of node `from`.
type link struct {
	from, to   int32
	rows, cols int32 // lists of the layouts in which strategies keep and read the value
	tensor     *collectives.Tensor
	typ        ir.TypeID
	runs       int64
	sure       share // without sharing
	reader     ir.OpID
	operand    int    // which the value is of the reader, of a node's op
	merged     int64  // collectives that can be sent as one with those of the copy, with them
	spot       int32  // equal for links whose gathers are made at one place
	copy       int32  // equal for links that may read one copy
	uses       int64  // how many those are
	product    *class // of the product that reads the value and may overlap, nil for none
	contracted uint32 // the dimensions that the product contracts, a bit for each
	fed        bool   // what reads the value only names it, for products that may overlap
}

// list is a list of layouts, one for each strategy of a node: each layout once, and where the strategies find theirs.
type list struct {
	unique []layoutID
	at     []int32
	set    int32 // equal for lists of the same layouts
}

// of returns the layout of a strategy.
func (l *list) of(strategy int32) layoutID { return l.unique[l.at[strategy]] }

// work is what a strategy of a product computes on one device: how long that takes, and how long it takes to add a part to its result.
type work struct{ time, adding int64 }

// lists interns lists of layouts, sets of them, and lists of the work of products.
type lists struct {
	all     []list
	ids     map[string]int32
	sets    map[string]int32
	work    [][]work
	workIDs map[string]int32
}

func newLists() lists {
	return lists{ids: map[string]int32{}, sets: map[string]int32{}, workIDs: map[string]int32{}}
}

func (l *lists) intern(ids []layoutID) int32 {
	key := keyOf(ids)
	if i, ok := l.ids[key]; ok {
		return i
	}
	unique := slices.Clone(ids)
	slices.Sort(unique)
	unique = slices.Compact(unique)
	at := make([]int32, len(ids))
	for i, id := range ids {
		j, _ := slices.BinarySearch(unique, id)
		at[i] = int32(j)
	}
	set := keyOf(unique)
	if _, ok := l.sets[set]; !ok {
		l.sets[set] = int32(len(l.sets))
	}
	i := int32(len(l.all))
	l.all = append(l.all, list{unique, at, l.sets[set]})
	l.ids[key] = i
	return i
}

func (l *lists) product(list []work) int32 {
	var numbers []int64
	for _, w := range list {
		numbers = append(numbers, w.time, w.adding)
	}
	key := keyOf(numbers)
	if i, ok := l.workIDs[key]; ok {
		return i
	}
	i := int32(len(l.work))
	l.work = append(l.work, list)
	l.workIDs[key] = i
	return i
}

func keyOf[T ~int32 | ~int64](values []T) string {
	key := make([]byte, 0, 2*len(values))
	for _, v := range values {
		key = binary.AppendVarint(key, int64(v))
	}
	return string(key)
}

// connect collects the links: the reshards of what nodes read, of what a loop's body or a branch returns, and of tied
// results.
func (s *Space) connect() {
	ids, uses := make(map[use]int32, s.m.NumUses()), []int64(nil)
	s.links = make([]link, 0, s.m.NumUses())
	for i := range s.nodes {
		if !s.charge(0) {
			return
		}
		n := &s.nodes[i]
		add := func(v ir.ValueID, reader ir.OpID, l link) {
			u := use{s.same[v], s.m.OpBlock(reader)}
			id, ok := ids[u]
			if !ok {
				id = int32(len(uses))
				ids[u], uses = id, append(uses, 0)
			}
			uses[id]++
			l.to, l.copy, l.reader = int32(i), id, reader
			s.link(v, l)
		}
		var product *class
		if s.mayOverlap(n.op) {
			product = n.class
		}
		fed := s.rings && n.op != 0 && passesOn(s.m.Kind(n.op)) && s.fed[s.same[n.values[0]]]
		for j, v := range n.operands {
			if !readsAgain(n, j) {
				add(v, s.reader(n), link{operand: j, cols: n.class.operands[j], runs: n.runs, sure: n.sure, product: product,
					contracted: s.contracted(n.op, j), fed: fed})
			}
		}
		s.returned(n, func(v ir.ValueID, b ir.BlockID, runs int64, sure share) {
			add(v, s.m.LastOp(b), link{cols: n.class.kept[0], runs: runs, sure: sure})
		})
	}
	for i := range s.links {
		s.links[i].uses = uses[s.links[i].copy]
	}
	s.equalParts()
}

// readsAgain says whether an operand of a node is an earlier one, in the same layout whatever the strategy: one copy serves both.
func readsAgain(n *node, operand int) bool {
	for j := range operand {
		if n.operands[j] == n.operands[operand] && n.class.operands[j] == n.class.operands[operand] && n.class.product < 0 {
			return true
		}
	}
	return false
}

// mayOverlap says whether an op is a product that may run as a ring, or may have one inside.
func (s *Space) mayOverlap(op ir.OpID) bool { return s.rings && op != 0 && multiplies(s.m.Kind(op)) }

// link adds the link over which a node reads a value.
func (s *Space) link(v ir.ValueID, l link) {
	if l.from = s.nodeOf[v]; l.from < 0 || !s.isTensor(v) {
		return
	}
	l.rows, l.tensor, l.typ = s.nodes[l.from].class.kept[s.slotOf[v]], s.tensor(v), s.m.Type(v)
	s.links = append(s.links, l)
}

// reader returns the op before which a node reads its operands.
func (s *Space) reader(n *node) ir.OpID {
	if n.op != 0 {
		return n.op
	}
	return s.m.LastOp(s.m.MainFunc().Body)
}

// returned calls visit with the values that have to be sent to the layout of a node's value: what the regions of a loop or
// a branch hand back to the op's result, and the results of the function that are tied to an input.
func (s *Space) returned(n *node, visit func(v ir.ValueID, b ir.BlockID, runs int64, sure share)) {
	m := s.m
	switch {
	case n.isInput():
		body := m.MainFunc().Body
		for r, arg := range s.tied {
			if arg == m.Index(n.values[0]) {
				visit(m.Operand(m.LastOp(body), r), body, 1, n.sure)
			}
		}
	case n.op != 0 && len(n.values) == 1 && m.Kind(n.op) == ir.OpWhile:
		body := m.RegionBlock(n.op, 1)
		runs, sure := s.inLoop(n.op, n.runs, n.sure)
		visit(m.Operand(m.LastOp(body), m.Index(n.values[0])), body, runs, sure)
	case n.op != 0 && len(n.values) == 1 && (m.Kind(n.op) == ir.OpCase || m.Kind(n.op) == ir.OpIf):
		for r := range m.NumRegions(n.op) {
			b := m.RegionBlock(n.op, r)
			visit(m.Operand(m.LastOp(b), m.Index(n.values[0])), b, n.runs, s.inBranch(n.op, r, n.sure))
		}
	}
}

// use is a value, as it is once constraints are gone, and a block: uses there may read the same copy.
type use struct {
	value ir.ValueID
	block ir.BlockID
}

// followConstraints finds which values are the same once constraints are gone, and which of those products read.
func (s *Space) followConstraints() {
	m := s.m
	s.same, s.fed = make([]ir.ValueID, m.NumValues()), make([]bool, m.NumValues())
	for v := range s.same {
		s.same[v] = ir.ValueID(v)
	}
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if passesOn(m.Kind(op)) {
			s.same[m.Result(op, 0)] = s.same[m.Operand(op, 0)]
		}
		for _, v := range m.Operands(op) {
			s.fed[s.same[v]] = s.fed[s.same[v]] || multiplies(m.Kind(op))
		}
	})
}

// multiplies says whether an op is a product that may run as a ring, or may have one inside.
func multiplies(k ir.Kind) bool { return k == ir.OpDotGeneral || k == ir.OpSdyManualComputation }

// contracted returns the dimensions of an operand that a product contracts, a bit for each.
func (s *Space) contracted(op ir.OpID, operand int) uint32 {
	if s.m.Kind(op) != ir.OpDotGeneral {
		return 0
	}
	dims, bits := s.m.Attr(op, "dot_dimension_numbers").(*ir.DotDims), uint32(0)
	for _, d := range [2][]int64{dims.LhsContract, dims.RhsContract}[operand] {
		bits |= 1 << d
	}
	return bits
}

// passesOn says whether an op only names the layout of its operand.
func passesOn(k ir.Kind) bool {
	return k == ir.OpSdyShardingConstraint || k == ir.OpSdyReshard || k == ir.OpSdyPropagationBarrier
}

// withoutConstraints returns a copy of a module, with the same values, as it is once communications are explicit.
func withoutConstraints(m *ir.Module) *ir.Module {
	c := m.Clone()
	gone := func(k ir.Kind) bool { return passesOn(k) || k == ir.OpSdyShardingGroup }
	for _, op := range c.OpsWhere(c.MainFunc().Body, gone) {
		if c.NumResults(op) > 0 {
			c.ReplaceUses(c.Result(op, 0), c.Operand(op, 0))
		}
		c.Erase(op)
	}
	return c
}

// price is what a reshard costs, in picoseconds.
type price struct {
	all   int64
	least int64 // what a program surely takes: slices one after the other become one

	gathered int64 // of that, what others than reductions take before they send anything
	meets    int32 // with what those can be merged, if it is one gather
	along    int32 // and without moving anything

	first int32 // the overlap of a reduce-scatter at its beginning with the product before it, 0 for none
	last  int32 // the overlap of an all-gather at its end with the product after it
}

// wordBytes is the size of single integers, which cost nothing.
const wordBytes = 8

// priceOf prices a way.
func (s *Space) priceOf(w *collectives.Way, from, to layoutID) price {
	p, end := price{all: w.Price()}, true
	w.Back(func(h collectives.Hop) {
		if h.Kind == collectives.AllSlice && (h.Joined || h.After <= wordBytes) {
			return
		}
		p.least += h.Price
		switch before := s.latency(&h); {
		case before.time == 0:
		case reduces(h.Kind):
		case h.Kind == collectives.AllGather && p.gathered == 0:
			p.gathered, p.meets, p.along = before.time, before.over, before.along
		default:
			p.gathered, p.meets, p.along = p.gathered+before.time, manyAxes, manyAxes
		}
		if end && h.Kind == collectives.AllGather {
			p.last = s.overlap(&h, to)
		}
		if p.first = 0; h.Kind == collectives.ReduceScatter {
			p.first = s.overlap(&h, from)
		}
		end = false
	})
	return p
}

// overlap is how a step may overlap with a product: it gathers or scatters a dimension of so many blocks.
type overlap struct {
	estimate.Overlap
	dim, blocks int64
}

// allows says whether there could be a ring for a tensor of a shape.
func (o *overlap) allows(shape []int64) bool { return o.Possible(shape[o.dim] / o.blocks) }

// saves returns the most that an overlap could save beside a product of some picoseconds, for a tensor of a shape.
func (s *Space) saves(id int32, time int64, shape []int64) int64 {
	if id == 0 {
		return 0
	}
	o := &s.overlaps.all[id-1]
	return o.Saves(time, shape[o.dim]/o.blocks, 0)
}

// overlaps numbers overlaps from 1, in the order in which they are met.
type overlaps struct {
	sync.Mutex
	all []overlap
	ids map[step]int32
}

// overlap returns how a step may overlap with a product if the layout of the gathered tensor, or of that to be scattered, is
// whole. A planner hands out the same axes for all steps over them.
func (s *Space) overlap(h *collectives.Hop, whole layoutID) int32 {
	key := step{h.Kind, &h.Axes[0], h.Before, int64(h.Dim), subaxis.Product(s.layouts[whole].Dims[h.Dim])}
	s.overlaps.Lock()
	defer s.overlaps.Unlock()
	id, ok := s.overlaps.ids[key]
	if !ok {
		s.overlaps.all = append(s.overlaps.all, overlap{s.model.Overlap(h.Kind, h.Axes, h.Before), key.dim, key.blocks})
		id = int32(len(s.overlaps.all))
		s.overlaps.ids[key] = id
	}
	return id
}

// step is what the price and the overlap of a step depend on.
type step struct {
	kind               collectives.Kind
	axes               *subaxis.Ref
	bytes, dim, blocks int64
}
