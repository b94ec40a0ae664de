package collectives

import (
	"slices"

	"autoshard/subaxis"
)

// Shardy orders the steps of a reshard as Shardy's partitioner does, which knows no prices: it slices first, while that
// is free, exchanges blocks between axes of the same size, moves axes between dimensions, and gathers last what is left.
// Where that does not lead to the goal, as with parts of one axis that have no common refinement, it goes by way of the
// whole tensor (source: shardy.md section 5.4). Unreduced axes that the goal lacks are reduced before; Shardy forgets
// them.
func Shardy(r *Reshard) []Step {
	if pending := subaxis.Difference(r.From.Unreduced, r.To.Unreduced); len(pending) > 0 {
		reduced := *r
		reduced.From.Unreduced = r.To.Unreduced
		return append([]Step{{Kind: AllReduce, Axes: pending, After: reduced.From}}, Shardy(&reduced)...)
	}
	if steps, ok := r.inShardysOrder(); ok {
		return steps
	}
	there, back := *r, *r
	whole := Layout{Dims: make([][]subaxis.Ref, len(r.Shape)), Unreduced: r.To.Unreduced, Reduction: r.To.Reduction}
	there.To, back.From, back.Reordered = whole, whole, false
	return append(Shardy(&there), Shardy(&back)...)
}

func (r *Reshard) inShardysOrder() ([]Step, bool) {
	if !coexist(r.From, r.To) {
		return nil, false
	}
	s := &sequence{at: r.From, dims: make([]dimension, len(r.Shape)), reordered: r.Reordered}
	cuts := cutPoints(&r.From, &r.To)
	rounds := 2
	for d := range s.dims {
		s.dims[d] = newDimension(r.Shape[d], refineAxes(r.From.Dims[d], cuts), refineAxes(r.To.Dims[d], cuts))
		rounds += len(s.dims[d].missing)
	}
	for range rounds {
		for _, take := range []func(){s.slice, s.permute, s.moveInOrder, s.moveAny, s.gather} {
			s.look()
			take()
		}
		if s.done() {
			return s.steps, true
		}
	}
	return nil, false
}

// sequence is a reshard on its way in Shardy's order. Axes are cut into parts that both ends are made of.
type sequence struct {
	dims      []dimension
	at        Layout // where the steps so far lead
	reordered bool   // a permutation has to bring the blocks to devices in another order
	steps     []Step

	place map[subaxis.Ref]place // of the axes that some dimension misses
	extra map[subaxis.Ref]bool  // the axes that some dimension has beyond what it shall keep
}

// dimension is one dimension on its way: it is cut by settled, which stays, and then extra, and misses axes after
// settled.
type dimension struct {
	size                    int64
	settled, extra, missing []subaxis.Ref
	room                    int64         // number of parts that it may still be cut into during the step at hand
	later                   []subaxis.Ref // axes that it misses only once it is whole, see newDimension
}

// newDimension begins with what both ends have in common. One whose blocks have to be padded to different sizes in all has
// to be whole in between.
func newDimension(size int64, have, want []subaxis.Ref) dimension {
	n := 0
	for n < min(len(have), len(want)) && have[n] == want[n] {
		n++
	}
	if from, to := subaxis.Product(have), subaxis.Product(want); from > 1 && to > 1 && padded(size, from) != padded(size, to) {
		return dimension{size: size, extra: have, later: want}
	}
	return dimension{size: size, settled: slices.Clone(have[:n]), extra: have[n:], missing: want[n:]}
}

// place is where an axis is missing: the dimension, and the index among what that misses.
type place struct{ dim, index int }

// padded returns the size of a dimension that makes that number of equal blocks.
func padded(size, blocks int64) int64 { return (size + blocks - 1) / blocks * blocks }

// look finds out anew where axes are extra or missing.
func (s *sequence) look() {
	s.place, s.extra = map[subaxis.Ref]place{}, map[subaxis.Ref]bool{}
	for d := range s.dims {
		dim := &s.dims[d]
		if len(dim.extra) == 0 {
			dim.missing, dim.later = append(dim.missing, dim.later...), nil
		}
		for i, a := range dim.missing {
			s.place[a] = place{d, i}
		}
		for _, a := range dim.extra {
			s.extra[a] = true
		}
	}
}

func (s *sequence) done() bool {
	return !s.reordered && !slices.ContainsFunc(s.dims, func(d dimension) bool { return len(d.extra)+len(d.missing)+len(d.later) > 0 })
}

// held returns all axes that cut the tensor.
func (s *sequence) held() []subaxis.Ref {
	var all []subaxis.Ref
	for d := range s.dims {
		all = append(append(all, s.dims[d].settled...), s.dims[d].extra...)
	}
	return all
}

// step adds a step to the sequence. The dimensions that it is about are cut afterwards as they are now said to be.
func (s *sequence) step(step Step) {
	after := Layout{Dims: slices.Clone(s.at.Dims), Unreduced: s.at.Unreduced, Reduction: s.at.Reduction}
	for d := range s.dims {
		if step.Kind == Permute || d == step.Dim || step.Kind == AllToAll && d == step.To {
			after.Dims[d] = merge(slices.Concat(s.dims[d].settled, s.dims[d].extra))
		}
	}
	step.Axes, step.After = merge(step.Axes), after
	s.at, s.steps = after, append(s.steps, step)
}

// stepPerDim adds one step about the axes of several dimensions.
func (s *sequence) stepPerDim(kind Kind, axes [][]subaxis.Ref) {
	joint := false
	for d := range axes {
		if len(axes[d]) > 0 {
			s.step(Step{Kind: kind, Axes: axes[d], Dim: d, Joint: joint})
			joint = true
		}
	}
}

// fit returns the major part of an axis for which there is room and what remains of it, an axis of size 0 where there is
// none, and the room that is left.
func fit(a subaxis.Ref, room int64) (part, rest subaxis.Ref, left int64) {
	size := int64(a.Size)
	switch {
	case room <= 1 || room%size != 0 && size%room != 0:
		return subaxis.Ref{}, a, room
	case room >= size:
		return a, subaxis.Ref{}, room / size
	}
	n := int32(room)
	return subaxis.Ref{Axis: a.Axis, Pre: a.Pre, Size: n}, subaxis.Ref{Axis: a.Axis, Pre: a.Pre * n, Size: a.Size / n}, 1
}

// slice cuts dimensions by axes that nothing uses, as far as they will not have to be joined again.
func (s *sequence) slice() {
	for d := range s.dims {
		have, want := subaxis.Product(s.dims[d].extra), subaxis.Product(s.dims[d].missing)
		s.dims[d].room = want / subaxis.GCD(have, want)
	}
	sliced := make([][]subaxis.Ref, len(s.dims))
	for d := range s.dims {
		for _, a := range s.companions(d) {
			s.cut(d, a, sliced)
		}
	}
	var free []subaxis.Ref
	for d := range s.dims {
		free = append(free, s.sliceMissing(d, sliced)...)
	}
	for d := range s.dims {
		free = s.fillRoom(d, free, func(a subaxis.Ref) { s.cut(d, a, sliced) })
	}
	s.alignMissing()
	s.stepPerDim(AllSlice, sliced)
}

// cut cuts a dimension by an axis that it does not keep.
func (s *sequence) cut(d int, a subaxis.Ref, sliced [][]subaxis.Ref) {
	s.dims[d].extra = append(s.dims[d].extra, a)
	s.extra[a] = true
	sliced[d] = append(sliced[d], a)
}

// companions returns unused axes by which a dimension is cut although another one misses them: those right behind the
// axes that it will give to that one, with which they then travel.
func (s *sequence) companions(d int) []subaxis.Ref {
	from := &s.dims[d]
	n := len(from.extra)
	if n == 0 || len(from.missing)+len(from.later) > 0 {
		return nil
	}
	at, ok := s.place[from.extra[n-1]]
	if !ok || len(s.dims[at.dim].extra) > 0 {
		return nil
	}
	to := &s.dims[at.dim]
	var free []subaxis.Ref
	for i := at.index + 1; i < len(to.missing) && !s.extra[to.missing[i]]; i++ {
		free = append(free, to.missing[i])
	}
	common := 0
	for common < n && common <= at.index && from.extra[n-1-common] == to.missing[at.index-common] {
		common++
	}
	others := slices.ContainsFunc(from.extra[:n-common], func(a subaxis.Ref) bool {
		p, ok := s.place[a]
		return ok && p.dim == at.dim
	})
	shards := subaxis.Product(from.settled) * subaxis.Product(from.extra) * subaxis.Product(free)
	if len(free) == 0 || others || from.size%shards != 0 {
		return nil
	}
	to.room /= subaxis.Product(from.extra[n-common:]) * subaxis.Product(free)
	return free
}

// sliceMissing cuts a dimension by the unused axes that it misses, as far as there is room, and returns the others.
func (s *sequence) sliceMissing(d int, sliced [][]subaxis.Ref) (free []subaxis.Ref) {
	dim := &s.dims[d]
	missing := dim.missing
	dim.missing = nil
	for _, a := range missing {
		if s.extra[a] {
			dim.missing = append(dim.missing, a)
			continue
		}
		part, rest, left := fit(a, dim.room)
		dim.room = left
		switch {
		case part.Size == 0:
		case len(dim.extra) == 0 && len(dim.missing) == 0:
			dim.settled = append(dim.settled, part)
			sliced[d] = append(sliced[d], part)
		default:
			s.cut(d, part, sliced)
			dim.missing = append(dim.missing, part)
		}
		if rest.Size > 0 {
			dim.missing = append(dim.missing, rest)
			free = append(free, rest)
		}
	}
	return free
}

// fillRoom gives a dimension those of the axes for which it has room, and returns the others. What remains of an axis that
// fits in part comes first among them.
func (s *sequence) fillRoom(d int, axes []subaxis.Ref, give func(subaxis.Ref)) (others []subaxis.Ref) {
	for _, a := range axes {
		part, rest, left := fit(a, s.dims[d].room)
		s.dims[d].room = left
		switch {
		case part.Size == 0:
			others = append(others, a)
			continue
		case rest.Size > 0:
			others = append([]subaxis.Ref{rest}, others...)
		}
		give(part)
	}
	return others
}

// alignMissing cuts missing axes where parts of them have become extra.
func (s *sequence) alignMissing() {
	var all Layout
	for d := range s.dims {
		all.Dims = append(all.Dims, s.dims[d].extra, s.dims[d].missing)
	}
	cuts := cutPoints(&all)
	for d := range s.dims {
		s.dims[d].missing = refineAxes(s.dims[d].missing, cuts)
	}
}

// moveInOrder moves axes from the end of one dimension to another one that misses them next.
func (s *sequence) moveInOrder() { s.move(true) }

// moveAny moves axes from the end of one dimension to another one that misses them at all.
func (s *sequence) moveAny() { s.move(false) }

func (s *sequence) move(inOrder bool) {
	for d := range s.dims {
		for s.moveFrom(d, inOrder) {
			s.look()
		}
	}
}

// moveFrom moves the last axes of a dimension that all are missing in one other, if there are any.
func (s *sequence) moveFrom(d int, inOrder bool) bool {
	from := &s.dims[d]
	first, to := len(from.extra), -1
	for ; first > 0; first-- {
		at, ok := s.place[from.extra[first-1]]
		if !ok || at.dim == d || to >= 0 && at.dim != to {
			break
		}
		to = at.dim
	}
	if to < 0 || first > 0 && len(from.later) > 0 {
		return false
	}
	moved, target := from.extra[first:], &s.dims[to]
	if inOrder && (len(moved) > len(target.missing) || !slices.Equal(moved, target.missing[:len(moved)])) {
		return false
	}
	from.extra = from.extra[:first:first]
	for _, a := range moved {
		if len(target.extra) == 0 && target.missing[0] == a {
			target.settled, target.missing = append(target.settled, a), target.missing[1:]
		} else {
			target.extra = append(target.extra, a)
		}
	}
	s.step(Step{Kind: AllToAll, Axes: moved, Dim: d, To: to})
	return true
}

// gather joins dimensions along the axes at their ends that no dimension misses.
func (s *sequence) gather() {
	gathered := make([][]subaxis.Ref, len(s.dims))
	for d := range s.dims {
		dim := &s.dims[d]
		n := len(dim.extra)
		for ; n > 0; n-- {
			if _, ok := s.place[dim.extra[n-1]]; ok && len(dim.later) == 0 {
				break
			}
		}
		gathered[d], dim.extra = dim.extra[n:], dim.extra[:n:n]
	}
	s.stepPerDim(AllGather, gathered)
}
