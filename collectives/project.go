package collectives

import (
	"autoshard/ir"
	"autoshard/subaxis"
)

// Factors gives for each factor of an op's sharding rule the axes that shard it, major to minor. No axis stands
// twice. It is how the op's work is cut: every operand is needed, and every result made, in the layouts that
// [Project] derives from it.
type Factors [][]subaxis.Ref

// Project returns the layouts in which an op with these factors reads its operands and makes its results. Results
// are partial along the axes of reduction factors. It returns false where a tensor cannot be cut so: a minor
// factor of a dimension is sharded although a factor before it is not cut to single elements, or does not divide evenly.
func Project(rule *ir.Rule, factors Factors, reduction ir.Reduction) (operands, results []Layout, ok bool) {
	var unreduced []subaxis.Ref
	for _, f := range rule.Reduction {
		unreduced = append(unreduced, factors[f]...)
	}
	unreduced = subaxis.SortMerge(unreduced)
	for _, mapping := range rule.Operands {
		l, ok := projectTensor(rule, factors, mapping)
		if !ok {
			return nil, nil, false
		}
		operands = append(operands, l)
	}
	for _, mapping := range rule.Results {
		l, ok := projectTensor(rule, factors, mapping)
		if !ok {
			return nil, nil, false
		}
		l.Unreduced = unreduced
		l.Reduction = reduction
		results = append(results, l)
	}
	return operands, results, true
}

func projectTensor(rule *ir.Rule, factors Factors, mapping [][]int32) (Layout, bool) {
	l := Layout{Dims: make([][]subaxis.Ref, len(mapping))}
	for d, dim := range mapping {
		whole := true // all factors so far are cut to single elements
		before := int64(1)
		for _, f := range dim {
			n := subaxis.Product(factors[f])
			if n > 1 && (!whole || before > 1 && rule.Sizes[f]%n != 0) {
				return Layout{}, false
			}
			l.Dims[d] = subaxis.AppendMerge(l.Dims[d], factors[f]...)
			whole, before = whole && n == rule.Sizes[f], before*rule.Sizes[f]
		}
	}
	return l, true
}
