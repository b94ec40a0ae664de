package space

import (
	"cmp"
	"slices"

	"autoshard/search"
)

// Change returns what a solution changes to, a copy, or nil where there is nothing to change.
type Change func(solution []int32) []int32

// InPlace returns changes after which one op reads a value where it lies, which a solution lets it read elsewhere: of the ways to read it
// there the one with which the problem's solution costs least. Those come first that the solution pays most for. The problem is one of
// the space.
func (s *Space) InPlace(p *search.Problem, solution []int32) []Change {
	var moved []*link
	prices := map[*link]int64{}
	for i := range s.links {
		if l := &s.links[i]; s.moves(l, solution) {
			moved, prices[l] = append(moved, l), s.pricing(l, solution).all*l.runs
		}
	}
	slices.SortStableFunc(moved, func(a, b *link) int { return cmp.Compare(prices[b], prices[a]) })
	out := make([]Change, len(moved))
	for i, l := range moved {
		out[i] = func(solution []int32) []int32 {
			if !s.moves(l, solution) {
				return nil
			}
			return s.reading(p, solution, l, s.lists.all[l.rows].of(solution[l.from]))
		}
	}
	return out
}

// moves says whether a solution brings the value of a link elsewhere for its reader.
func (s *Space) moves(l *link, solution []int32) bool {
	return s.lists.all[l.rows].of(solution[l.from]) != s.readIn(l, solution)
}

// readIn returns the layout in which a link reads its value.
func (s *Space) readIn(l *link, solution []int32) layoutID {
	return s.lists.all[l.cols].of(solution[l.to])
}

// pricing returns what that costs.
func (s *Space) pricing(l *link, solution []int32) *price {
	rows, cols := &s.lists.all[l.rows], &s.lists.all[l.cols]
	return &s.priced[s.pairsKey(l)][int(rows.at[solution[l.from]])*len(cols.unique)+int(cols.at[solution[l.to]])]
}

// reading returns the cheapest change after which the reader of a link reads its value in a layout, nil for none.
func (s *Space) reading(p *search.Problem, solution []int32, l *link, layout layoutID) []int32 {
	read := &s.lists.all[l.cols]
	x := append([]int32(nil), solution...)
	best, least := int32(-1), int64(0)
	for way := range int32(len(read.at)) {
		if read.of(way) != layout {
			continue
		}
		x[l.to] = way
		if cost, _, err := p.Evaluate(x); err == nil && (best < 0 || cost < least) {
			best, least = way, cost
		}
	}
	if best < 0 {
		return nil
	}
	x[l.to] = best
	return x
}
