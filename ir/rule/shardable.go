package rule

import (
	"slices"

	"autoshard/ir"
	"autoshard/localform"
	"autoshard/subaxis"
)

// Shardable is the second verdict of a family, beside the rule. A rule says which dimensions are sharded alike; Shardable
// says for each of its factors into how many parts it may be cut so that the op computes the right blocks on blocks that are cut
// so, with what it fetches from neighbouring ones, and how the partial results along reduction factors combine. Any number that
// divides the parts will do; where it is 1, the factor has to be whole: such operands are gathered first.
func Shardable(m *ir.Module, op ir.OpID, r *ir.Rule) (parts []int64, reduction ir.Reduction) {
	v := &verdict{m: m, op: op, rule: r, parts: make([]int64, len(r.Sizes))}
	family := KindFamily(m.Kind(op))
	reduces := false
	if family != nil && family.combine != nil {
		reduction, reduces = family.combine(m, op)
	}
	for f := range v.parts {
		v.parts[f] = max(r.Sizes[f], 1)
	}
	stay := slices.Concat(r.NeedReplication, r.Permutation)
	if !reduces {
		stay = append(stay, r.Reduction...)
	}
	for _, f := range stay {
		v.parts[f] = 1
	}
	switch kind := m.Kind(op); {
	case kind == ir.OpRng || kind == ir.OpUnregistered || kind == ir.OpComposite:
		v.wholly() // draws numbers, or runs code that nobody here knows
	case kind == ir.OpCustomCall:
		v.customCall()
	case family != nil && family.judge != nil:
		family.judge(v)
	}
	return v.parts, reduction
}

// verdict is what Shardable finds out about one op.
type verdict struct {
	m     *ir.Module
	op    ir.OpID
	rule  *ir.Rule
	parts []int64 // by factor
}

// whole says that a dimension must not be cut.
func (v *verdict) whole(mapping [][]int32, d int) {
	for _, f := range mapping[d] {
		v.parts[f] = 1
	}
}

// wholly says that nothing must be cut.
func (v *verdict) wholly() {
	for f := range v.parts {
		v.parts[f] = 1
	}
}

// fetch says which dimensions are cut although their elements move: those along which every device fetches what it needs
// of other blocks.
func (v *verdict) fetch() {
	for _, d := range localform.Dims(v.m, v.op, v.m.Shape) {
		parts := int64(1)
		f, ok := v.common(&d)
		if ok {
			parts = subaxis.GCD(d.Parts(), v.rule.Sizes[f])
		}
		for _, mapping := range v.rule.Results {
			v.whole(mapping, d.Out)
		}
		for _, i := range d.Inputs {
			v.whole(v.rule.Operands[i], d.In)
		}
		if ok {
			v.parts[f] = parts
		}
	}
}

// common returns the factor that a dimension has in common in all tensors that have it: the first one of operands, the only one of
// results. It stands nowhere else.
func (v *verdict) common(d *localform.Dim) (f int32, ok bool) {
	f = v.rule.Results[0][d.Out][0]
	for _, i := range d.Inputs {
		if v.rule.Operands[i][d.In][0] != f {
			return f, false
		}
	}
	for _, mapping := range v.rule.Results {
		if !slices.Equal(mapping[d.Out], []int32{f}) {
			return f, false
		}
	}
	places := 0
	for _, mapping := range slices.Concat(v.rule.Operands, v.rule.Results) {
		for _, factors := range mapping {
			if slices.Contains(factors, f) {
				places++
			}
		}
	}
	return f, places == len(d.Inputs)+len(v.rule.Results)
}

// sums are how partial results of products combine, and of a gather, of which all devices but one give zeros.
func sums(*ir.Module, ir.OpID) (ir.Reduction, bool) { return ir.ReduceSum, true }
