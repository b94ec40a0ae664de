package space

import (
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// maxStrategies bounds the strategies of one op before suggestions; beyond it axes are placed on fewer factors,
// the largest ones first.
const maxStrategies = 256

// placements calls emit with every way to put each group of axes on one of n places or on none, where no place p takes
// more than its size allows: place p holds axes whose product divides sizes[p].
func (s *Space) placements(sizes []int64, emit func(places [][]subaxis.Ref)) {
	places := make([][]subaxis.Ref, len(sizes))
	var put func(i int)
	put = func(i int) {
		if i == len(s.groups) {
			if s.charge(layoutWork) {
				emit(places)
			}
			return
		}
		put(i + 1)
		for p, size := range sizes {
			if s.err != nil || size%(subaxis.Product(places[p])*subaxis.Product(s.groups[i])) != 0 {
				continue
			}
			before := places[p]
			places[p] = subaxis.AppendMerge(slices.Clone(before), s.groups[i]...)
			put(i + 1)
			places[p] = before
		}
	}
	put(0)
}

// tensorLayouts returns every way to cut a tensor of that shape.
func (s *Space) tensorLayouts(dims []int64) []collectives.Layout {
	var out []collectives.Layout
	s.placements(dims, func(places [][]subaxis.Ref) {
		out = append(out, collectives.Layout{Dims: slices.Clone(places)})
	})
	return out
}

// factorings returns every way to cut an op along its shardable factors.
func (s *Space) factorings(r *ir.Rule, shardable []bool) []collectives.Factors {
	var order []int
	for f := range shardable {
		if shardable[f] {
			order = append(order, f)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return int(min(1, max(-1, r.Sizes[b]-r.Sizes[a])))
	})
	for pow(len(order)+1, len(s.groups)) > maxStrategies && len(order) > 1 {
		order = order[:len(order)-1]
	}
	sizes := make([]int64, len(order))
	for i, f := range order {
		sizes[i] = r.Sizes[f]
	}
	var out []collectives.Factors
	s.placements(sizes, func(places [][]subaxis.Ref) {
		factors := make(collectives.Factors, len(r.Sizes))
		for i, f := range order {
			factors[f] = places[i]
		}
		out = append(out, factors)
	})
	return out
}

func pow(base, exponent int) int {
	n := 1
	for range exponent {
		n *= base
	}
	return n
}

// outcomes returns the layouts in which a result that is partial along some axes may be kept: every pending axis is
// reduced away, or reduced and scattered onto a dimension.
func (s *Space) outcomes(natural collectives.Layout, dims []int64) []collectives.Layout {
	reduced := natural
	reduced.Unreduced = nil
	out := []collectives.Layout{reduced}
	for _, r := range natural.Unreduced {
		for _, l := range slices.Clone(out) {
			for d := range dims {
				axes := subaxis.AppendMerge(slices.Clone(l.Dims[d]), r)
				if dims[d]%subaxis.Product(axes) != 0 {
					continue
				}
				scattered := l
				scattered.Dims = slices.Clone(l.Dims)
				scattered.Dims[d] = axes
				out = append(out, scattered)
			}
		}
	}
	return out
}

// allows says whether a layout respects a pin.
func (s *Space) allows(pin ir.ShardingID, l *collectives.Layout) bool {
	p := s.m.ShardingOf(pin)
	for d, axes := range l.Dims {
		want := p.Dims[d].Axes
		if p.Dims[d].Closed && !slices.Equal(axes, want) {
			return false
		}
		if !p.Dims[d].Closed && subaxis.PrefixStatus(want, axes) == subaxis.NotPrefix {
			return false
		}
		for _, r := range axes {
			if _, taken := subaxis.Overlapping(p.Replicated, r); taken {
				return false
			}
		}
	}
	return true
}

// pinned returns the layout that a pin names.
func (s *Space) pinned(pin ir.ShardingID) collectives.Layout {
	l := collectives.LayoutOf(s.m.ShardingOf(pin))
	l.Unreduced = nil
	return l
}
