package collectives

import (
	"slices"

	"autoshard/subaxis"
)

// expand tries every step from a node that brings some dimension towards the goal.
func (s *route) expand(at int) {
	s.reduce(at)
	for d := range s.goal.Dims {
		s.extend(at, d)
		s.gather(at, d)
		s.permuteDim(at, d)
		for to := range s.goal.Dims {
			if to != d {
				s.allToAll(at, d, to)
			}
		}
	}
	s.permuteAll(at)
}

// with returns the node's layout with one dimension replaced.
func (s *route) with(at, d int, axes []subaxis.Ref) Layout {
	l := s.nodes[at].layout
	l.Dims = slices.Clone(l.Dims)
	l.Dims[d] = axes
	return l
}

// missing returns the axes that dimension d still lacks, if what it has is a prefix of the goal.
func (s *route) missing(at, d int) []subaxis.Ref {
	have, want := s.nodes[at].layout.Dims[d], s.goal.Dims[d]
	if len(have) > len(want) || !slices.Equal(have, want[:len(have)]) {
		return nil
	}
	return want[len(have):]
}

// pending returns the unreduced axes that the goal does not keep.
func (s *route) pending(at int) []subaxis.Ref {
	var out []subaxis.Ref
	for _, r := range s.nodes[at].layout.Unreduced {
		if !slices.Contains(s.goal.Unreduced, r) {
			out = append(out, r)
		}
	}
	return out
}

func without(axes, removed []subaxis.Ref) []subaxis.Ref {
	return slices.DeleteFunc(slices.Clone(axes), func(r subaxis.Ref) bool { return slices.Contains(removed, r) })
}

func (s *route) reduce(at int) {
	pending := s.pending(at)
	if len(pending) == 0 {
		return
	}
	after := s.nodes[at].layout
	after.Unreduced = without(after.Unreduced, pending)
	s.add(at, Step{Kind: AllReduce, Axes: pending}, after)
}

// extend cuts dimension d further: by axes that nothing uses (a slice) or by axes that await reduction.
func (s *route) extend(at, d int) {
	missing := s.missing(at, d)
	used := allAxes(&s.nodes[at].layout)
	free := 0
	for free < len(missing) && !slices.Contains(used, missing[free]) {
		free++
	}
	if free > 0 {
		after := s.with(at, d, s.goal.Dims[d][:len(s.goal.Dims[d])-len(missing)+free])
		s.add(at, Step{Kind: AllSlice, Axes: missing[:free], Dim: d}, after)
	}
	pending, n := s.pending(at), 0
	for n < len(missing) && slices.Contains(pending, missing[n]) {
		n++
	}
	if n > 0 {
		after := s.with(at, d, s.goal.Dims[d][:len(s.goal.Dims[d])-len(missing)+n])
		after.Unreduced = without(after.Unreduced, missing[:n])
		s.add(at, Step{Kind: ReduceScatter, Axes: missing[:n], Dim: d}, after)
	}
}

// gather joins dimension d along its minor axes, down to what it has in common with the goal.
func (s *route) gather(at, d int) {
	have, want := s.nodes[at].layout.Dims[d], s.goal.Dims[d]
	common := 0
	for common < len(have) && common < len(want) && have[common] == want[common] {
		common++
	}
	for keep := common; keep < len(have); keep++ {
		s.add(at, Step{Kind: AllGather, Axes: have[keep:], Dim: d}, s.with(at, d, have[:keep:keep]))
	}
}

// allToAll moves minor axes of one dimension to where another one needs them next.
func (s *route) allToAll(at, from, to int) {
	have, missing := s.nodes[at].layout.Dims[from], s.missing(at, to)
	for n := 1; n <= min(len(have), len(missing)); n++ {
		tail := have[len(have)-n:]
		if !slices.Equal(tail, missing[:n]) {
			continue
		}
		after := s.with(at, from, have[:len(have)-n:len(have)-n])
		after.Dims[to] = s.goal.Dims[to][:len(after.Dims[to])+n]
		s.add(at, Step{Kind: AllToAll, Axes: tail, Dim: from, To: to}, after)
	}
}

// permuteDim exchanges the axes of dimension d for axes of the goal that nothing else uses, where the number of
// blocks stays the same.
func (s *route) permuteDim(at, d int) {
	have, want := s.nodes[at].layout.Dims[d], s.goal.Dims[d]
	for n := 1; n <= len(want); n++ {
		if subaxis.Product(want[:n]) != subaxis.Product(have) || slices.Equal(want[:n], have) {
			continue
		}
		elsewhere := s.with(at, d, nil)
		used := allAxes(&elsewhere)
		if slices.ContainsFunc(want[:n], func(r subaxis.Ref) bool { return slices.Contains(used, r) }) {
			continue
		}
		s.permute(at, s.with(at, d, want[:n:n]))
	}
}

// permuteAll goes straight to the goal where every dimension keeps its number of blocks.
func (s *route) permuteAll(at int) {
	l := &s.nodes[at].layout
	if !slices.Equal(l.Unreduced, s.goal.Unreduced) {
		return
	}
	for d := range l.Dims {
		if subaxis.Product(l.Dims[d]) != subaxis.Product(s.goal.Dims[d]) {
			return
		}
	}
	s.permute(at, s.goal)
}

func (s *route) permute(at int, after Layout) {
	before := Layout{Dims: s.nodes[at].layout.Dims}
	s.add(at, Step{Kind: Permute, Axes: union(allAxes(&before), allAxes(&Layout{Dims: after.Dims}))}, after)
}

// union returns the axes of two lists in mesh order.
func union(a, b []subaxis.Ref) []subaxis.Ref {
	return subaxis.SortMerge(slices.Concat(a, subaxis.Difference(b, a)))
}
