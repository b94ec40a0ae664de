package space

import (
	"cmp"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// place is what axes are put on: a dimension or a factor of that size. One that may be padded need not be divided by them.
type place struct {
	size   int64
	padded bool
}

// Padding must not be more than one of so many elements of a place that the search pads. 12 heads over 8 devices would take a third more of
// everything that is computed with them; 16 rows over 3 an eighth.
const (
	mostPadding = 8   // where no other place of the op or tensor takes the axes evenly
	littleLoss  = 256 // anywhere: a vocabulary of 50257 loses next to nothing
)

// pads says whether padding is at most one of so many elements of a place that is cut in so many parts.
func (p place) pads(parts, most int64) bool {
	stored := (p.size + parts - 1) / parts * parts
	return p.padded && (stored-p.size)*most <= stored
}

// placements calls emit with every way to put each group of axes on one of some places or on none, where place p holds axes whose product
// divides its size, or pads it. A group that does not fit a place may be split: its largest major part that fits is put there, and the
// rest on another place or on none.
func (s *Space) placements(on []place, emit func(places [][]subaxis.Ref)) {
	p := &placer{Space: s, on: on, places: make([][]subaxis.Ref, len(on)), most: make([]int64, len(on)), emit: emit}
	p.next(0)
}

// placer puts groups on places, one after the other.
type placer struct {
	*Space
	on     []place
	places [][]subaxis.Ref
	most   []int64 // per place: one of how many elements may be padding for the axes that are there
	emit   func(places [][]subaxis.Ref)
}

// next places the groups from i on in every way.
func (p *placer) next(i int) {
	if i == len(p.groups) {
		if p.little() && p.charge(layoutWork) {
			p.emit(p.places)
		}
		return
	}
	p.next(i + 1)
	g := &p.groups[i]
	for at := range p.on {
		if p.err != nil {
			return
		}
		fits := p.fits(at, g.axes)
		if fits || p.mayPad(at, g.axes) {
			before := p.most[at]
			p.most[at] = max(before, p.mostFor(g.axes))
			p.with(at, g.axes, func() { p.next(i + 1) })
			p.most[at] = before
		}
		if fits {
			continue
		}
		major := func(major subaxis.Ref) bool { return p.fits(at, []subaxis.Ref{major}) }
		if n := slices.IndexFunc(g.majors, major); n >= 0 {
			p.with(at, g.majors[n:n+1], func() { p.rest(i, at, g.majors[n]) })
		}
	}
}

// rest goes on with what is left of group i, whose major part is on a place: on any other place or on none.
func (p *placer) rest(i, taken int, major subaxis.Ref) {
	p.next(i + 1)
	rest, _ := p.groups[i].axes[0].SuffixWithout(major)
	for at := range p.on {
		if at != taken && p.fits(at, []subaxis.Ref{rest}) {
			p.with(at, []subaxis.Ref{rest}, func() { p.next(i + 1) })
		}
	}
}

func (p *placer) fits(at int, axes []subaxis.Ref) bool {
	return p.on[at].size%(subaxis.Product(p.places[at])*subaxis.Product(axes)) == 0
}

// mayPad says whether axes that do not divide a place may be put there, with others perhaps, since most blocks have elements then.
func (p *placer) mayPad(at int, axes []subaxis.Ref) bool {
	parts := subaxis.Product(p.places[at]) * subaxis.Product(axes)
	return p.on[at].padded && (parts-p.on[at].size)*mostPadding <= parts
}

// mostFor returns one of how many elements may be padding for some axes.
func (p *placer) mostFor(axes []subaxis.Ref) int64 {
	n := subaxis.Product(axes)
	if slices.ContainsFunc(p.on, func(o place) bool { return o.size%n == 0 && o.size > n }) {
		return littleLoss
	}
	return mostPadding
}

// little says whether no place has more padding than it may have.
func (p *placer) little() bool {
	for at, axes := range p.places {
		if n := subaxis.Product(axes); p.on[at].size%n != 0 && !p.on[at].pads(n, p.most[at]) {
			return false
		}
	}
	return true
}

// with goes on with axes on a place.
func (p *placer) with(at int, axes []subaxis.Ref, proceed func()) {
	before := p.places[at]
	p.places[at] = subaxis.AppendMerge(slices.Clone(before), axes...)
	proceed()
	p.places[at] = before
}

// tensorLayouts returns every way to cut a tensor of that shape, which may be padded.
func (s *Space) tensorLayouts(dims []int64, padded bool) []collectives.Layout {
	var out []collectives.Layout
	on := make([]place, len(dims))
	for d, n := range dims {
		on[d] = place{n, padded}
	}
	s.placements(on, func(places [][]subaxis.Ref) {
		out = append(out, collectives.Layout{Dims: slices.Clone(places)})
	})
	return out
}

// factorings calls emit with every way to cut an op along the factors that have parts.
func (s *Space) factorings(r *ir.Rule, parts []int64, padded []bool, emit func(collectives.Factors)) {
	var order []int
	for f := range parts {
		if parts[f] > 1 {
			order = append(order, f)
		}
	}
	// Of strategies that cost the same the first ones win: those that cut large factors.
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Sizes[b], r.Sizes[a]) })
	on := make([]place, len(order))
	for i, f := range order {
		on[i] = place{parts[f], padded[f] && parts[f] == r.Sizes[f]}
	}
	s.placements(on, func(places [][]subaxis.Ref) {
		factors := make(collectives.Factors, len(r.Sizes))
		for i, f := range order {
			factors[f] = places[i]
		}
		emit(factors)
	})
}

// outcomes returns the layouts in which a result that comes out of its op in a natural one may be kept: every pending axis is
// reduced away, or reduced and scattered onto a dimension. What can be cut only once it is made may be sliced then: the dimensions
// that are uncut whatever the strategy.
func (s *Space) outcomes(natural collectives.Layout, dims []int64, uncut []bool) []collectives.Layout {
	reduced := natural
	reduced.Unreduced = nil
	out := []collectives.Layout{reduced}
	for _, r := range natural.Unreduced {
		for _, l := range slices.Clone(out) {
			for d := range dims {
				out = appendCut(out, l, d, dims[d], r)
			}
		}
	}
	if !slices.Contains(uncut, true) {
		return out
	}
	taken := slices.Concat(slices.Concat(natural.Dims...), natural.Unreduced)
	for _, g := range s.groups {
		if subaxis.Intersect(g.axes, taken) {
			continue
		}
		for _, l := range slices.Clone(out) {
			for d := range dims {
				if uncut[d] {
					out = appendCut(out, l, d, dims[d], g.axes...)
				}
			}
		}
	}
	return out
}

// appendCut appends a layout with more axes on a dimension of that size, if they divide it.
func appendCut(all []collectives.Layout, l collectives.Layout, d int, size int64, more ...subaxis.Ref) []collectives.Layout {
	axes := subaxis.AppendMerge(slices.Clone(l.Dims[d]), more...)
	if size%subaxis.Product(axes) != 0 {
		return all
	}
	l.Dims = slices.Clone(l.Dims)
	l.Dims[d] = axes
	return append(all, l)
}

// uncut returns the dimensions of the only result of an op along which no strategy of the op cuts it, or only one that may have to
// send for it. A result that need not be in memory has none: it is sliced by who reads it.
func (s *Space) uncut(v ir.ValueID, r *ir.Rule, parts []int64) []bool {
	sends := func(f int32) bool { return slices.Contains(r.Permutation, f) || slices.Contains(r.NeedReplication, f) }
	out := make([]bool, len(r.Results[0]))
	for d, factors := range r.Results[0] {
		out[d] = !s.unheld[v] && !slices.ContainsFunc(factors, func(f int32) bool { return parts[f] > 1 && !sends(f) })
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
