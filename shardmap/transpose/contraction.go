package transpose

import (
	"cmp"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
)

// dot transposes a contraction in one of its operands: the cotangent is contracted with the other operand over that
// one's free dimensions, and the result's dimensions are put in place (specification: shardmap.md section 4.7).
func (t *transposer) dot(op ir.OpID, g ir.ValueID) {
	x, y := t.m.Operand(op, 0), t.m.Operand(op, 1)
	dims, ok := t.m.Attr(op, "dot_dimension_numbers").(*ir.DotDims)
	if !ok || t.linear[x] && t.linear[y] {
		t.nonlinear(op)
		return
	}
	batch := int64(len(dims.LhsBatch))
	xFree := lists.Others(len(t.m.Shape(x)), dims.LhsBatch, dims.LhsContract)
	yFree := lists.Others(len(t.m.Shape(y)), dims.RhsBatch, dims.RhsContract)
	leading := span(0, batch)
	if t.linear[x] {
		d := ir.DotDims{LhsBatch: leading, LhsContract: span(batch+int64(len(xFree)), int64(len(yFree))), RhsBatch: dims.RhsBatch,
			RhsContract: yFree}
		order := slices.Concat(dims.LhsBatch, xFree, sortedBy(dims.LhsContract, dims.RhsContract))
		t.add(x, t.contracted(op, g, t.value(y), d, order, x))
		return
	}
	d := ir.DotDims{LhsBatch: leading, LhsContract: span(batch, int64(len(xFree))), RhsBatch: dims.LhsBatch, RhsContract: xFree}
	order := slices.Concat(dims.RhsBatch, yFree, sortedBy(dims.RhsContract, dims.LhsContract))
	t.add(y, t.contracted(op, g, t.value(x), d, order, y))
}

// contracted contracts a cotangent with the other operand; dimension k of the result is dimension order[k] of the
// operand.
func (t *transposer) contracted(op ir.OpID, g, other ir.ValueID, d ir.DotDims, order []int64, operand ir.ValueID) ir.ValueID {
	if g == 0 || other == 0 {
		return 0
	}
	typ := t.m.ValueType(operand).DType
	if have := t.m.ValueType(g).DType; t.m.ValueType(other).DType != have {
		other = t.b.Convert(other, have)
	}
	v := t.b.Dot(g, other, d)
	if t.m.Attr(op, "precision_config") != nil && v != 0 {
		def := t.m.DefiningOp(v)
		t.m.SetAttrs(def, t.m.OpAttrs(def).With("precision_config", t.m.Attr(op, "precision_config")))
	}
	if !slices.IsSorted(order) {
		v = t.b.Transpose(v, lists.Inverse(order)...)
	}
	if t.m.ValueType(g).DType != typ {
		v = t.b.Convert(v, typ)
	}
	return v
}

// span returns n numbers from start on.
func span(start, n int64) []int64 {
	return lists.Of(int(n), func(k int) int64 { return start + int64(k) })
}

// sortedBy returns the list in the order in which keys, one per element, would be sorted.
func sortedBy(list, keys []int64) []int64 {
	places := lists.Range[int](len(list))
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	return lists.Pick(list, places)
}
