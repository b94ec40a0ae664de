package space

import (
	"cmp"
	"maps"
	"math"
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

// gathersPay is what the gathers of one copy pay.
type gathersPay struct {
	spots []int32            // where they can be sent as one with others
	parts map[gatherOf]int64 // of wholeCopy, once a solution was seen
	id    int32              // equal for equal parts
}

// gatherOf tells the gathers of a copy apart: the layout that they make, and what they can be merged with.
type gatherOf struct {
	layout layoutID
	over   int32
}

// ofCopy returns what the gathers of a copy pay.
func (p *payments) ofCopy(copy int32) *gathersPay {
	if n := int(copy) + 1 - len(p.gathers); n > 0 {
		p.gathers = append(p.gathers, make([]gathersPay, n)...)
	}
	return &p.gathers[copy]
}

// meetsAt notes a place where gathers of the copy can be sent as one with others.
func (x *gathersPay) meetsAt(spot int32) {
	if !slices.Contains(x.spots, spot) {
		x.spots = append(x.spots, spot)
	}
}

// gatherPart returns the part that a gather of what a link reads pays.
func (s *Space) gatherPart(l *link, g gatherOf) int64 {
	if s.pairing && s.paying.whole[l.copy] {
		return wholeCopy
	}
	if int(l.copy) < len(s.paying.gathers) {
		if part, ok := s.paying.gathers[l.copy].parts[g]; ok {
			return part
		}
	}
	return wholeCopy / l.merged
}

// gathersID is equal for copies whose gathers pay equal parts.
func (p *payments) gathersID(copy int32) int32 {
	if int(copy) < len(p.gathers) {
		return p.gathers[copy].id
	}
	return 0
}

// madeGather is a gather of a copy.
type madeGather struct {
	of   int32
	what gatherOf
}

// payGathers moves what gathers pay towards equal parts of those that a solution could send as one. Those that can be at several spots pay
// as at the one where most are. Ways of several steps may meet any others.
func (s *Space) payGathers(solution []int32) {
	made, at := s.gathersMade(solution)
	overs := map[int32]bool{manyAxes: true}
	for g := range at {
		overs[g.over] = true
	}
	told := map[copied]bool{}
	for i := range s.links {
		l := &s.links[i]
		if l.merged == math.MaxInt64 {
			continue
		}
		for _, layout := range s.lists.all[l.cols].unique {
			if c := (copied{l.copy, layout}); !told[c] {
				told[c] = true
				s.settleGathers(l, layout, overs, made, at)
			}
		}
	}
	s.internGathers()
}

// settleGathers does so for those of a copy that make a layout.
func (s *Space) settleGathers(l *link, layout layoutID, overs map[int32]bool, made map[madeGather]bool, at map[gathering]int64) {
	x := &s.paying.gathers[l.copy]
	if x.parts == nil {
		x.parts = map[gatherOf]int64{}
	}
	for over := range overs {
		g, most := gatherOf{layout, over}, int64(0)
		for _, spot := range x.spots {
			most = max(most, meet(at, overs, spot, over))
		}
		switch {
		case made[madeGather{l.copy, g}]:
			x.parts[g] = s.paying.towards(s.gatherPart(l, g), wholeCopy/most)
		case most > 0:
			x.parts[g] = s.paying.towards(s.gatherPart(l, g), 0)
		}
	}
}

// meet returns how many gathers at a spot can be sent as one with those that have something in common.
func meet(at map[gathering]int64, overs map[int32]bool, spot, over int32) int64 {
	several, most := at[gathering{spot, manyAxes}], at[gathering{spot, over}]
	if over != manyAxes {
		return several + most
	}
	for o := range overs {
		if o != manyAxes {
			most = max(most, several+at[gathering{spot, o}])
		}
	}
	return most
}

// gathersMade returns which gathers of copies a solution makes, and how many of them can be at each spot.
func (s *Space) gathersMade(solution []int32) (made map[madeGather]bool, at map[gathering]int64) {
	made, at = map[madeGather]bool{}, map[gathering]int64{}
	for l, p := range s.gathersOf(solution) {
		if l.merged == math.MaxInt64 {
			continue
		}
		made[madeGather{l.copy, gatherOf{s.readIn(l, solution), p.meets}}] = true
		for _, spot := range s.paying.gathers[l.copy].spots {
			at[gathering{spot, p.meets}]++
		}
	}
	return made, at
}

// internGathers numbers the parts that gathers of copies pay.
func (s *Space) internGathers() {
	ids := map[string]int32{"": 0}
	for i := range s.paying.gathers {
		x := &s.paying.gathers[i]
		var key []int64
		order := func(a, b gatherOf) int { return cmp.Or(cmp.Compare(a.layout, b.layout), cmp.Compare(a.over, b.over)) }
		for _, g := range slices.SortedFunc(maps.Keys(x.parts), order) {
			key = append(key, int64(g.layout), int64(g.over), x.parts[g])
		}
		text := keyOf(key)
		if _, ok := ids[text]; !ok {
			ids[text] = int32(len(ids))
		}
		x.id = ids[text]
	}
}
