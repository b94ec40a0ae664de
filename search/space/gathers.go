package space

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/merge"
)

// spot is where gathers can meet: before an op that reads what they make, those of one type of elements.
type spot struct {
	block   ir.BlockID
	element dtype.Type
	place   int32
}

// reach is spots of a block, for one type of elements, one behind the other.
type reach struct{ from, to int32 }

// gathers are made for the op that reads them: those of one op can meet. What a constraint asks for is made there and waits for the first
// op that needs it, whatever it is sent with.
func (s *Space) gathers(waiting *merge.Waiting) {
	spots := s.findSpots(waiting)
	s.paying.crowds = make([]int64, len(spots))
	w := wants{s, waiting, map[ir.ValueID]int32{}}
	for i := range s.links {
		r := w.reach(spots, &s.links[i])
		x := s.paying.ofCopy(s.links[i].copy)
		x.reach = append(x.reach, r)
		for spot := r.from; spot < r.to; spot++ {
			s.paying.crowds[spot]++
		}
	}
	most := make([]int64, len(s.paying.gathers)) // per copy
	for i := range most {
		x := &s.paying.gathers[i]
		x.unite()
		for _, r := range x.reach {
			most[i] = max(most[i], slices.Max(s.paying.crowds[r.from:r.to]))
		}
	}
	for i := range s.links {
		l := &s.links[i]
		l.merged = 1 << bits.Len64(uint64(most[l.copy]-1)) // so that links have matrices in common
	}
}

// findSpots numbers the spots of all links, those of a block and a type in the order of their places.
func (s *Space) findSpots(waiting *merge.Waiting) []spot {
	of := func(l *link) spot {
		return spot{s.m.OpBlock(l.reader), s.m.TypeOf(l.typ).DType, waiting.At(l.reader)}
	}
	var spots []spot
	for i := range s.links {
		spots = append(spots, of(&s.links[i]))
	}
	order := func(a, b spot) int {
		return cmp.Or(cmp.Compare(a.block, b.block), cmp.Compare(a.element, b.element), cmp.Compare(a.place, b.place))
	}
	slices.SortFunc(spots, order)
	spots = slices.Compact(spots)
	for i := range s.links {
		at, _ := slices.BinarySearchFunc(spots, of(&s.links[i]), order)
		s.links[i].spot = int32(at)
	}
	return spots
}

// wants finds where values are needed once constraints are gone.
type wants struct {
	*Space
	waiting *merge.Waiting
	known   map[ir.ValueID]int32
}

// reach returns the spots at which the gathers of a link can be. What manual computations send stays as the user wrote it.
func (w *wants) reach(spots []spot, l *link) reach {
	here, r := spots[l.spot], reach{l.spot, l.spot + 1}
	needed := here.place
	switch k := w.m.Kind(l.reader); {
	case k == ir.OpSdyManualComputation:
		needed = w.inside(l.reader, l.operand)
	case passesOn(k):
		needed = w.first(w.m.Result(l.reader, 0))
	}
	for ; int(r.to) < len(spots); r.to++ {
		if at := spots[r.to]; at.block != here.block || at.element != here.element || at.place > needed {
			break
		}
	}
	return r
}

// first returns the place of the first op that needs a value.
func (w *wants) first(v ir.ValueID) int32 {
	if place, ok := w.known[v]; ok {
		return place
	}
	first := int32(math.MaxInt32)
	for u := range w.m.Uses(v) {
		user := w.m.AncestorIn(u.Op, w.m.BlockOf(v))
		switch k := w.m.Kind(user); {
		case k == ir.OpSdyShardingGroup:
		case passesOn(k):
			first = min(first, w.first(w.m.Result(user, 0)))
		case k == ir.OpSdyManualComputation && user == u.Op:
			first = min(first, w.inside(user, u.Index))
		default:
			first = min(first, w.waiting.At(user))
		}
	}
	w.known[v] = first
	return first
}

// inside returns the place of a manual computation if something inside needs an operand, else that of what needs the result that it is.
func (w *wants) inside(op ir.OpID, operand int) int32 {
	body := w.m.RegionBlock(op, 0)
	first := int32(math.MaxInt32)
	for u := range w.m.Uses(w.m.BlockArgs(body)[operand]) {
		if u.Op != w.m.LastOp(body) {
			return w.waiting.At(op)
		}
		first = min(first, w.first(w.m.Result(op, u.Index)))
	}
	return first
}

// waits says whether it need not be clear before which op the gathers are made.
func (x *gathersPay) waits() bool {
	return slices.ContainsFunc(x.reach, func(r reach) bool { return r.to > r.from+1 })
}

// unite lists the spots of a copy once each.
func (x *gathersPay) unite() {
	slices.SortFunc(x.reach, func(a, b reach) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	all := x.reach[:0]
	for _, r := range x.reach {
		if n := len(all); n > 0 && r.from < all[n-1].to {
			all[n-1].to = max(all[n-1].to, r.to)
		} else {
			all = append(all, r)
		}
	}
	x.reach = all
}

// gathersPay is what the gathers of one copy pay.
type gathersPay struct {
	reach []reach            // where they can be sent as one with others
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

// crowd is how many gathers can be at each spot: of each kind, of several steps, which may meet any others, and with those of the kind of
// which most can be there.
type crowd struct {
	of      map[int32][]int64
	several []int64
	most    []int64
}

// payGathers moves what gathers pay towards equal parts of those that a solution could send as one. Those that can be at several spots pay
// as at the one where most are.
func (s *Space) payGathers(solution []int32) {
	made, at := s.gathersMade(solution)
	meet := make([]map[int32]int64, len(s.paying.gathers)) // per copy, once it is known: the most at once, by what they have in common
	told := map[copied]bool{}
	for i := range s.links {
		l := &s.links[i]
		if meet[l.copy] == nil {
			meet[l.copy] = at.meet(s.paying.gathers[l.copy].reach)
		}
		for _, layout := range s.lists.all[l.cols].unique {
			if c := (copied{l.copy, layout}); !told[c] {
				told[c] = true
				s.settleGathers(l, layout, meet[l.copy], made)
			}
		}
	}
	s.internGathers()
}

// settleGathers does so for those of a copy that make a layout.
func (s *Space) settleGathers(l *link, layout layoutID, meet map[int32]int64, made map[madeGather]bool) {
	x := &s.paying.gathers[l.copy]
	if x.parts == nil {
		x.parts = map[gatherOf]int64{}
	}
	for over, most := range meet {
		switch g := (gatherOf{layout, over}); {
		case made[madeGather{l.copy, g}]:
			x.parts[g] = s.paying.towards(s.gatherPart(l, g), wholeCopy/most)
		case most > 0:
			x.parts[g] = s.paying.towards(s.gatherPart(l, g), 0)
		}
	}
}

// gathersMade returns which gathers of copies a solution makes, and how many of them can be at each spot.
func (s *Space) gathersMade(solution []int32) (made map[madeGather]bool, at crowd) {
	made, at = map[madeGather]bool{}, crowd{map[int32][]int64{}, make([]int64, len(s.paying.crowds)), make([]int64, len(s.paying.crowds))}
	for l, p := range s.gathersOf(solution) {
		made[madeGather{l.copy, gatherOf{s.readIn(l, solution), p.meets}}] = true
		count := at.several
		if p.meets != manyAxes {
			if at.of[p.meets] == nil {
				at.of[p.meets] = make([]int64, len(s.paying.crowds))
			}
			count = at.of[p.meets]
		}
		for _, r := range s.paying.gathers[l.copy].reach {
			for spot := r.from; spot < r.to; spot++ {
				count[spot]++
			}
		}
	}
	for spot, n := range at.several {
		for _, of := range at.of {
			at.most[spot] = max(at.most[spot], of[spot])
		}
		at.most[spot] += n
	}
	return made, at
}

// meet returns how many gathers can be sent as one at most somewhere within reach, by what they have in common.
func (at *crowd) meet(within []reach) map[int32]int64 {
	out := map[int32]int64{manyAxes: 0}
	for _, r := range within {
		out[manyAxes] = max(out[manyAxes], slices.Max(at.most[r.from:r.to]))
		for over, of := range at.of {
			for spot := r.from; spot < r.to; spot++ {
				out[over] = max(out[over], of[spot]+at.several[spot])
			}
		}
	}
	return out
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
