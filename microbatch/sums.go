package microbatch

import (
	"autoshard/collectives"
	"autoshard/ir"
)

// lateSums finds what loops do with sums over microbatches: where they only add them to zeros, or write them into zeros, these may be
// partial until the loop has ended.
type lateSums struct {
	*cut
	partial map[ir.ValueID]bool
	queue   []ir.ValueID
	needs   []ir.ValueID // that have to be partial or zeros
}

// sumLate takes the sums over microbatches out of loops, and returns the results of ops of the main function that are partial without them.
// It fails where a loop brings parts of the batch together in another way.
func (c *cut) sumLate(body ir.BlockID) (map[ir.ValueID]bool, error) {
	m, s := c.m, &lateSums{cut: c, partial: map[ir.ValueID]bool{}}
	var inner []ir.OpID
	for op := range m.Within(body) {
		switch k := m.Kind(op); {
		case m.OpBlock(op) == body || !k.IsShardMap():
		case k == ir.OpShardMapPsum && c.overAll(op):
			inner = append(inner, op)
			s.mark(m.Result(op, 0))
		default:
			return nil, c.mixes(op)
		}
	}
	for len(s.queue) > 0 {
		v := s.queue[0]
		s.queue = s.queue[1:]
		if m.BlockOf(v) == body {
			continue
		}
		for use := range m.Uses(v) {
			if !s.follow(use) {
				return nil, c.mixes(use.Op)
			}
		}
	}
	for _, v := range s.needs {
		if !s.partial[v] && !collectives.IsZeros(m, v) {
			return nil, c.mixes(m.OpOf(v))
		}
	}
	for _, op := range inner {
		m.ReplaceUses(m.Result(op, 0), m.Operand(op, 0))
		m.Erase(op)
	}
	return s.partial, nil
}

func (s *lateSums) mark(v ir.ValueID) {
	if !s.partial[v] {
		s.partial[v] = true
		s.queue = append(s.queue, v)
	}
}

// follow marks what is partial because an op reads a partial value. It reports whether the op makes sums of sums.
func (s *lateSums) follow(use ir.Use) bool {
	m, op := s.m, use.Op
	switch k := m.Kind(op); {
	case k.IsTerminator():
		loop := m.ParentOp(op)
		return m.Kind(loop) == ir.OpWhile && m.OpBlock(op) == m.RegionBlock(loop, 1) && s.carry(loop, use.Index)
	case k == ir.OpWhile:
		return s.carry(op, use.Index)
	case k == ir.OpAdd || k == ir.OpSubtract || k == ir.OpConcatenate:
		s.needs = append(s.needs, m.Operands(op)...)
	case k == ir.OpDynamicUpdateSlice:
		if use.Index > 1 {
			return false
		}
		s.needs = append(s.needs, m.Operands(op)[:2]...)
	case k == ir.OpDynamicSlice || k == ir.OpBroadcastInDim:
		if use.Index > 0 {
			return false
		}
	default:
		if operand, linear := collectives.Linear(m, op); !linear || operand != use.Index {
			return false
		}
	}
	s.mark(m.Result(op, 0))
	return true
}

// carry lets a loop carry partial values in a place: it begins with such, and ends with such.
func (s *lateSums) carry(loop ir.OpID, place int) bool {
	m, body := s.m, s.m.RegionBlock(loop, 1)
	s.needs = append(s.needs, m.Operand(loop, place), m.Operand(m.LastOp(body), place))
	s.mark(m.BlockArgs(body)[place])
	s.mark(m.Result(loop, place))
	return !m.HasUses(m.BlockArgs(m.RegionBlock(loop, 0))[place])
}
