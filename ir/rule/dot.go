package rule

import "autoshard/ir"

func init() {
	register(&Family{
		Name:  "dot_general",
		Why:   "batch dimensions run side by side, free dimensions come from one operand, contracted ones are summed",
		build: buildDotGeneral,
		local: true,
		reads: []string{"dot_dimension_numbers"},

		combine: sums,
		pads:    masked,
	}, ir.OpDotGeneral)
	register(&Family{
		Name:  "dot",
		Why:   "free dimensions come from one operand, the contracted one is summed",
		build: buildDot,
		local: true,

		combine: sums,
		pads:    masked,
	}, ir.OpDot)
}

func buildDotGeneral(b *builder) bool {
	dot, ok := b.attr("dot_dimension_numbers").(*ir.DotDims)
	if !ok {
		return false
	}
	lhs, rhs := b.in[0], b.in[1]
	out := 0
	for i, l := range dot.LhsBatch {
		b.factor([]int{int(l), int(dot.RhsBatch[i])}, []int{out}, lhs[l], passThrough, false)
		out++
	}
	for d, size := range lhs {
		if !hasInt(dot.LhsBatch, d) && !hasInt(dot.LhsContract, d) {
			b.factor([]int{d, none}, []int{out}, size, passThrough, false)
			out++
		}
	}
	for d, size := range rhs {
		if !hasInt(dot.RhsBatch, d) && !hasInt(dot.RhsContract, d) {
			b.factor([]int{none, d}, []int{out}, size, passThrough, false)
			out++
		}
	}
	for i, l := range dot.LhsContract {
		b.factor([]int{int(l), int(dot.RhsContract[i])}, []int{none}, lhs[l], reduction, false)
	}
	return true
}

func buildDot(b *builder) bool {
	lhsMatrix, rhsMatrix := len(b.in[0]) == 2, len(b.in[1]) == 2
	contracted, out := 0, 0
	if lhsMatrix {
		b.factor([]int{0, none}, []int{0}, b.in[0][0], passThrough, false)
		contracted, out = 1, 1
	}
	if rhsMatrix {
		b.factor([]int{none, 1}, []int{out}, b.in[1][1], passThrough, false)
	}
	b.factor([]int{contracted, 0}, []int{none}, b.in[1][0], reduction, false)
	return true
}
