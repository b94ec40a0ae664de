package space

import "iter"

// together is what collectives pay of what they take before they send anything where they are sent as one with those of a solution, by what
// they can be merged with, of wholeCopy.
type together struct {
	reductions []map[int32]int64 // per node
	sums       []map[int32]int64 // per node: what it pays of a reduction that is made as the sum of several
	gathers    []map[int32]int64 // per spot
}

// Together lets the costs of the problem, from the next one on that is built, count on reductions and gathers being sent as one with
// those of a solution: where n of these meet, each that could meet them pays an n-th, or half if it is one. They meet the last one that
// they can wait for, or the nearest: then what many wait for does not seem to cost next to nothing. With no solution each pays for itself.
func (s *Space) Together(solution []int32, nearest bool) {
	if s.shares = nil; solution == nil || !s.merges {
		return
	}
	s.shares = &together{make([]map[int32]int64, len(s.nodes)), make([]map[int32]int64, len(s.nodes)),
		make([]map[int32]int64, len(s.paying.crowds))}
	for k, of := range s.meetings(solution, nearest) {
		for over, meetings := range of {
			for _, x := range s.spans[k] {
				for _, at := range meetings {
					if s.counts(&x) && at.place < x.end() && x.from < at.until {
						divide(&s.shares.reductions[x.node], over, int64(len(at.members)))
					}
				}
			}
		}
	}
	for at, g := range s.gatherings(solution) {
		divide(&s.shares.gathers[at.spot], at.over, g.members)
	}
}

// Sum lets them count on summands being reduced as one with those of the solution that collectives are sent together with, too.
func (s *Space) Sum(solution []int32) {
	if s.shares == nil {
		return
	}
	for nodes, reduced := range s.reducedAsOne(solution) {
		for _, i := range nodes {
			for over, n := range reduced {
				if n >= 2*s.nodes[i].delay.growth {
					divide(&s.shares.sums[i], over, n/s.nodes[i].delay.growth)
				}
			}
		}
	}
}

// divide notes the least part that one of so many pays.
func divide(shares *map[int32]int64, over int32, members int64) {
	if *shares == nil {
		*shares = map[int32]int64{}
	}
	part := wholeCopy / max(members, 2)
	if known, ok := (*shares)[over]; !ok || part < known {
		(*shares)[over] = part
	}
}

// unpaid returns what collectives that can be merged with some do not pay of a time since they are sent with others.
func unpaid(shares map[int32]int64, over int32, time int64) int64 {
	part, ok := shares[over]
	if !ok {
		return 0
	}
	return time - portion(time, part)
}

// shared returns what the reductions of a strategy do not pay since they are sent with others.
func (s *Space) shared(i int, st *strategy) int64 {
	if s.shares == nil || st.reduced == 0 {
		return 0
	}
	return max(0, unpaid(s.shares.reductions[i], st.over, st.reduced)-st.copied)
}

// ofSum returns what a node pays of a time that the reduction of a sum takes.
func (s *Space) ofSum(i int, st *strategy, time int64) int64 {
	if s.shares == nil {
		return time
	}
	return time - unpaid(s.shares.sums[i], st.over, time)
}

// sharing returns what the gathers of a link pay where they are sent with others; nil where each pays for itself.
func (s *Space) sharing(l *link) map[int32]int64 {
	if s.shares == nil {
		return nil
	}
	return s.shares.gathers[l.spot]
}

// gathering is where gathers are sent as one: a spot, and what they have in common.
type gathering struct{ spot, over int32 }

// gathered is how many gathers are, and the picoseconds that all but one of them do not pay.
type gathered struct{ members, saved int64 }

// gatherings returns where gathers of a solution are sent as one, or alone.
func (s *Space) gatherings(solution []int32) map[gathering]gathered {
	out := map[gathering]gathered{}
	for l, p := range s.gathersOf(solution) {
		if p.along == manyAxes {
			continue
		}
		at := gathering{l.spot, p.along}
		g := out[at]
		if g.members++; g.members > 1 {
			g.saved += p.gathered * l.runs
		}
		out[at] = g
	}
	return out
}

// gathersOf yields the gathers of a solution, one that uses share once, by a link that reads it, and what it costs.
func (s *Space) gathersOf(solution []int32) iter.Seq2[*link, *price] {
	return func(yield func(*link, *price) bool) {
		seen := map[copied]bool{}
		for i := range s.links {
			l := &s.links[i]
			if !s.moves(l, solution) {
				continue
			}
			p, copy := s.pricing(l, solution), copied{l.copy, s.readIn(l, solution)}
			if p.gathered == 0 || seen[copy] {
				continue
			}
			if seen[copy] = true; !yield(l, p) {
				return
			}
		}
	}
}

// Merging returns the picoseconds that a solution saves if all its reductions and gathers that can be sent as one are.
func (s *Space) Merging(solution []int32) int64 {
	if !s.merges {
		return 0
	}
	total := int64(0)
	for _, of := range s.meetings(solution, false) {
		for _, meetings := range of {
			for _, at := range meetings {
				total += max(0, at.saved)
			}
		}
	}
	for _, g := range s.gatherings(solution) {
		total += g.saved
	}
	return total
}
