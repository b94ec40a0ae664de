package rule

import (
	"slices"

	"autoshard/ir"
)

// Shardable is the second verdict of a family, beside the rule. A rule says which dimensions are sharded alike; Shardable
// says for each of its factors whether the op computes the right blocks on blocks that are cut so, and how the partial
// results along reduction factors combine. Factors that would need neighbour communication or the whole tensor are not
// shardable: such operands are gathered first.
func Shardable(m *ir.Module, op ir.OpID, r *ir.Rule) (shardable []bool, reduction ir.Reduction) {
	v := &verdict{m: m, op: op, rule: r, shardable: make([]bool, len(r.Sizes))}
	family := KindFamily(m.Kind(op))
	reduces := false
	if family != nil && family.combine != nil {
		reduction, reduces = family.combine(m, op)
	}
	for f := range v.shardable {
		v.shardable[f] = r.Sizes[f] > 1
	}
	for _, f := range slices.Concat(r.NeedReplication, r.Permutation) {
		v.shardable[f] = false
	}
	for _, f := range r.Reduction {
		v.shardable[f] = v.shardable[f] && reduces
	}
	switch kind := m.Kind(op); {
	case kind == ir.OpRng || kind == ir.OpUnregistered || kind == ir.OpComposite:
		v.wholly() // draws numbers, or runs code that nobody here knows
	case kind == ir.OpCustomCall:
		v.customCall()
	case family != nil && family.keepWhole != nil:
		family.keepWhole(v)
	}
	return v.shardable, reduction
}

// verdict is what Shardable finds out about one op.
type verdict struct {
	m         *ir.Module
	op        ir.OpID
	rule      *ir.Rule
	shardable []bool // by factor
}

// whole says that a dimension must not be cut.
func (v *verdict) whole(mapping [][]int32, d int) {
	for _, f := range mapping[d] {
		v.shardable[f] = false
	}
}

// wholly says that nothing must be cut.
func (v *verdict) wholly() { clear(v.shardable) }

// sums are how partial results of products combine, and of a gather, of which all devices but one give zeros.
func sums(*ir.Module, ir.OpID) (ir.Reduction, bool) { return ir.ReduceSum, true }
