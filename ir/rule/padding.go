package rule

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/localform"
)

// padding says which factors of a family's ops may have dimensions that are padded at the high end, with anything.
type padding uint8

const (
	unpadded padding = iota
	passing          // those that pass through: what stands in padding stays there
	masked           // besides, those that are summed or searched, where the padding can be hidden before
	owned            // besides, those along which devices change or search what they have
)

// Paddable is the third verdict of a family, beside the rule and [Shardable]: which factors may be cut by axes that do not divide them.
// Their dimensions are padded then, all to one size, and the op is changed so that nothing of the padding gets into its result. A
// factor has to come first in every dimension that it is part of, so that the padding lies at the end of each.
func Paddable(m *ir.Module, op ir.OpID, r *ir.Rule) []bool {
	out := make([]bool, len(r.Sizes))
	family, call := KindFamily(m.Kind(op)), m.Kind(op) == ir.OpCustomCall
	if !call && (family == nil || family.pads == unpadded || m.Kind(op).Communicates() || m.Attr(op, Attr) != nil) {
		return out
	}
	v, _ := judge(m, op, r)
	for f, n := range r.Sizes {
		out[f] = n > 1 && v.parts[f] == n
	}
	if call {
		return v.independent(out)
	}
	whole := func(factors []int32) {
		for _, f := range factors {
			out[f] = false
		}
	}
	if whole(r.NeedReplication); family.pads < masked {
		whole(r.Reduction)
	}
	if family.pads < owned || !lastKnown(m, op) {
		whole(r.Permutation)
	}
	joined := slices.Clone(v.joined())
	for _, d := range localform.Dims(m, op, m.Shape) {
		dims := v.places(&d)
		if f := dims[0][0]; d.Kernel < 0 && v.alone(f, dims) {
			out[f] = r.Sizes[f] > 1 && v.why[f] == ""
			joined = append(joined, f) // windows may have a factor of their own behind it
		}
		for _, factors := range dims { // windows of a kernel
			whole(slices.DeleteFunc(slices.Clone(factors), func(f int32) bool { return !slices.Contains(r.Reduction, f) }))
		}
	}
	v.leading(out, joined)
	return out
}

// lastKnown says whether it is known what an op that sorts puts behind all elements that count.
func lastKnown(m *ir.Module, op ir.OpID) bool {
	if m.Kind(op) != ir.OpSort {
		return true
	}
	s := localform.Sorted(m, op, localform.Counts(m))
	_, ok := s.Lasts(m, op)
	return ok
}

// joined returns the factors that others follow in a dimension that they pad: those of a reshape, and the groups of a convolution, which
// are padded as wholes.
func (v *verdict) joined() []int32 {
	if v.m.Kind(v.op) == ir.OpReshape {
		return lists.Of(len(v.rule.Sizes), func(f int) int32 { return int32(f) })
	}
	if dim, ok := Grouped(v.m, v.op); ok {
		return v.rule.Operands[0][dim][:1]
	}
	return nil
}

// Grouped returns the dimension of a convolution's first operand that consists of groups; false where there are none.
func Grouped(m *ir.Module, op ir.OpID) (dim int64, ok bool) {
	c, ok := m.Attr(op, "dimension_numbers").(*ir.ConvDims)
	switch a := m.OpAttrs(op); {
	case !ok:
		return 0, false
	case a.Int("batch_group_count", 1) > 1:
		return c.InBatch, true
	default:
		return c.InFeature, a.Int("feature_group_count", 1) > 1
	}
}

// independent leaves the factors of a custom call along which its target is known to solve independent problems.
func (v *verdict) independent(out []bool) []bool {
	if v.m.IndependentDims(v.op) == nil {
		return make([]bool, len(out))
	}
	return out
}

// leading leaves only those factors that come first in every dimension, of those that have elements to order, and have others behind them
// only if they are joined.
func (v *verdict) leading(out []bool, joined []int32) {
	for _, mapping := range slices.Concat(v.rule.Operands, v.rule.Results) {
		for _, factors := range mapping {
			first := true
			for i, f := range factors {
				if v.rule.Sizes[f] == 1 {
					continue
				}
				out[f] = out[f] && first && (i == len(factors)-1 || slices.Contains(joined, f))
				first = false
			}
		}
	}
}

// Leading returns the factor whose padding is that of a dimension: the first that has more than one element; false if there is none.
func Leading(r *ir.Rule, dim []int32) (int32, bool) {
	for _, f := range dim {
		if r.Sizes[f] > 1 {
			return f, true
		}
	}
	return 0, false
}
