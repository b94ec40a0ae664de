package space

import (
	"encoding/binary"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/search"
)

// matrixRef is an interned edge matrix.
type matrixRef struct{ id search.MatrixID }

// Build returns the selection problem under a memory limit in bytes per device, 0 for none.
func (s *Space) Build(limit int64) (*search.Problem, error) {
	if s.nodes == nil {
		if err := s.enumerate(); err != nil {
			return nil, err
		}
	}
	b := search.NewBuilder()
	s.matrices = map[string]matrixRef{}
	for i := range s.nodes {
		n := &s.nodes[i]
		costs := make([]int64, len(n.strategies))
		usages := make([]int64, len(n.strategies))
		for j, st := range n.strategies {
			costs[j], usages[j] = st.cost, s.usage(n, &st)
		}
		b.AddNode(costs, usages, n.lo, n.hi)
	}
	for i := range s.nodes {
		s.edges(b, int32(i))
	}
	if limit > 0 {
		b.SetLimit(limit)
	}
	return b.Build()
}

// enumerate makes the nodes: inputs, ops, results.
func (s *Space) enumerate() error {
	m := s.m
	s.startAtoms()
	s.nodeOf = make([]int32, m.NumValues())
	s.slotOf = make([]int32, m.NumValues())
	for i := range s.nodeOf {
		s.nodeOf[i] = -1
	}
	main, _ := m.Main()
	f := m.Func(main)
	for _, arg := range m.BlockArgs(f.Body) {
		s.freeNode(0, arg, 1)
	}
	s.collect(f.Body, 1)
	s.results(main)
	for i := range s.nodes {
		if len(s.nodes[i].strategies) == 0 {
			return diag.Infeasible(diag.NoPlan, diag.Position{}, "no way to cut %s fits the shardings that are required", m.OpName(s.nodes[i].op))
		}
	}
	s.lifetimes()
	return nil
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
		n := node{result: i, operands: []ir.ValueID{v}, runs: 1}
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

// edges adds the reshards of what a node reads, of what a loop's body or a branch returns, and of tied results.
func (s *Space) edges(b *search.Builder, i int32) {
	n := &s.nodes[i]
	for j, v := range n.operands {
		s.edge(b, v, i, n.runs, func(st *strategy) layoutID { return st.operands[j] })
	}
	m := s.m
	switch {
	case n.isResult():
	case n.op != 0 && len(n.values) == 1:
		s.returned(b, i, n)
	case n.isInput():
		main, _ := m.Main()
		arg := m.Index(n.values[0])
		for r, a := range s.tied {
			if a == arg {
				s.edge(b, m.Operand(m.LastOp(m.Func(main).Body), r), i, 1, kept)
			}
		}
	}
}

func kept(st *strategy) layoutID { return st.kept[0] }

// returned prices what the regions of a loop or a branch hand back to the op's result.
func (s *Space) returned(b *search.Builder, i int32, n *node) {
	m := s.m
	at := m.Index(n.values[0])
	switch m.Kind(n.op) {
	case ir.OpWhile:
		body := m.RegionBlock(n.op, 1)
		s.edge(b, m.Operand(m.LastOp(body), at), i, n.runs*max(1, ir.Trips(m, n.op)), kept)
	case ir.OpCase, ir.OpIf:
		for r := range m.NumRegions(n.op) {
			s.edge(b, m.Operand(m.LastOp(m.RegionBlock(n.op, r)), at), i, n.runs, kept)
		}
	}
}

// edge prices sending a value to where node i reads it.
func (s *Space) edge(b *search.Builder, v ir.ValueID, i int32, runs int64, read func(*strategy) layoutID) {
	from := s.nodeOf[v]
	if from < 0 || !s.isTensor(v) {
		return
	}
	slot := s.slotOf[v]
	bytes := s.m.ValueType(v).Bytes()
	sources, targets := &s.nodes[from], &s.nodes[i]
	rows := make([]layoutID, len(sources.strategies))
	for a := range rows {
		rows[a] = sources.strategies[a].kept[slot]
	}
	cols := make([]layoutID, len(targets.strategies))
	for c := range cols {
		cols[c] = read(&targets.strategies[c])
	}
	key := matrixKey(rows, cols, bytes, runs)
	ref, ok := s.matrices[key]
	if !ok {
		ref = matrixRef{b.AddMatrix(len(rows), len(cols), s.prices(rows, cols, bytes, runs))}
		s.matrices[key] = ref
	}
	b.AddEdge(from, i, ref.id)
}

func matrixKey(rows, cols []layoutID, bytes, runs int64) string {
	key := binary.AppendVarint(nil, bytes)
	key = binary.AppendVarint(key, runs)
	key = binary.AppendVarint(key, int64(len(rows)))
	for _, ids := range [][]layoutID{rows, cols} {
		for _, id := range ids {
			key = binary.AppendVarint(key, int64(id))
		}
	}
	return string(key)
}

// prices fills a matrix. Strategies outnumber layouts by far, so each pair of layouts is planned once.
func (s *Space) prices(rows, cols []layoutID, bytes, runs int64) []int64 {
	from, fromAt := distinct(rows, len(s.layouts))
	to, toAt := distinct(cols, len(s.layouts))
	pairs := make([]int64, len(from)*len(to))
	for i, a := range from {
		for j, b := range to {
			if a != b {
				_, price := s.planner.Plan(s.layouts[a], s.layouts[b], bytes)
				pairs[i*len(to)+j] = price * runs
			}
		}
	}
	values := make([]int64, 0, len(rows)*len(cols))
	for _, i := range fromAt {
		for _, j := range toAt {
			values = append(values, pairs[i*len(to)+j])
		}
	}
	return values
}

// distinct returns the different ids of a list, and for each element where its id is among them. Ids are below n.
func distinct(ids []layoutID, n int) (unique []layoutID, at []int) {
	place := make([]int, n)
	at = make([]int, len(ids))
	for i, id := range ids {
		if place[id] == 0 {
			unique = append(unique, id)
			place[id] = len(unique)
		}
		at[i] = place[id] - 1
	}
	return unique, at
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
