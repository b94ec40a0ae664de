package reshard

import (
	"slices"

	"autoshard/ir"
	"autoshard/propagate"
	"autoshard/subaxis"
)

// reshape handles a reshape one of whose tensors has axes that fit none of its factors: the axes of the side that has
// more of them are distributed anew over both sides, each as far as it divides, and both keep what they have in common
// (source: shardy.md section 5.3.3).
func (w *task) reshape() {
	prefer := 0
	if w.allShards(1) > w.allShards(0) {
		prefer = 1
	}
	var axes []subaxis.Ref
	for f := range int32(len(w.rule.Sizes)) {
		if w.factors.Maps(prefer, f) {
			axes = append(append(axes, w.factors.Axes(prefer, f)...), w.factors.Overflow(prefer, f)...)
		}
	}
	built := make([]ir.ShardingID, 2)
	for t := range built {
		w.distribute(t, axes)
		built[t] = w.m.InternSharding(w.factors.Sharding(t, w.mesh))
	}
	var again propagate.Projection
	again.Project(w.m, w.mesh, w.rule, built)
	for f := range int32(len(w.rule.Sizes)) {
		common := commonPrefix(&again, f)
		for t := range built {
			w.factors.Set(t, f, common, nil)
		}
	}
	for t := range built {
		w.flagged[t] = !w.m.Equivalent(w.sharding(w.tensor(w.op, t)), w.m.InternSharding(w.factors.Sharding(t, w.mesh)))
	}
	w.apply()
}

// allShards returns into how many shards a tensor is cut.
func (w *task) allShards(t int) int64 {
	n := w.shards(t)
	for f := range int32(len(w.rule.Sizes)) {
		n *= subaxis.Product(w.factors.Overflow(t, f))
	}
	return n
}

// distribute shards a tensor along axes, each over the first factors that it has a divisor in common with. What is left
// when an axis fits nowhere overflows at the last factor.
func (w *task) distribute(t int, axes []subaxis.Ref) {
	var factors []int32
	for _, dim := range w.factors.Dims(t) {
		for _, f := range dim {
			if w.factors.Maps(t, f) {
				factors = append(factors, f)
			}
			w.factors.Set(t, f, nil, nil)
		}
	}
	if len(factors) == 0 {
		return
	}
	lists, rest := make([][]subaxis.Ref, len(factors)), make([]int64, len(factors))
	for i, f := range factors {
		rest[i] = w.rule.Sizes[f]
	}
	var overflow []subaxis.Ref
	for i, a := range axes {
		left, fits := place(a, lists, rest)
		if !fits {
			overflow = append([]subaxis.Ref{left}, axes[i+1:]...)
			break
		}
	}
	for i, f := range factors {
		if i < len(factors)-1 {
			w.factors.Set(t, f, lists[i], nil)
		} else {
			w.factors.Set(t, f, lists[i], overflow)
		}
	}
}

// place gives an axis to the factors in turn, to each the major part that divides what is left of it. It returns what
// is left of the axis, and whether that is nothing.
func place(a subaxis.Ref, lists [][]subaxis.Ref, rest []int64) (subaxis.Ref, bool) {
	for i := range lists {
		g := subaxis.GCD(rest[i], int64(a.Size))
		if rest[i] <= 1 || g == 1 && a.Size != 1 {
			continue
		}
		part := subaxis.Ref{Axis: a.Axis, Pre: a.Pre, Size: int32(g)}
		lists[i], rest[i] = subaxis.AppendMerge(lists[i], part), rest[i]/g
		if part == a {
			return a, true
		}
		a = subaxis.Ref{Axis: a.Axis, Pre: a.Pre * part.Size, Size: a.Size / part.Size}
	}
	return a, false
}

// commonPrefix returns what the tensors that have a factor agree on.
func commonPrefix(p *propagate.Projection, f int32) []subaxis.Ref {
	var common []subaxis.Ref
	first := true
	for t := range p.Tensors() {
		switch {
		case !p.Maps(t, f):
		case first:
			common, first = slices.Clone(p.Axes(t, f)), false
		default:
			common = subaxis.CommonPrefix(common, p.Axes(t, f))
		}
	}
	return common
}
