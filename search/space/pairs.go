package space

import (
	"context"
	"slices"

	"autoshard/search"
)

// Two gathers for one op may be sent as one. In the relaxed problem each pays a part of what that takes before it sends anything, which
// is too little where only one of them is made, the one here and the other one there: then no parts are right for all solutions. A
// paired problem has a node for each two that may be sent as one, which knows what both are: each pays all, and they get back what
// that is too much if they can be sent as one.

// Paired is the relaxed problem with such nodes behind the space's own: it is larger, and its optimum a higher bound. What counts is not
// Moments, whose nodes lie there too. It fails like Build.
func (s *Space) Paired(ctx context.Context, limit int64, effort *Effort, counts Held) (*search.Problem, error) {
	s.pairing = s.merges
	defer func() { s.pairing = false }()
	p, err := s.build(ctx, limit, effort, true, counts)
	s.paired = p
	return p, err
}

// pair is two links of a node whose gathers can be sent as one, and with no others.
type pair struct{ first, second *link }

// findPairs finds those of which one pays for what it gathers alone, since what both get back of it may be all that it pays; and the copies
// all of whose gathers can be sent as one only with the other ones of such pairs.
func (s *Space) findPairs() {
	at := make([][]*link, len(s.paying.crowds))
	for i := range s.links {
		l := &s.links[i]
		at[l.spot] = append(at[l.spot], l)
	}
	s.pairs, s.paying.whole = nil, slices.Repeat([]bool{true}, len(s.paying.gathers))
	for spot, links := range at {
		switch crowd := s.paying.crowds[spot]; {
		case crowd == 1:
		case crowd == 2 && len(links) == 2 && links[0].to == links[1].to && links[0].copy != links[1].copy &&
			min(links[0].uses, links[1].uses) == 1:
			s.pairs = append(s.pairs, pair{links[0], links[1]})
		default:
			for _, l := range links {
				s.paying.whole[l.copy] = false
			}
		}
	}
	for i := range s.links {
		if l := &s.links[i]; l.merged > 1 && s.paying.gathers[l.copy].waits() {
			s.paying.whole[l.copy] = false
		}
	}
}

// madeWith is what a gather takes before it sends anything, what it pays of that, and with what it can be merged.
type madeWith struct {
	time, part int64
	over       int32
}

// madeWith returns that of a link between the layouts, in its lists, in which its value is kept and read; the zero value without a gather.
func (s *Space) madeWith(l *link, kept, read int) madeWith {
	layouts := s.lists.all[l.cols].unique
	p := &s.priced[s.pairsKey(l)][kept*len(layouts)+read]
	if p.gathered == 0 {
		return madeWith{}
	}
	return madeWith{p.gathered, s.gatherPart(l, gatherOf{layouts[read], p.meets}), p.meets}
}

// tooMuch returns what two gathers pay too much if they are sent as one.
func (g madeWith) tooMuch(o madeWith) int64 {
	parts := g.part + o.part - wholeCopy
	if parts <= 0 || g.over != o.over && g.over != manyAxes && o.over != manyAxes {
		return 0
	}
	return portion(min(g.time, o.time), parts) + rounding
}

// meetInPairs adds a node for each pair, which tells what the gather of the first is and in which layout the op reads the second, and an
// edge to the second that gives back what they pay too much.
func (s *Space) meetInPairs(b *search.Builder) {
	s.pairHolders = nil
	for _, p := range s.pairs {
		kept := s.lists.all[p.first.rows].at
		first, second := &s.lists.all[p.first.cols], &s.lists.all[p.second.cols]
		width := int64(len(second.unique))
		var kinds []madeWith
		x := s.holder(&held{from: p.first.from, to: p.first.to,
			row: func(strategy int32) int64 { return int64(kept[strategy]) },
			col: func(strategy int32) int64 { return int64(first.at[strategy])*width + int64(second.at[strategy]) },
			bytes: func(row, col int64) int64 {
				kind := s.madeWith(p.first, int(row), int(col/width))
				if !slices.Contains(kinds, kind) {
					kinds = append(kinds, kind)
				}
				return int64(slices.Index(kinds, kind))*width + col%width
			}})
		back, any := s.givenBack(p, &x, kinds)
		if any && s.addHolder(b, &x, make([]int64, len(x.states)), 0, 0) {
			s.pairHolders = append(s.pairHolders, x)
			rows := &s.lists.all[p.second.rows]
			node := int32(len(s.nodes) + len(s.pairHolders) - 1)
			b.AddEdgeThrough(p.second.from, node, b.AddMatrix(len(rows.unique), len(x.states), back), rows.at, nil)
		}
	}
}

// givenBack returns what the edge of a pair gives back, less than zero, and whether it is anything. A row is a layout in which the second
// value is kept, a column a state of the pair's node.
func (s *Space) givenBack(p pair, x *holder, kinds []madeWith) (back []int64, any bool) {
	rows, width := s.lists.all[p.second.rows].unique, int64(len(s.lists.all[p.second.cols].unique))
	back = make([]int64, 0, len(rows)*len(x.states))
	for kept := range rows {
		for _, st := range x.states {
			less := kinds[st.bytes/width].tooMuch(s.madeWith(p.second, kept, int(st.bytes%width)))
			if less > 0 {
				less, any = p.second.sure.of(less)+1, true // which is rounded down
			}
			back = append(back, -less)
		}
	}
	return back, any
}
