package collectives

import (
	"slices"

	"autoshard/subaxis"
)

// permute exchanges extra axes for missing ones where that helps, and orders axes for the moves between dimensions that
// follow.
func (s *sequence) permute() {
	trade := s.trades() && !slices.ContainsFunc(s.dims, func(d dimension) bool { return len(d.later) > 0 })
	if !trade && !s.reordered {
		return
	}
	before := s.held()
	if trade {
		s.exchange()
	}
	s.reordered = false
	s.step(Step{Kind: Permute, Axes: union(before, s.held())})
}

// trades says whether a permutation brings the blocks closer to the goal.
func (s *sequence) trades() bool {
	var unused, useless int32
	for d := range s.dims {
		dim := &s.dims[d]
		if len(dim.extra) > 0 && len(dim.missing) > 0 && divide(dim.extra[0].Size, dim.missing[0].Size) {
			return true
		}
		if s.disordered(d) {
			return true
		}
		for _, a := range dim.missing {
			if !s.extra[a] {
				unused = a.Size
			}
		}
		for _, a := range dim.extra {
			if _, ok := s.place[a]; !ok {
				useless = a.Size
			}
		}
	}
	return unused > 0 && useless > 0 && divide(unused, useless)
}

func divide(a, b int32) bool { return a%b == 0 || b%a == 0 }

// disordered says whether the extra axes of a dimension stand in no order in which all-to-alls could move them from its end.
func (s *sequence) disordered(d int) bool {
	seen := map[int]bool{d: true}
	var before place
	moves := false // the axis before is missing somewhere
	for _, a := range s.dims[d].extra {
		at, ok := s.place[a]
		switch {
		case !ok && moves && len(s.dims[d].missing) == 0:
			return true
		case ok && seen[at.dim] && !(moves && at == place{before.dim, before.index + 1}):
			return true
		case ok:
			seen[at.dim] = true
		}
		before, moves = at, ok
	}
	return false
}

// exchange replaces extra axes by others so that the number of blocks of every dimension stays.
func (s *sequence) exchange() {
	var missing []subaxis.Ref
	useless := make([][]subaxis.Ref, len(s.dims))
	for d := range s.dims {
		missing = append(missing, s.settle(d, &useless[d])...)
	}
	for d := range s.dims {
		missing = s.fillRoom(d, missing, func(a subaxis.Ref) { s.dims[d].extra = append(s.dims[d].extra, a) })
	}
	s.alignMissing()
	var left []subaxis.Ref
	for d := range s.dims {
		left = append(left, s.fillFront(d, useless[d])...)
	}
	for d := range s.dims {
		left = s.fillFront(d, left)
	}
}

// fillFront puts those of the axes for which a dimension has room before its other extra axes, and returns the others.
func (s *sequence) fillFront(d int, axes []subaxis.Ref) (others []subaxis.Ref) {
	var front []subaxis.Ref
	others = s.fillRoom(d, axes, func(a subaxis.Ref) { front = append(front, a) })
	s.dims[d].extra = append(front, s.dims[d].extra...)
	return others
}

// settle cuts a dimension by the first axes that it misses instead of its extra ones, as far as there is room, and
// returns what it misses then. Extra axes that no dimension misses become useless: those that were replaced last.
func (s *sequence) settle(d int, useless *[]subaxis.Ref) (missing []subaxis.Ref) {
	dim := &s.dims[d]
	blocks := subaxis.Product(dim.extra)
	dim.room = blocks
	var first []subaxis.Ref
	first, dim.missing, dim.room = fitFront(dim.missing, dim.room)
	dim.settled = append(dim.settled, first...)
	kept := slices.DeleteFunc(slices.Clone(dim.extra), func(a subaxis.Ref) bool { _, ok := s.place[a]; return ok })
	dim.extra = nil
	replaced, kept, _ := fitFront(kept, blocks/dim.room)
	*useless = append(kept, replaced...)
	return dim.missing
}

// fitFront takes axes, and the major part of the last one, from the front of a list as long as there is room.
func fitFront(list []subaxis.Ref, room int64) (fitting, others []subaxis.Ref, left int64) {
	for len(list) > 0 {
		part, rest, left := fit(list[0], room)
		if part.Size == 0 {
			break
		}
		room, fitting, list = left, append(fitting, part), list[1:]
		if rest.Size > 0 {
			list = append([]subaxis.Ref{rest}, list...)
		}
	}
	return fitting, list, room
}

// union returns the axes of two lists in mesh order.
func union(a, b []subaxis.Ref) []subaxis.Ref {
	return subaxis.SortMerge(slices.Concat(a, subaxis.Difference(b, a)))
}
