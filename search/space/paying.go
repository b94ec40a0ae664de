package space

import (
	"cmp"
	"slices"
)

// payments are what collectives pay in the relaxed problem of what those that can be sent as one take together before they send anything.
// As long as all that could be sent as one pay no more than the whole, its optimum is a bound; how high that is depends on who pays.
//
// Settle moves the parts of reductions half of the way to the last one of those that a solution sends as one, which leads to solutions
// whose programs are fast. Play moves those of all collectives to equal parts of the ones that a solution sends as one, after the k-th
// solution a (k+10)-th of the way, so that all of these solutions count alike: fictitious play (Brown) of a game of two, one of whom
// chooses a solution and the other one who pays, which gets to the highest bound in the end. What a solution does not make goes on paying
// as far as the others leave something.
type payments struct {
	reductions []map[int32]int64 // per node and list of axes, once a solution was seen: the part of wholeCopy
	gathers    []gathersPay      // per copy
	crowds     []int64           // per spot: gathers that can be there
	played     int64             // solutions that count alike
	whole      []bool            // per copy: its gathers pay the whole in a problem with nodes for pairs
}

// forget forgets the solutions that were seen.
func (p *payments) forget() {
	clear(p.reductions)
	for i := range p.gathers {
		p.gathers[i].parts, p.gathers[i].id = nil, 0
	}
	p.played = 0
}

// playedBefore is how many solutions what is paid before the first one counts for.
const playedBefore = 9

// towards moves a part that is paid towards what the latest solution says.
func (p *payments) towards(before, part int64) int64 {
	n := int64(1)
	if p.played > 0 {
		n = playedBefore + p.played
	}
	return (n*before + part) / (n + 1)
}

// Play is Settle for the sake of the bound alone.
func (s *Space) Play(solution []int32) {
	s.paying.played++
	s.Settle(solution)
	if s.merges {
		s.payGathers(solution)
	}
}

// paid returns the part that a node's reductions over some axes pay of what they take before they send anything.
func (s *Space) paid(i, over int32, late bool) int64 {
	merged := *s.nodes[i].mergedAt(late)
	if late {
		over = ^over
	}
	if part, ok := s.paying.reductions[i][over]; ok {
		return part
	}
	if s.likely {
		return wholeCopy
	}
	return wholeCopy / merged
}

// pay moves what reductions pay towards those that a solution would send as one. What it would reduce in one way, as all-reduces or as
// reduce-scatters, or in several steps as a sum, pays for the others, too, as far as that leaves something to pay: else it would be rid of
// it so.
func (s *Space) pay(solution []int32) {
	for k, of := range s.meetings(solution, false) {
		own, instead := map[int32]map[int32]int64{}, map[int32]map[int32]int64{}
		for over, meetings := range of {
			own[over] = s.whoPays(meetings)
			raise(instead, over, nil)
			for i, part := range own[over] {
				for _, way := range s.otherWays(i, solution[i]) {
					raise(instead, way, map[int32]int64{i: part})
				}
			}
		}
		for over := range instead {
			s.settleParts(s.spans[k], over, own[over], instead[over])
		}
	}
}

// raise raises what nodes pay of reductions over some axes.
func raise(parts map[int32]map[int32]int64, over int32, to map[int32]int64) {
	if parts[over] == nil {
		parts[over] = map[int32]int64{}
	}
	for i, part := range to {
		parts[over][i] = max(parts[over][i], part)
	}
}

// settleParts moves what nodes pay of reductions over some axes towards what is due for what a solution makes. What that leaves, those
// pay that others are made instead of and, where solutions are played, those that pay so far.
func (s *Space) settleParts(list []span, over int32, due, instead map[int32]int64) {
	owes := func(x *span) int64 { return due[x.node] }
	might := func(x *span) int64 {
		if s.paying.played == 0 || owes(x) > 0 {
			return instead[x.node]
		}
		return max(instead[x.node], s.paid(x.node, over, x.late))
	}
	most, others := s.atOnce(list, owes), s.atOnce(list, might)
	for i, x := range list {
		part := might(&x) * wholeCopy / max(others[i], wholeCopy) // all of them together no more than the whole
		s.settlePart(&x, over, owes(&x)+portion(part, wholeCopy-most[i]))
	}
}

// otherWays returns with what else a reduction of a node may be sent as one, instead of what it is sent with in a strategy.
func (s *Space) otherWays(i, strategy int32) []int32 {
	n := &s.nodes[i]
	st := &n.class.strategies[strategy]
	if s.paying.played == 0 || n.delay.sum == 0 || n.delay.blocks || st.later == 0 {
		return []int32{other(st.over)}
	}
	var out []int32
	for _, way := range s.later.ways[st.later-1] {
		for _, step := range way {
			out = append(out, step.overs...)
		}
	}
	return slices.DeleteFunc(out, func(over int32) bool { return over == st.over })
}

// whoPays returns, by node, what those pay that meet: all of them the whole at most wherever they could be sent as one.
func (s *Space) whoPays(meetings []meeting) map[int32]int64 {
	pay := lastPays
	if s.paying.played > 0 {
		pay = allPay
	}
	parts := pay(meetings)
	s.moderate(meetings, parts)
	return parts
}

// lastPays returns, by node, the whole for the last one to begin of those that meet.
func lastPays(meetings []meeting) map[int32]int64 {
	parts := make(map[int32]int64, len(meetings))
	for _, at := range meetings {
		parts[at.members[0].node] = wholeCopy
	}
	return parts
}

// allPay returns, by node, equal parts of the whole for those that meet, but for those that could be at another meeting instead of the last
// one to begin there: then that would pay less.
func allPay(meetings []meeting) map[int32]int64 {
	parts := map[int32]int64{}
	for i := range meetings {
		payers := meetings[i].members[:1:1]
		for _, x := range meetings[i].members[1:] {
			elsewhere := func(m meeting) bool { return x.overlaps(&m.members[0]) }
			if !slices.ContainsFunc(meetings[:i], elsewhere) && !slices.ContainsFunc(meetings[i+1:], elsewhere) {
				payers = append(payers, x)
			}
		}
		for _, x := range payers {
			parts[x.node] = wholeCopy / int64(len(payers))
		}
	}
	return parts
}

// moderate lessens what members of several meetings pay that could be sent as one, so that all of them pay no more than the whole.
func (s *Space) moderate(meetings []meeting, parts map[int32]int64) {
	if len(meetings) < 2 {
		return
	}
	var all []span
	for _, at := range meetings {
		all = append(all, at.members...)
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i, most := range s.atOnce(all, func(x *span) int64 { return parts[x.node] }) {
		if most > wholeCopy {
			parts[all[i].node] = portion(parts[all[i].node], wholeCopy*wholeCopy/most)
		}
	}
}

// end is the place behind the last one where a reduction can be made: that where it begins is one in any case.
func (x *span) end() int32 { return max(x.to, x.from+1) }

// overlaps says whether there is a place where two reductions can be made.
func (x *span) overlaps(y *span) bool { return x.from < y.end() && y.from < x.end() }

// settlePart moves what a node pays for a reduction over some axes towards a part. What is always sent alone pays the whole.
func (s *Space) settlePart(x *span, over int32, part int64) {
	if *s.nodes[x.node].mergedAt(x.late) == 1 {
		return
	}
	if s.paying.reductions[x.node] == nil {
		s.paying.reductions[x.node] = map[int32]int64{}
	}
	before, key := s.paid(x.node, over, x.late), over
	if x.late {
		key = ^over
	}
	s.paying.reductions[x.node][key] = s.paying.towards(before, part)
}
