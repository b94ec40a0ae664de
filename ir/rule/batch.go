package rule

import (
	"slices"

	"autoshard/ir"
)

// Batch returns a rule for a custom call that has none though its target is known to solve independent problems, such as
// the matrices of a batch: the dimensions that number the problems pass through, the others have to be whole. It returns
// nil where there are no such dimensions. Propagation does not use it: Shardy stops at such calls.
func Batch(m *ir.Module, op ir.OpID) *ir.Rule {
	if m.Kind(op) != ir.OpCustomCall || Of(m, op, false) != nil || !ranked(m, op) {
		return nil
	}
	independent := m.IndependentDims(op)
	if independent == nil {
		return nil
	}
	b := newBuilder(m, op, false)
	tensors := slices.DeleteFunc(slices.Concat(b.in, b.out), func(dims []int64) bool { return len(dims) == 0 })
	found := false
	for d, size := range b.in[0] {
		shared := independent(d) && !slices.ContainsFunc(tensors, func(dims []int64) bool { return d >= len(dims) || dims[d] != size })
		if shared {
			b.everywhere(d, size, passThrough, false)
			found = true
		}
	}
	if !found {
		return nil
	}
	own := func(dims [][]int32, shape []int64) {
		for d := range dims {
			if len(dims[d]) == 0 {
				dims[d] = append(dims[d], b.newFactor(shape[d], needReplication, false))
			}
		}
	}
	for i, dims := range b.rule.Operands {
		own(dims, b.in[i])
	}
	for i, dims := range b.rule.Results {
		own(dims, b.out[i])
	}
	b.rule.Custom = true
	return b.finish()
}
