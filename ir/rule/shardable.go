package rule

import (
	"fmt"
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
	v, reduction := judge(m, op, r)
	return v.parts, reduction
}

// Obstacle returns why an op cannot be cut into so many parts along a factor of its rule, "" if it can.
func Obstacle(m *ir.Module, op ir.OpID, r *ir.Rule, factor int32, parts int64) string {
	v, _ := judge(m, op, r)
	switch most := v.parts[factor]; {
	case most%parts == 0 || Paddable(m, op, r)[factor]:
		return ""
	case most == 1 || v.why[factor] != "":
		return v.why[factor]
	}
	return fmt.Sprintf("its %d elements are no multiple of %d, and `%s` cannot be computed with padding there", r.Sizes[factor], parts,
		m.OpName(op))
}

// judge asks the family of an op.
func judge(m *ir.Module, op ir.OpID, r *ir.Rule) (v *verdict, reduction ir.Reduction) {
	v = &verdict{m: m, op: op, rule: r, parts: make([]int64, len(r.Sizes)), why: make([]string, len(r.Sizes))}
	family := FamilyOf(m, op)
	reduces := false
	if family != nil && family.combine != nil {
		reduction, reduces = family.combine(m, op)
	}
	for f := range v.parts {
		v.parts[f] = max(r.Sizes[f], 1)
	}
	why := "the rule that was given for it says so"
	if family != nil {
		why = family.Why
	}
	v.keep(why, slices.Concat(r.NeedReplication, r.Permutation)...)
	if !reduces {
		v.keep("its partial results cannot be combined", r.Reduction...)
	}
	switch kind := m.Kind(op); {
	case kind == ir.OpRng:
		v.wholly("every device would draw numbers of its own")
	case kind == ir.OpUnregistered || kind == ir.OpComposite:
		v.wholly("it runs code that is not known here")
	case kind == ir.OpCustomCall:
		v.customCall()
	case family != nil && family.judge != nil:
		family.judge(v)
	}
	return v, reduction
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
	parts []int64  // by factor
	why   []string // by factor: why it is not cut further, where some reason was found
}

// keep says that factors must not be cut, and why.
func (v *verdict) keep(why string, factors ...int32) {
	for _, f := range factors {
		v.parts[f], v.why[f] = 1, why
	}
}

// cut says that a factor may be cut into so many parts after all.
func (v *verdict) cut(f int32, parts int64) { v.parts[f], v.why[f] = parts, "" }

// wholly says that nothing must be cut.
func (v *verdict) wholly(why string) {
	for f := range v.parts {
		v.keep(why, int32(f))
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
			v.keep("windows reach over all of it", factors...)
		}
	}
	for f, n := range parts {
		v.cut(f, n)
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
