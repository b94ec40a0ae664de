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

// Near says whether an op whose factors are cut by axes fetches what it needs of other blocks in few rounds. Where it does not, its
// operands are better moved as a whole.
func Near(m *ir.Module, op ir.OpID, r *ir.Rule, cut func(f int32) []subaxis.Ref) bool {
	v := &verdict{m: m, op: op, rule: r}
	for _, d := range localform.Dims(m, op, m.Shape) {
		dims := v.places(&d)
		f := dims[0][0]
		if k := subaxis.Product(cut(f)); k > 1 && v.alone(f, dims) && !d.Near(k) {
			return false
		}
	}
	return true
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
	parts := map[int32]int64{}
	for _, d := range localform.Dims(v.m, v.op, v.m.Shape) {
		dims := v.places(&d)
		if f := dims[0][0]; v.alone(f, dims) {
			parts[f] = subaxis.GCD(d.Parts(), v.rule.Sizes[f])
		}
		for _, factors := range dims {
			for _, f := range factors {
				v.parts[f] = 1
			}
		}
	}
	for f, n := range parts {
		v.parts[f] = n
	}
}

// places returns the factors of a dimension in all tensors that have it.
func (v *verdict) places(d *localform.Dim) (dims [][]int32) {
	for _, i := range d.Inputs {
		dims = append(dims, v.rule.Operands[i][d.In])
	}
	operand, dim := d.Cut()
	if operand >= 0 {
		return append(dims, v.rule.Operands[operand][dim])
	}
	for _, mapping := range v.rule.Results {
		dims = append(dims, mapping[dim])
	}
	return dims
}

// alone says whether a factor comes first in some dimensions, makes up the last of them alone, and stands nowhere else.
func (v *verdict) alone(f int32, dims [][]int32) bool {
	places := 0
	for _, mapping := range slices.Concat(v.rule.Operands, v.rule.Results) {
		for _, factors := range mapping {
			if slices.Contains(factors, f) {
				places++
			}
		}
	}
	first := func(factors []int32) bool { return factors[0] == f }
	return places == len(dims) && !slices.ContainsFunc(dims, func(factors []int32) bool { return !first(factors) }) &&
		len(dims[len(dims)-1]) == 1
}

// sums are how partial results of products combine, and of a gather, of which all devices but one give zeros.
func sums(*ir.Module, ir.OpID) (ir.Reduction, bool) { return ir.ReduceSum, true }
