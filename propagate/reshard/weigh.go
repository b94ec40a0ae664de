package reshard

import (
	"cmp"
	"slices"
	"strings"

	"autoshard/subaxis"
)

// candidate is a list of axes that a factor could get.
type candidate struct {
	factor int32
	axes   []subaxis.Ref
	weight int64 // elements of the tensors whose axes begin with it
	rank   int   // by the type of the factor
	shards int64 // beyond those that the factor has
}

// weighed chooses axes for the factors one list at a time: the one that most elements are sharded by, of those that fit
// to what was chosen before.
func (w *task) weighed() [][]subaxis.Ref {
	common := make([][]subaxis.Ref, len(w.rule.Sizes))
	before := w.majorFactors()
	for list := w.candidates(); ; {
		best := w.best(list, before)
		if best == nil {
			break
		}
		chosen := *best
		common[chosen.factor] = chosen.axes
		if subaxis.Product(chosen.axes) == w.rule.Sizes[chosen.factor] {
			for f := range before {
				before[f] = slices.DeleteFunc(before[f], func(g int32) bool { return g == chosen.factor })
			}
		}
		list = remaining(list, &chosen, common)
	}
	w.moveFromWhole(common)
	return common
}

// majorFactors returns for each factor those right before it in a dimension of some tensor: they have to be cut
// completely before it is cut at all.
func (w *task) majorFactors() [][]int32 {
	before := make([][]int32, len(w.rule.Sizes))
	for t := range w.flagged {
		for _, factors := range w.factors.Dims(t) {
			for i := 1; i < len(factors); i++ {
				before[factors[i]] = append(before[factors[i]], factors[i-1])
			}
		}
	}
	return before
}

// candidates returns all prefixes of the axes that tensors have for factors.
func (w *task) candidates() []candidate {
	var list []candidate
	for f := range int32(len(w.rule.Sizes)) {
		first := len(list)
		for t := range w.flagged {
			if !w.factors.Maps(t, f) {
				continue
			}
			axes := w.factors.Axes(t, f)
			for n := len(axes); n > 0; n-- {
				prefix := axes[:n:n]
				if !slices.ContainsFunc(list[first:], func(c candidate) bool { return slices.Equal(c.axes, prefix) }) {
					list = append(list, candidate{f, prefix, w.weight(f, prefix), w.factorRank(f), subaxis.Product(prefix)})
				}
			}
		}
	}
	return list
}

// weight returns the number of elements of the tensors whose axes for a factor begin with a list.
func (w *task) weight(f int32, axes []subaxis.Ref) int64 {
	n := int64(0)
	for t := range w.flagged {
		if w.factors.Maps(t, f) && subaxis.PrefixStatus(axes, w.factors.Axes(t, f)) != subaxis.NotPrefix {
			n += w.elements(t)
		}
	}
	return n
}

// factorRank orders the types of factors: those that cost no communication first.
func (w *task) factorRank(f int32) int {
	switch {
	case slices.Contains(w.rule.NeedReplication, f):
		return 0
	case slices.Contains(w.rule.Permutation, f):
		return 1
	case slices.Contains(w.rule.Reduction, f):
		return 2
	}
	return 3
}

// best returns the best candidate whose factor may be cut now, nil if there is none.
func (w *task) best(list []candidate, before [][]int32) *candidate {
	var best *candidate
	for i := range list {
		c := &list[i]
		if len(before[c.factor]) == 0 && (best == nil || w.compare(c, best) > 0) {
			best = c
		}
	}
	return best
}

func (w *task) compare(a, b *candidate) int {
	return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.rank, b.rank), cmp.Compare(a.shards, b.shards),
		cmp.Compare(a.factor, b.factor), w.compareLists(a.axes, b.axes))
}

// compareLists orders lists by length, then axes by name, pre-size and size.
func (w *task) compareLists(a, b []subaxis.Ref) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	axes := w.m.Mesh(w.mesh).Axes
	return slices.CompareFunc(a, b, func(x, y subaxis.Ref) int {
		return cmp.Or(strings.Compare(axes[x.Axis].Name, axes[y.Axis].Name), cmp.Compare(x.Pre, y.Pre), cmp.Compare(x.Size, y.Size))
	})
}

// remaining returns the candidates that are left once one is chosen: those that extend it, and of the other factors
// what does not overlap it.
func remaining(list []candidate, chosen *candidate, common [][]subaxis.Ref) []candidate {
	out := list[:0]
	for _, c := range list {
		if c.factor == chosen.factor {
			if subaxis.PrefixStatus(chosen.axes, c.axes) != subaxis.StrictPrefix {
				continue
			}
			c.shards = subaxis.Product(c.axes) / subaxis.Product(chosen.axes)
			out = append(out, c)
			continue
		}
		rest := subaxis.TruncateOverlap(c.axes, chosen.axes)
		if len(rest) == len(c.axes) && slices.Equal(rest, c.axes) {
			c.shards = subaxis.Product(c.axes)
			out = append(out, c)
			continue
		}
		have := common[c.factor]
		if slices.Equal(rest, have) {
			continue
		}
		c.axes, c.shards = rest, subaxis.Product(rest)/subaxis.Product(have)
		out = append(out, c)
	}
	return out
}

// moveFromWhole takes the axes of factors that have to be whole away, and gives them to factors that all tensors have
// where they divide those.
func (w *task) moveFromWhole(common [][]subaxis.Ref) {
	for _, f := range w.rule.NeedReplication {
		axes := common[f]
		common[f] = nil
		if len(axes) == 0 || !w.isEverywhere(f) {
			continue
		}
		for g := range int32(len(common)) {
			if w.factorRank(g) == 3 && w.isEverywhere(g) {
				common[g], axes = fill(common[g], axes, w.rule.Sizes[g])
			}
		}
	}
}

// isEverywhere says whether all tensors beside scalars have a factor.
func (w *task) isEverywhere(f int32) bool {
	for t := range w.flagged {
		dims := w.factors.Dims(t)
		if len(dims) > 0 && !slices.ContainsFunc(dims, func(factors []int32) bool { return slices.Contains(factors, f) }) {
			return false
		}
	}
	return true
}

// fill appends axes to those of a factor as long as they divide what is left of it, and returns the rest.
func fill(have, axes []subaxis.Ref, size int64) (filled, rest []subaxis.Ref) {
	shards := subaxis.Product(have)
	if size == 0 || size%shards != 0 {
		return have, axes
	}
	have = slices.Clone(have)
	for capacity := size / shards; len(axes) > 0 && capacity%int64(axes[0].Size) == 0; axes = axes[1:] {
		capacity /= int64(axes[0].Size)
		have = subaxis.AppendMerge(have, axes[0])
	}
	return have, axes
}
