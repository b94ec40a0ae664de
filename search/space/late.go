package space

import (
	"iter"

	"autoshard/collectives"
	"autoshard/ir"
)

// Programs reduce what is added up once, as the sum, and what a loop only adds to what it carries after the loop. In the relaxed problem
// each summand pays a part of that. The parts of those that may be one are no more than the whole, so that its optimum is a bound: to begin
// with they are equal, and after a solution those that it reduces pay.

// delay is how much later the reductions of a node may be made than its value.
type delay struct {
	sum     ir.ValueID // as which they are made, with others; 0: they are not
	rounds  int64      // of the loops after which they are made
	members int64      // how many may be one, with them
	growth  int64      // how many times as many elements as the value the sum has, rounded up
	merged  int64      // reductions that can be sent as one with them after loops, with them
	behind  bool       // there are such loops
	blocks  bool       // whatever lies between takes the layout that they make
}

// later says where the reductions of a module can be made, by node, sum and axes.
type later struct {
	of    func(ir.ValueID) collectives.Late // nil: where values are made
	sums  map[ir.ValueID][]int32            // the nodes whose values are summands
	parts []map[int32]int64                 // per node: what it pays of reductions over some axes, of wholeCopy; none: an equal part

	waysOf map[string]int32 // by axes: the number of the ways to reduce over them
	ways   [][][]beginning
	parted []bool // per axis: there are layouts along parts of it; nil where that was not asked
}

// delays finds which reductions are made later than the values.
func (s *Space) delays() {
	s.later.sums, s.later.parts = map[ir.ValueID][]int32{}, make([]map[int32]int64, len(s.nodes))
	if s.later.of == nil {
		return
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.op == 0 || !n.class.reduces || len(n.values) > 1 {
			continue
		}
		if late := s.later.of(n.values[0]); late.Sum != 0 {
			n.delay = delay{sum: late.Sum, rounds: late.Trips, behind: s.m.BlockOf(late.Sum) != s.m.OpBlock(n.op), blocks: late.Blocks,
				growth: s.growth(n.values[0], late.Sum)}
			s.later.sums[late.Sum] = append(s.later.sums[late.Sum], int32(i))
		}
	}
	for sum, nodes := range s.later.sums {
		if first := &s.nodes[nodes[0]].delay; len(nodes) == 1 && !first.behind {
			*first = delay{}
			delete(s.later.sums, sum)
		}
		for _, i := range nodes {
			s.nodes[i].delay.members = int64(len(nodes))
		}
	}
}

// part returns what a node pays of reductions over some axes.
func (s *Space) part(i, over int32) int64 {
	if part, ok := s.later.parts[i][over]; ok {
		return part
	}
	return wholeCopy / s.nodes[i].delay.members
}

// growth returns how many times as many elements as one of its summands a sum has, rounded up.
func (s *Space) growth(summand, sum ir.ValueID) int64 {
	part, whole := max(1, s.m.ValueType(summand).Elements()), s.m.ValueType(sum).Elements()
	return max(1, (whole+part-1)/part)
}

// reducedAsOne goes through the summands of each sum, with how many of them a solution reduces, by axes.
func (s *Space) reducedAsOne(solution []int32) iter.Seq2[[]int32, map[int32]int64] {
	return func(yield func([]int32, map[int32]int64) bool) {
		for _, nodes := range s.later.sums {
			reduced := map[int32]int64{}
			for _, i := range nodes {
				if st := &s.nodes[i].class.strategies[solution[i]]; st.summed > 0 {
					reduced[st.over]++
				}
			}
			if !yield(nodes, reduced) {
				return
			}
		}
	}
}

// settleSums moves what summands pay for the reduction of their sum half of the way to those that a solution reduces.
func (s *Space) settleSums(solution []int32) {
	for nodes, reduced := range s.reducedAsOne(solution) {
		for _, i := range nodes {
			st := &s.nodes[i].class.strategies[solution[i]]
			for over, n := range reduced {
				part := s.part(i, over)
				if st.summed > 0 && st.over == over {
					part += wholeCopy / n
				}
				if s.later.parts[i] == nil {
					s.later.parts[i] = map[int32]int64{}
				}
				s.later.parts[i][over] = part / 2
			}
		}
	}
}

// costOf returns what a strategy costs, with all runs of its node. Whether summands can be reduced as one depends on all of them, so that
// each pays for itself but where those of a solution are ([Space.Together]).
func (s *Space) costOf(i int, st *strategy) int64 {
	n, shared := &s.nodes[i], s.shared(i, st)
	if n.delay.sum == 0 {
		return times(max(0, st.cost-shared), n.runs)
	}
	return times(max(0, st.cost-st.summed), n.runs) + times(s.ofSum(i, st, max(0, st.summed-shared)), n.runs/n.delay.rounds)
}

// leastOf returns what no program with a strategy goes below, which reduces the node's values where they are made, behind a product that
// may hide that, or later.
func (s *Space) leastOf(i int, st *strategy) int64 {
	n := &s.nodes[i]
	here := n.sure.of(max(0, st.least-s.saved(int32(i), st, false)))
	if n.delay.sum == 0 || st.summed == 0 {
		return here
	}
	return min(here, n.sure.of(max(0, st.work.time))+s.leastLater(i, st)) // what is gathered after a reduction is not sent before it either
}

// leastLater returns what later reductions surely take. What they take before they send anything they pay as those do that are sent as
// one. They may be scattered as whoever reads the sum needs it: then a solution that scatters the summands says so, if these get there, and
// if they do not, that is all that is sure.
func (s *Space) leastLater(i int, st *strategy) int64 {
	n := &s.nodes[i]
	late := share{n.sure.runs / n.delay.rounds, n.sure.among}
	if !n.delay.blocks {
		return late.of(s.leastBeginning(int32(i), st.later))
	}
	saved := s.saved(int32(i), st, n.delay.behind) + st.copied // of the sum other copies may count
	sent := portion(max(0, st.summed-st.reduced), s.part(int32(i), st.over))
	return late.of(max(0, sent+st.reduced-saved))
}
