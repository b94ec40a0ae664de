package reshard

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// full shards every factor of the op alike in all tensors that have it, and returns the axes along which factors that
// the op sums over are sharded then (source: shardy.md section 5.3.1).
func (w *task) full() []subaxis.Ref {
	for t := range w.flagged {
		w.flagged[t] = w.overflows(t)
	}
	if w.m.Kind(w.op) == ir.OpReshape && slices.Contains(w.flagged, true) {
		if !w.keepsLayout() {
			w.reshape()
		}
		return nil
	}
	common := w.commonAxes()
	w.spareUnreduced(common)
	for t := range w.flagged {
		for f := range common {
			w.set(t, int32(f), common[f], nil)
		}
	}
	w.apply()
	var reduced []subaxis.Ref
	for _, f := range w.rule.Reduction {
		reduced = append(reduced, common[f]...)
	}
	return reduced
}

// overflows says whether some axes of a tensor fit no factor.
func (w *task) overflows(t int) bool {
	for f := range int32(len(w.rule.Sizes)) {
		if len(w.factors.Overflow(t, f)) > 0 {
			return true
		}
	}
	return false
}

// commonAxes returns the axes that each factor gets.
func (w *task) commonAxes() [][]subaxis.Ref {
	if common, ok := w.agreed(); ok {
		return common
	}
	if a, b, ok := w.pair(); ok {
		return w.preferred(a, b)
	}
	return w.weighed()
}

// spareUnreduced cuts the axes of factors off where a tensor that has the factor is unreduced along them.
func (w *task) spareUnreduced(common [][]subaxis.Ref) {
	for t := range w.flagged {
		axes := w.unreduced(w.shardings[t])
		if len(axes) == 0 {
			continue
		}
		for f := range common {
			if w.factors.Maps(t, int32(f)) && subaxis.Intersect(common[f], axes) {
				common[f] = subaxis.TruncateOverlap(common[f], axes)
			}
		}
	}
}

// agreed returns the axes of each factor where all tensors that have it agree, no axis serves two factors and no
// factor that has to be whole is cut.
func (w *task) agreed() ([][]subaxis.Ref, bool) {
	common := make([][]subaxis.Ref, len(w.rule.Sizes))
	var used []subaxis.Ref
	for f := range int32(len(common)) {
		first := true
		for t := range w.flagged {
			switch {
			case !w.factors.Maps(t, f):
			case first:
				common[f], first = w.factors.Axes(t, f), false
			case !slices.Equal(common[f], w.factors.Axes(t, f)):
				return nil, false
			}
		}
		if len(common[f]) > 0 && slices.Contains(w.rule.NeedReplication, f) {
			return nil, false
		}
		for _, a := range common[f] {
			if _, overlaps := subaxis.Overlapping(used, a); overlaps {
				return nil, false
			}
		}
		used = append(used, common[f]...)
	}
	return common, true
}

// pair returns the two tensors of an op that has no more of them beside scalars, if its factors are simple: none has to
// be whole, and no dimension has two.
func (w *task) pair() (a, b int, ok bool) {
	var shaped []int
	for t := range w.flagged {
		dims := w.factors.Dims(t)
		if len(dims) > 0 {
			shaped = append(shaped, t)
		}
		if slices.ContainsFunc(dims, func(factors []int32) bool { return len(factors) > 1 }) {
			return 0, 0, false
		}
	}
	if len(shaped) != 2 || len(w.rule.NeedReplication) > 0 {
		return 0, 0, false
	}
	return shaped[0], shaped[1], true
}

// preferred lets the better one of two tensors keep its axes, and the other one what fits to that.
func (w *task) preferred(a, b int) [][]subaxis.Ref {
	if w.isBetter(b, a) {
		a, b = b, a
	}
	common := make([][]subaxis.Ref, len(w.rule.Sizes))
	var used []subaxis.Ref
	for f := range int32(len(common)) {
		if w.factors.Maps(a, f) {
			common[f] = w.factors.Axes(a, f)
			used = append(used, common[f]...)
		}
	}
	for f := range int32(len(common)) {
		if !w.factors.Maps(a, f) && w.factors.Maps(b, f) {
			common[f] = subaxis.TruncateOverlap(w.factors.Axes(b, f), used)
		}
	}
	return common
}

// isBetter says whether tensor a rather keeps its sharding than b: no permuted factor is cut, it is larger, or it is
// cut into more shards.
func (w *task) isBetter(a, b int) bool {
	if p, q := w.permutes(a), w.permutes(b); p != q {
		return q
	}
	if p, q := w.elements(a), w.elements(b); p != q {
		return p > q
	}
	return w.shards(a) > w.shards(b)
}

// permutes says whether a factor along which neighbours exchange elements is cut in a tensor.
func (w *task) permutes(t int) bool {
	return slices.ContainsFunc(w.rule.Permutation, func(f int32) bool { return len(w.factors.Axes(t, f)) > 0 })
}

// shards returns into how many shards a tensor is cut, without axes that fit no factor.
func (w *task) shards(t int) int64 {
	n := int64(1)
	for f := range int32(len(w.rule.Sizes)) {
		n *= subaxis.Product(w.factors.Axes(t, f))
	}
	return n
}
