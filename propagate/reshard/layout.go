package reshard

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// stride says how many elements apart the blocks of neighbours along an axis begin: num/den, in lowest terms. It is no
// whole number where the axis does not divide the dimension.
type stride struct {
	axis     subaxis.Ref
	num, den int64
}

// keepsLayout says whether a reshape needs no communication although some axis divides no factor: the same axes step
// through the elements with the same strides before and after, as in 8 elements over 3 devices that become 4x2
// (source: shardy.md section 1.6, reshard CSE).
func (w *task) keepsLayout() bool {
	a, b := w.shardings[0], w.shardings[1]
	if a == 0 || b == 0 {
		return false
	}
	s, t := w.m.ShardingOf(a), w.m.ShardingOf(b)
	return s.Mesh == t.Mesh && slices.Equal(s.Replicated, t.Replicated) &&
		slices.Equal(strides(s, w.m.Shape(w.tensor(w.op, 0))), strides(t, w.m.Shape(w.tensor(w.op, 1))))
}

// strides returns the axes of a sharding in the order of the dimensions, parts of an axis that step on merged.
func strides(s *ir.Sharding, shape []int64) []stride {
	inner := lists.Product(shape)
	var list []stride
	for d, dim := range s.Dims {
		inner /= max(shape[d], 1)
		num, den := shape[d]*inner, int64(1)
		for _, a := range dim.Axes {
			den *= int64(a.Size)
			g := subaxis.GCD(num, den)
			next := stride{a, num / g, den / g}
			if n := len(list); n > 0 && list[n-1].continues(&next) {
				next.axis = list[n-1].axis.Merge(a)
				list[n-1] = next
				continue
			}
			list = append(list, next)
		}
	}
	return list
}

// continues says whether a part of the same axis takes the steps between those of s.
func (s *stride) continues(next *stride) bool {
	size := int64(next.axis.Size)
	g := subaxis.GCD(size, next.den)
	return s.axis.CanMerge(next.axis) && s.num == next.num*(size/g) && s.den == next.den/g
}
