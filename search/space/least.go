package space

import (
	"slices"

	"autoshard/ir"
)

// LeastPeak returns bytes that every program of the space holds at some moment: all inputs at its beginning, as they are kept,
// or later those that are not given up, and of other values between the op that makes them and the one that reads them
// last what is left if they are cut along all devices.
func (s *Space) LeastPeak() int64 {
	l := ir.NewLiveness(s.m, s.m.MainFunc().Body)
	devices := s.m.Mesh(s.mesh).Devices()
	begin, later := int64(0), make([]int64, l.Len()+2)
	add := func(lo, hi int32, bytes int64) {
		if lo < hi {
			later[lo], later[hi] = later[lo]+bytes, later[hi]-bytes
		}
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.isInput() {
			kept := least(n.class)
			begin += kept
			if n.hi > l.Len() {
				add(0, l.Len()+1, kept)
				continue
			}
		}
		if n.residence == within || n.op != 0 && (passesOn(s.m.Kind(n.op)) || s.m.Kind(n.op) == ir.OpOptimizationBarrier) {
			continue // it may be its operand
		}
		for _, v := range n.values {
			if lo, hi := l.Interval(v); s.isTensor(v) && !s.unheld[v] && !s.bare.Unheld[v] {
				add(lo+1, hi-1, s.m.ValueType(v).Bytes()/devices)
			}
		}
	}
	for t := 1; t < len(later); t++ {
		later[t] += later[t-1]
	}
	return max(begin, slices.Max(later))
}

// least returns the fewest bytes in which a strategy of a class keeps its values.
func least(c *class) int64 {
	bytes := c.strategies[0].bytes
	for i := range c.strategies {
		bytes = min(bytes, c.strategies[i].bytes)
	}
	return bytes
}
