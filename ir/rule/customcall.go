package rule

import (
	"slices"

	"autoshard/ir"
)

// customCallFamilies lists the targets of custom calls whose meaning is known (source: shardy.md section 2.3).
var customCallFamilies = func() map[string]*Family {
	pointwise := &Family{
		Name:  "custom_call pointwise",
		Why:   "the target is known to keep every element at its place",
		build: buildPointwise,
	}
	approxTopK := &Family{
		Name:  "custom_call approximate top-k",
		Why:   "the searched dimension is cut down to the best elements; the others pass through",
		build: buildApproxTopK,
	}
	qr := &Family{
		Name:  "custom_call qr",
		Why:   "matrices of a batch are independent; each matrix has to be whole",
		build: buildQR,
	}
	table := map[string]*Family{
		"Eigh": {Name: "custom_call eigh", Why: "eigenvectors keep the matrix' dimensions, eigenvalues its last one", build: buildEigh},
		"Qr":   qr, "QrDecompositionBlock": qr,
		"ProductOfElementaryHouseholderReflectors": {Name: "custom_call householder product",
			Why: "matrices of a batch are independent; each matrix has to be whole", build: buildHouseholder},
		"mhlo.topk": {Name: "custom_call topk", Why: "the searched dimension has to be whole; the others pass through",
			build: buildTopK},
		"ApproxTopK": approxTopK, "PartialReduce": approxTopK,
		"X64Combine": {Name: "custom_call x64 combine", Why: "the halves of each element meet at their place", build: buildX64Combine},
	}
	for _, target := range []string{"annotate_device_placement", "Cholesky", "CompactWyHelper", "InspectSharding",
		"InvertDiagBlocksLowerTriangular", "InvertDiagBlocksUpperTriangular", "LayoutConstraint", "mhlo.erf",
		"MoveToDevice", "MoveToHost", "X64SplitHigh", "X64SplitLow", "xla.megascale.provide_metadata",
		"_SPMDInternalOp_MultiPad", "_SPMDInternalOp_RotateRight", "_SPMDInternalOp_MultiRotate",
		"_SPMDInternalOp_MultiSlice", "_SPMDInternalOp_Wrap"} {
		table[target] = pointwise
	}
	return table
}()

func customCallFamily(m *ir.Module, op ir.OpID) *Family {
	return customCallFamilies[m.OpAttrs(op).Str("call_target_name")]
}

// batch adds factors for all but the last two of n dimensions and returns how many those are; false where the
// operands are no matrices or the counts differ.
func (b *builder) batch(operands, results, n int) (int, bool) {
	if len(b.in) != operands || len(b.out) != results || n < 2 {
		return 0, false
	}
	b.pointwise(b.in[0][:n-2])
	return n - 2, true
}

func buildEigh(b *builder) bool {
	rows, ok := b.batch(1, 2, len(b.in[0]))
	if !ok {
		return false
	}
	cols := rows + 1
	b.factor([]int{rows}, []int{rows, none}, b.in[0][rows], passThrough, false)
	b.factor([]int{cols}, []int{cols, rows}, b.in[0][cols], passThrough, false)
	return true
}

func buildQR(b *builder) bool {
	rows, ok := b.batch(1, 2, len(b.in[0]))
	if !ok || len(b.out[1]) <= rows {
		return false
	}
	cols := rows + 1
	b.factor([]int{rows}, []int{rows, none}, b.in[0][rows], needReplication, false)
	b.factor([]int{cols}, []int{cols, none}, b.in[0][cols], needReplication, false)
	b.factor([]int{none}, []int{none, rows}, b.out[1][rows], needReplication, false)
	return true
}

func buildHouseholder(b *builder) bool {
	rows, ok := b.batch(2, 1, len(b.in[0]))
	if !ok || len(b.in[1]) <= rows {
		return false
	}
	cols := rows + 1
	b.factor([]int{rows, none}, []int{rows}, b.in[0][rows], needReplication, false)
	b.factor([]int{cols, none}, []int{cols}, b.in[0][cols], needReplication, false)
	b.factor([]int{none, rows}, []int{none}, b.in[1][rows], needReplication, false)
	return true
}

func buildTopK(b *builder) bool {
	if len(b.in) != 1 || len(b.out) != 2 || len(b.in[0]) != len(b.out[0]) {
		return false
	}
	return b.mismatch(b.in[0], b.out[0], needReplication, true)
}

func buildApproxTopK(b *builder) bool {
	if len(b.in) != 4 || len(b.out) != 2 || len(b.in[0]) != len(b.out[0]) {
		return false
	}
	for d, size := range b.in[0] {
		if out := b.out[0][d]; out != size {
			b.factor([]int{d, d, none, none}, []int{none, none}, size, passThrough, false)
			b.factor([]int{none, none, none, none}, []int{d, d}, out, needReplication, true)
			continue
		}
		b.everywhere(d, size, passThrough, false)
	}
	return true
}

func buildX64Combine(b *builder) bool {
	for _, v := range b.m.Results(b.op) {
		for use := range b.m.Uses(v) {
			if b.m.Kind(use.Op) == ir.OpRngBitGenerator && len(b.out[0]) > 0 {
				b.everywhere(0, b.out[0][0], needReplication, true)
				return true
			}
		}
	}
	return buildPointwise(b)
}

// customCall leaves the factors along which a custom call works block by block: where the target is known, the dimensions of
// independent problems; where it is not but the model gives it a rule, what the rule lets pass from operands to every
// result.
func (v *verdict) customCall() {
	independent := v.m.IndependentDims(v.op)
	_, given := v.m.Attr(v.op, Attr).(*ir.RuleAttr)
	if independent == nil && !given {
		v.wholly("nobody knows how the target computes blocks")
	}
	for i := range v.parts {
		f := int32(i)
		if independent != nil {
			if !alongOneDim(slices.Concat(v.rule.Operands, v.rule.Results), f, independent) {
				v.keep("the target solves no independent problems along it", f)
			}
			continue
		}
		has := func(mapping [][]int32) bool { return holds(mapping, f) }
		lacks := func(mapping [][]int32) bool { return !holds(mapping, f) }
		if !slices.ContainsFunc(v.rule.Operands, has) || len(v.rule.Results) == 0 ||
			slices.ContainsFunc(v.rule.Results, lacks) || slices.Contains(v.rule.Reduction, f) {
			v.keep("the rule does not let it pass to every result", f)
		}
	}
}

// alongOneDim says whether a factor alone makes one and the same independent dimension of all tensors, scalars excepted.
func alongOneDim(tensors [][][]int32, f int32, independent func(d int) bool) bool {
	at := -1
	for _, mapping := range tensors {
		if len(mapping) == 0 {
			continue
		}
		d := slices.IndexFunc(mapping, func(dim []int32) bool { return slices.Contains(dim, f) })
		if d < 0 || at >= 0 && d != at || len(mapping[d]) != 1 || !independent(d) {
			return false
		}
		at = d
	}
	return at >= 0
}

func holds(mapping [][]int32, f int32) bool {
	return slices.ContainsFunc(mapping, func(dim []int32) bool { return slices.Contains(dim, f) })
}
