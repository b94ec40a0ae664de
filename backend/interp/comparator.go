package interp

import (
	"math"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// sortKeys recognises comparators that order by some of the operands, the first one first, and returns nil for any
// other. JAX writes, for keys a and b, lt(a) or (eq(a) and lt(b)), each compared in total order after zeros and NaN
// have been made equal (stablehlo.md section 2.9).
func (c *compiler) sortKeys(b ir.BlockID) []tensor.SortKey {
	ret := c.m.LastOp(b)
	if c.m.NumOperands(ret) != 1 {
		return nil
	}
	keys, _ := c.keysOf(b, c.m.Operand(ret, 0), nil)
	return keys
}

// keysOf appends the keys that an i1 value compares.
func (c *compiler) keysOf(b ir.BlockID, v ir.ValueID, keys []tensor.SortKey) ([]tensor.SortKey, bool) {
	op := c.m.DefiningOp(v)
	if op == 0 {
		return nil, false
	}
	if c.m.Kind(op) == ir.OpCompare {
		key, ok := c.sortKey(b, op, "LT", "GT")
		if !ok {
			return nil, false
		}
		return append(keys, key), true
	}
	if c.m.Kind(op) != ir.OpOr {
		return nil, false
	}
	first, rest := c.m.DefiningOp(c.m.Operand(op, 0)), c.m.DefiningOp(c.m.Operand(op, 1))
	if first == 0 || rest == 0 || c.m.Kind(first) != ir.OpCompare || c.m.Kind(rest) != ir.OpAnd {
		return nil, false
	}
	equal := c.m.DefiningOp(c.m.Operand(rest, 0))
	if equal == 0 || c.m.Kind(equal) != ir.OpCompare {
		return nil, false
	}
	key, ok1 := c.sortKey(b, first, "LT", "GT")
	tie, ok2 := c.sortKey(b, equal, "EQ", "EQ")
	if !ok1 || !ok2 || key.Operand != tie.Operand || key.TotalOrder != tie.TotalOrder {
		return nil, false
	}
	return c.keysOf(b, c.m.Operand(rest, 1), append(keys, key))
}

// sortKey reads a comparison of the left and the right element of one operand.
func (c *compiler) sortKey(b ir.BlockID, op ir.OpID, ascending, descending string) (tensor.SortKey, bool) {
	left, plain1 := c.uncanonical(c.m.Operand(op, 0))
	right, plain2 := c.uncanonical(c.m.Operand(op, 1))
	if c.m.ArgBlock(left) != b || c.m.ArgBlock(right) != b || plain1 != plain2 {
		return tensor.SortKey{}, false
	}
	l, r := c.m.Index(left), c.m.Index(right)
	d := c.m.OpAttrs(op).Str("comparison_direction")
	if l%2 != 0 || r != l+1 || d != ascending && d != descending {
		return tensor.SortKey{}, false
	}
	e := c.m.ValueType(left).DType
	if e.Kind() == dtype.Complex {
		return tensor.SortKey{}, false
	}
	total := c.m.OpAttrs(op).Str("compare_type") == "TOTALORDER"
	if e.Kind() == dtype.Float && !total {
		return tensor.SortKey{}, false // NaN and -0: left to the comparison itself
	}
	return tensor.SortKey{Operand: l / 2, Descending: d == "GT", TotalOrder: total && plain1}, true
}

// uncanonical returns the argument x of select(x != x, nan, select(x == 0, 0, x)), and false; or the value itself
// and true.
func (c *compiler) uncanonical(v ir.ValueID) (x ir.ValueID, plain bool) {
	nanTest, nan, zeroed, ok := c.selection(v)
	if !ok || !c.floatConstant(nan, math.IsNaN) {
		return v, true
	}
	zeroTest, zero, x, ok := c.selection(zeroed)
	if !ok || !c.floatConstant(zero, isZero) {
		return v, true
	}
	if !c.compares(nanTest, "NE", func(other ir.ValueID) bool { return other == x || other == zeroed }, x, zeroed) {
		return v, true
	}
	if !c.compares(zeroTest, "EQ", func(other ir.ValueID) bool { return c.floatConstant(other, isZero) }, x) {
		return v, true
	}
	return x, false
}

// selection returns the operands of the select that makes a value.
func (c *compiler) selection(v ir.ValueID) (pred, onTrue, onFalse ir.ValueID, ok bool) {
	op := c.m.DefiningOp(v)
	if op == 0 || c.m.Kind(op) != ir.OpSelect {
		return 0, 0, 0, false
	}
	return c.m.Operand(op, 0), c.m.Operand(op, 1), c.m.Operand(op, 2), true
}

// compares says whether a value is a comparison in a direction of one of the given values with another one that
// passes a test.
func (c *compiler) compares(v ir.ValueID, direction string, test func(ir.ValueID) bool, first ...ir.ValueID) bool {
	op := c.m.DefiningOp(v)
	if op == 0 || c.m.Kind(op) != ir.OpCompare || c.m.OpAttrs(op).Str("comparison_direction") != direction {
		return false
	}
	for _, x := range first {
		if c.m.Operand(op, 0) == x && test(c.m.Operand(op, 1)) {
			return c.m.OpAttrs(op).Str("compare_type") != "TOTALORDER"
		}
	}
	return false
}

func isZero(f float64) bool { return f == 0 }

// floatConstant says whether a value is a scalar float constant that passes a test.
func (c *compiler) floatConstant(v ir.ValueID, test func(float64) bool) bool {
	op := c.m.DefiningOp(v)
	if op == 0 || c.m.Kind(op) != ir.OpConstant || c.element(op).Kind() != dtype.Float {
		return false
	}
	x, err := c.constant(c.m.Attr(op, "value"))
	return err == nil && x.Len() == 1 && test(x.Floats()[0])
}
