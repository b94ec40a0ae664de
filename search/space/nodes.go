package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
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
				s.collect(m.RegionBlock(op, i), runs, s.inBranch(op, i, sure))
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

func (s *Space) add(n node) {
	added := len(n.class.strategies)
	if s.count += added; !s.charge(int64(added)) || !s.bounded(s.count, maxStrategiesInAll, smallStrategies) {
		return
	}
	id := int32(len(s.nodes))
	for slot, v := range n.values {
		s.nodeOf[v] = id
		s.slotOf[v] = int32(slot)
	}
	s.nodes = append(s.nodes, n)
}

// freeNode adds a value that may be kept in any layout at no cost of its own.
func (s *Space) freeNode(op ir.OpID, v ir.ValueID, runs int64, sure share) {
	s.passNode(op, 0, v, runs, sure)
}

// passNode adds a result that is its operand, if it has one, in some layout.
func (s *Space) passNode(op ir.OpID, operand, v ir.ValueID, runs int64, sure share) {
	n := node{op: op, values: []ir.ValueID{v}, runs: runs, sure: sure}
	if operand != 0 {
		n.operands = []ir.ValueID{operand}
	}
	s.sign(passForm, &n)
	s.signKept(v)
	n.class = s.class(&n, func(d *draft) {
		if s.isTensor(v) {
			d.free(s.candidates(v))
		} else {
			d.free([]collectives.Layout{{}})
		}
	})
	s.add(n)
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
	n := node{op: op, operands: m.Operands(op), values: m.ResultValues(op), runs: runs, sure: sure}
	d := s.draft(&n)
	d.count = 1
	for i, arg := range m.BlockArgs(m.RegionBlock(op, 0)) {
		d.operands[i] = []layoutID{s.intern(s.pinned(m.Sharding(arg)))}
	}
	for i, v := range n.values {
		d.kept[i] = []layoutID{s.intern(s.pinned(m.Sharding(v)))}
	}
	n.class = d.end()
	st := &n.class.strategies[0]
	local, sent := s.inside(op)
	st.work.time, st.least = local, local+sent
	s.add(n)
}

// candidates returns the layouts in which a value may be kept: all that respect its pin, those of suggestions, and
// the pin's own. What crosses the boundary of the program is cut evenly, as those ask who call it.
func (s *Space) candidates(v ir.ValueID) []collectives.Layout {
	all := s.tensorLayouts(s.m.Shape(v), !s.crosses[v])
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

// evenly returns a layout of a value without the minor axes of dimensions that they do not divide.
func (s *Space) evenly(v ir.ValueID, l collectives.Layout) collectives.Layout {
	if l.Divides(s.m.Shape(v)) {
		return l
	}
	l.Dims = slices.Clone(l.Dims)
	for d, n := range s.m.Shape(v) {
		for n%subaxis.Product(l.Dims[d]) != 0 {
			l.Dims[d] = l.Dims[d][:len(l.Dims[d])-1]
		}
	}
	return l
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
	r := s.rules[op]
	switch {
	case r != nil && len(n.operands) > 0:
		n.class = s.ruledClass(&n, r)
	case freelyMade(m.Kind(op)) && s.isTensor(n.values[0]):
		s.sign(madeForm, &n)
		table := s.isTable(op)
		s.classes.key = append(s.classes.key, flags(table))
		s.signKept(n.values[0])
		n.class = s.class(&n, func(d *draft) {
			whole := s.internAll(s.wholes(n.values))
			for _, l := range s.candidates(n.values[0]) {
				kept := []layoutID{s.intern(l)}
				made := kept
				if table {
					made = whole
				}
				d.cuts = append(d.cuts, cut{made: made})
				d.add(kept)
			}
		})
	default:
		s.sign(wholeForm, &n)
		n.class = s.class(&n, func(d *draft) {
			made := s.wholes(n.values)
			d.cuts = []cut{{operands: s.internAll(s.wholes(n.operands)), made: s.internAll(made)}}
			var uncut []bool
			if len(made) == 1 {
				uncut = slices.Repeat([]bool{!s.unheld[n.values[0]]}, len(made[0].Dims))
			}
			for _, kept := range s.keeps(n.values, made, uncut) {
				d.once(kept)
			}
		})
	}
	s.add(n)
}

// freelyMade says whether every device can make its block of the result without any input.
func freelyMade(k ir.Kind) bool { return k.IsConstant() || k == ir.OpIota }

// isTable says whether an op is a constant of elements that differ: devices slice it.
func (s *Space) isTable(op ir.OpID) bool {
	value, ok := s.m.Attr(op, "value").(*ir.Dense)
	return s.m.Kind(op).IsConstant() && ok && !value.Splat
}

func (s *Space) wholes(values []ir.ValueID) []collectives.Layout {
	out := make([]collectives.Layout, len(values))
	for i, v := range values {
		out[i] = s.whole(v)
	}
	return out
}

func (s *Space) respects(values []ir.ValueID, kept []collectives.Layout) bool {
	for i, v := range values {
		if !s.Allows(v, &kept[i]) {
			return false
		}
	}
	return true
}

// keeps returns the ways to keep the results of an op: as they come out, reduced or reduce-scattered, or a single one sliced where it is
// uncut, or as the function returns it; a pinned result that comes out otherwise is sent on to its pin.
func (s *Space) keeps(values []ir.ValueID, results []collectives.Layout, uncut []bool) [][]collectives.Layout {
	if len(values) == 1 {
		var out [][]collectives.Layout
		pin, pinned := s.pins[values[0]]
		ends := s.outcomes(results[0], s.m.Shape(values[0]), uncut)
		if goal := s.goals[values[0]]; goal != 0 {
			ends = append(ends, s.pinned(goal))
		}
		for _, l := range ends {
			if s.crosses[values[0]] {
				l = s.evenly(values[0], l)
			}
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
		if s.crosses[v] {
			kept[i] = s.evenly(v, kept[i])
		}
		if pin, ok := s.pins[v]; ok && !s.allows(pin, &kept[i]) {
			kept[i] = s.pinned(pin)
		}
	}
	return [][]collectives.Layout{kept}
}
