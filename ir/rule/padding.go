package rule

import (
	"slices"

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
	family := KindFamily(m.Kind(op))
	if family == nil || family.pads == unpadded || m.Kind(op).Communicates() || m.Attr(op, Attr) != nil {
		return out
	}
	v, _ := judge(m, op, r)
	for f, n := range r.Sizes {
		out[f] = n > 1 && v.parts[f] == n
	}
	whole := func(factors []int32) {
		for _, f := range factors {
			out[f] = false
		}
	}
	if whole(r.NeedReplication); family.pads < masked {
		whole(r.Reduction)
	}
	if family.pads < owned {
		whole(r.Permutation)
	}
	for _, d := range localform.Dims(m, op, m.Shape) {
		dims := v.places(&d)
		if f := dims[0][0]; d.Kernel < 0 && v.alone(f, dims) {
			out[f] = r.Sizes[f] > 1 && v.why[f] == ""
		}
		for _, factors := range dims { // windows of a kernel
			whole(slices.DeleteFunc(slices.Clone(factors), func(f int32) bool { return !slices.Contains(r.Reduction, f) }))
		}
	}
	v.leading(out, m.Kind(op) == ir.OpReshape)
	return out
}

// leading leaves only those factors that come first in every dimension, of those that have elements to order. Where dimensions are not
// joined, a factor has to be alone.
func (v *verdict) leading(out []bool, joins bool) {
	for _, mapping := range slices.Concat(v.rule.Operands, v.rule.Results) {
		for _, factors := range mapping {
			first := true
			for i, f := range factors {
				if v.rule.Sizes[f] == 1 {
					continue
				}
				out[f] = out[f] && first && (joins || i == len(factors)-1)
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
