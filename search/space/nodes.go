package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/rule"
)

// collect makes the nodes of a block's ops in program order.
func (s *Space) collect(b ir.BlockID, runs int64, sure share) {
	m := s.m
	for op := range m.Ops(b) {
		if s.err != nil {
			return
		}
		switch {
		case m.Kind(op).IsTerminator() || m.Kind(op) == ir.OpSdyShardingGroup:
		case m.Kind(op) == ir.OpWhile:
			inner, surely := s.inLoop(op, runs, sure)
			s.carried(op, runs, sure)
			s.collect(m.RegionBlock(op, 0), inner, surely)
			s.collect(m.RegionBlock(op, 1), inner, surely)
		case m.Kind(op).HasBodies():
			for _, v := range m.Results(op) {
				s.freeNode(op, v, runs, sure)
			}
			for i := range m.NumRegions(op) {
				s.collect(m.RegionBlock(op, i), runs, s.inBranch(op, sure))
			}
		case m.Kind(op) == ir.OpOptimizationBarrier:
			for i, v := range m.Results(op) {
				s.passNode(op, m.Operand(op, i), v, runs, sure)
			}
		case passesOn(m.Kind(op)):
			s.passNode(op, m.Operand(op, 0), m.Result(op, 0), runs, sure)
		case m.Kind(op) == ir.OpSdyManualComputation:
			s.manualNode(op, runs, sure)
		default:
			s.opNode(op, runs, sure)
		}
	}
}

func (s *Space) add(n node) int32 {
	id := int32(len(s.nodes))
	for slot, v := range n.values {
		s.nodeOf[v] = id
		s.slotOf[v] = int32(slot)
	}
	s.nodes = append(s.nodes, n)
	return id
}

// freeNode adds a value that may be kept in any layout at no cost of its own.
func (s *Space) freeNode(op ir.OpID, v ir.ValueID, runs int64, sure share) int32 {
	n := node{op: op, values: []ir.ValueID{v}, runs: runs, sure: sure}
	if s.isTensor(v) {
		for _, l := range s.candidates(v) {
			n.strategies = append(n.strategies, strategy{kept: []layoutID{s.intern(l)}})
		}
	} else {
		n.strategies = []strategy{{kept: []layoutID{s.intern(collectives.Layout{})}}}
	}
	return s.add(n)
}

// passNode adds a result that is its operand in some layout.
func (s *Space) passNode(op ir.OpID, operand, v ir.ValueID, runs int64, sure share) {
	id := s.freeNode(op, v, runs, sure)
	n := &s.nodes[id]
	n.operands = []ir.ValueID{operand}
	for i := range n.strategies {
		n.strategies[i].operands = n.strategies[i].kept
	}
}

// carried adds the values that a loop carries: operand, arguments of both regions and result are one decision.
func (s *Space) carried(op ir.OpID, runs int64, sure share) {
	m := s.m
	for i, v := range m.Results(op) {
		s.passNode(op, m.Operand(op, i), v, runs, sure)
		for r := range m.NumRegions(op) {
			arg := m.BlockArgs(m.RegionBlock(op, r))[i]
			s.nodeOf[arg], s.slotOf[arg] = s.nodeOf[v], 0
		}
	}
}

// manualNode adds a computation whose layouts the user fixed.
func (s *Space) manualNode(op ir.OpID, runs int64, sure share) {
	m := s.m
	n := node{op: op, operands: m.Operands(op), runs: runs, sure: sure}
	st := strategy{compute: s.inside(op)}
	st.least = sure.of(st.compute)
	for _, arg := range m.BlockArgs(m.RegionBlock(op, 0)) {
		st.operands = append(st.operands, s.intern(s.pinned(m.Sharding(arg))))
	}
	for _, v := range m.Results(op) {
		n.values = append(n.values, v)
		st.kept = append(st.kept, s.intern(s.pinned(m.Sharding(v))))
	}
	n.strategies = []strategy{st}
	s.add(n)
}

// candidates returns the layouts in which a value may be kept: all that respect its pin, those of suggestions, and
// the pin's own.
func (s *Space) candidates(v ir.ValueID) []collectives.Layout {
	all := s.tensorLayouts(s.m.Shape(v))
	for _, g := range s.suggested {
		if id := g.kept(v); id != 0 {
			all = appendNew(all, collectives.LayoutOf(s.m.ShardingOf(id)))
		}
	}
	pin, ok := s.pins[v]
	if !ok {
		return all
	}
	all = appendNew(all, s.pinned(pin))
	return slices.DeleteFunc(all, func(l collectives.Layout) bool { return !s.allows(pin, &l) })
}

func appendNew(all []collectives.Layout, l collectives.Layout) []collectives.Layout {
	for i := range all {
		if all[i].Equal(&l) {
			return all
		}
	}
	return append(all, l)
}

// opNode adds an op: every way to cut it, times every way to keep its result.
func (s *Space) opNode(op ir.OpID, runs int64, sure share) {
	m := s.m
	n := node{op: op, runs: runs, sure: sure, operands: m.Operands(op), values: m.ResultValues(op)}
	r := s.ruleOf(op)
	switch {
	case r != nil && m.NumOperands(op) > 0:
		s.ruled(&n, r)
	case freelyMade(m.Kind(op)) && s.isTensor(m.Result(op, 0)):
		for _, l := range s.candidates(m.Result(op, 0)) {
			s.strategy(&n, nil, nil, []collectives.Layout{l}, []collectives.Layout{l})
		}
	default:
		s.strategy(&n, nil, s.wholes(n.operands), s.wholes(n.values), s.pinnedOr(n.values))
	}
	if len(n.strategies) > 0 {
		s.add(n)
	}
}

// freelyMade says whether every device can make its block of the result without any input.
func freelyMade(k ir.Kind) bool { return k == ir.OpConstant || k == ir.OpSdyConstant || k == ir.OpIota }

func (s *Space) wholes(values []ir.ValueID) []collectives.Layout {
	out := make([]collectives.Layout, len(values))
	for i, v := range values {
		out[i] = s.whole(v)
	}
	return out
}

// pinnedOr returns the pins of values, whole layouts for those without.
func (s *Space) pinnedOr(values []ir.ValueID) []collectives.Layout {
	out := s.wholes(values)
	for i, v := range values {
		if pin, ok := s.pins[v]; ok && s.isTensor(v) {
			out[i] = s.pinned(pin)
		}
	}
	return out
}

// ruled adds the strategies of an op with a rule: the enumerated ones and those of the suggestions.
func (s *Space) ruled(n *node, r *ir.Rule) {
	shardable, reduction := rule.Shardable(s.m, n.op, r)
	seen := map[string]bool{}
	add := func(factors collectives.Factors, kept []collectives.Layout) {
		operands, results, ok := collectives.Project(r, factors, reduction)
		if !ok {
			return
		}
		if kept != nil {
			s.once(n, seen, factors, operands, results, kept)
			return
		}
		for _, k := range s.keeps(n.values, results) {
			s.once(n, seen, factors, operands, results, k)
		}
	}
	for _, factors := range s.factorings(r, shardable) {
		add(factors, nil)
	}
	for _, g := range s.suggested {
		if int(n.op) < len(g.factors) && g.factors[n.op] != nil {
			kept := make([]collectives.Layout, len(n.values))
			for i, v := range n.values {
				kept[i] = s.whole(v)
				if id := g.kept(v); id != 0 {
					kept[i] = collectives.LayoutOf(s.m.ShardingOf(id))
				}
			}
			add(g.factors[n.op], kept)
		}
	}
}

func (s *Space) once(n *node, seen map[string]bool, factors collectives.Factors, operands, results, kept []collectives.Layout) {
	if !s.respects(n.values, kept) {
		return
	}
	key := make([]byte, 0, 64)
	for _, l := range slices.Concat(operands, results, kept) {
		id := s.intern(l)
		key = append(key, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	if !seen[string(key)] {
		seen[string(key)] = true
		s.strategy(n, factors, operands, results, kept)
	}
}

func (s *Space) respects(values []ir.ValueID, kept []collectives.Layout) bool {
	for i, v := range values {
		if pin, ok := s.pins[v]; ok && !s.allows(pin, &kept[i]) {
			return false
		}
	}
	return true
}

// keeps returns the ways to keep the results of an op: as they come out, reduced or reduce-scattered; a pinned
// result that comes out otherwise is sent on to its pin.
func (s *Space) keeps(values []ir.ValueID, results []collectives.Layout) [][]collectives.Layout {
	if len(values) == 1 {
		var out [][]collectives.Layout
		pin, pinned := s.pins[values[0]]
		for _, l := range s.outcomes(results[0], s.m.Shape(values[0])) {
			if pinned && !s.allows(pin, &l) {
				l = s.pinned(pin)
			}
			out = append(out, []collectives.Layout{l})
		}
		return out
	}
	kept := slices.Clone(results)
	for i, v := range values {
		kept[i].Unreduced = nil
		if pin, ok := s.pins[v]; ok && !s.allows(pin, &kept[i]) {
			kept[i] = s.pinned(pin)
		}
	}
	return [][]collectives.Layout{kept}
}

// strategy adds one strategy with its price: the op on one device's blocks and sending its results to where they
// are kept.
func (s *Space) strategy(n *node, factors collectives.Factors, operands, results, kept []collectives.Layout) {
	if !s.charge(strategyWork) {
		return
	}
	s.count++
	if !s.bounded(s.count, maxStrategiesInAll, smallStrategies) {
		return
	}
	st := strategy{factors: factors}
	local := func(values []ir.ValueID, layouts []collectives.Layout) [][]int64 {
		out := make([][]int64, len(values))
		for i, v := range values {
			if s.isTensor(v) {
				out[i] = layouts[i].LocalDims(s.m.Shape(v))
			}
		}
		return out
	}
	if operands == nil {
		operands = s.wholes(n.operands)
	}
	from, to := local(n.operands, operands), local(n.values, results)
	st.cost = s.model.Op(s.m, n.op, from, to, s.fused)
	st.compute = s.model.Op(s.m, n.op, from, to, s.gone)
	sent, scattered := int64(0), int64(0) // in all, and in what may overlap with a product
	for i := range n.operands {
		st.operands = append(st.operands, s.intern(operands[i]))
	}
	for i, v := range n.values {
		if s.isTensor(v) && !results[i].Equal(&kept[i]) {
			p := s.reshard(s.intern(results[i]), s.intern(kept[i]), s.planner.Tensor(s.m.Shape(v), s.m.ValueType(v).Bytes()))
			st.cost += p.all
			sent += p.least
			if s.rings && s.fed[s.same[v]] {
				sent -= p.last
			}
			if s.rings && s.m.Kind(n.op) == ir.OpDotGeneral {
				scattered = p.first
			}
		}
		st.kept = append(st.kept, s.intern(kept[i]))
	}
	st.cost *= n.runs
	st.least = n.sure.of(st.compute + sent - min(st.compute, scattered))
	n.strategies = append(n.strategies, st)
}
