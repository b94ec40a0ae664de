package ir

import (
	"bytes"
	"math"
	"slices"

	"autoshard/ir/dtype"
)

// SortKey is a sorted operand by which a comparator orders. Floats are compared in total order, as they are or in JAX's Canonical
// form: after zeros and NaN have been made equal.
type SortKey struct {
	Operand               int
	Descending, Canonical bool
}

// SortKeys recognises comparators that order by some of the operands, the first one first, and returns nil for any other. JAX
// writes, for keys a and b, lt(a) or (eq(a) and lt(b)) (specification: stablehlo.md section 2.9).
func SortKeys(m *Module, b BlockID) []SortKey {
	ret := m.LastOp(b)
	if m.NumOperands(ret) != 1 {
		return nil
	}
	c := comparator{m, b}
	keys, _ := c.keys(m.Operand(ret, 0), nil)
	return keys
}

type comparator struct {
	m     *Module
	block BlockID
}

// keys appends the keys that an i1 value compares.
func (c comparator) keys(v ValueID, keys []SortKey) ([]SortKey, bool) {
	if compare := c.made(v, OpCompare); compare != 0 {
		key, ok := c.key(compare, "LT", "GT")
		if !ok {
			return nil, false
		}
		return append(keys, key), true
	}
	or := c.made(v, OpOr)
	if or == 0 {
		return nil, false
	}
	first, rest := c.made(c.m.Operand(or, 0), OpCompare), c.made(c.m.Operand(or, 1), OpAnd)
	if first == 0 || rest == 0 {
		return nil, false
	}
	equal := c.made(c.m.Operand(rest, 0), OpCompare)
	if equal == 0 {
		return nil, false
	}
	key, ok1 := c.key(first, "LT", "GT")
	tie, ok2 := c.key(equal, "EQ", "EQ")
	if !ok1 || !ok2 || key.Operand != tie.Operand || key.Canonical != tie.Canonical {
		return nil, false
	}
	return c.keys(c.m.Operand(rest, 1), append(keys, key))
}

// made returns the op that makes a value, 0 if it is not of a kind.
func (c comparator) made(v ValueID, kind Kind) OpID {
	if op := c.m.DefiningOp(v); op != 0 && c.m.Kind(op) == kind {
		return op
	}
	return 0
}

// key reads a comparison of the left and the right element of one operand.
func (c comparator) key(op OpID, ascending, descending string) (SortKey, bool) {
	m := c.m
	left, canonical1 := c.canonical(m.Operand(op, 0))
	right, canonical2 := c.canonical(m.Operand(op, 1))
	if m.ArgBlock(left) != c.block || m.ArgBlock(right) != c.block || canonical1 != canonical2 {
		return SortKey{}, false
	}
	l, d := m.Index(left), m.OpAttrs(op).Str("comparison_direction")
	if l%2 != 0 || m.Index(right) != l+1 || d != ascending && d != descending {
		return SortKey{}, false
	}
	switch m.ValueType(left).DType.Kind() {
	case dtype.Complex:
		return SortKey{}, false
	case dtype.Float:
		if m.OpAttrs(op).Str("compare_type") != "TOTALORDER" { // NaN and -0 are left to the comparison itself
			return SortKey{}, false
		}
	}
	return SortKey{Operand: l / 2, Descending: d == "GT", Canonical: canonical1}, true
}

// canonical returns the argument x of select(x != x, nan, select(x == 0, 0, x)), and true; or the value itself.
func (c comparator) canonical(v ValueID) (ValueID, bool) {
	isZero := func(f float64) bool { return f == 0 }
	outer := c.made(v, OpSelect)
	if outer == 0 || !c.isConstant(c.m.Operand(outer, 1), math.IsNaN) {
		return v, false
	}
	zeroed := c.m.Operand(outer, 2)
	inner := c.made(zeroed, OpSelect)
	if inner == 0 || !c.isConstant(c.m.Operand(inner, 1), isZero) {
		return v, false
	}
	x := c.m.Operand(inner, 2)
	same := func(other ValueID) bool { return other == x || other == zeroed }
	zero := func(other ValueID) bool { return c.isConstant(other, isZero) }
	if !c.compares(c.m.Operand(outer, 0), "NE", same, x, zeroed) || !c.compares(c.m.Operand(inner, 0), "EQ", zero, x) {
		return v, false
	}
	return x, true
}

// compares says whether a value is a comparison in a direction of one of the given values with another one that passes a test.
func (c comparator) compares(v ValueID, direction string, test func(ValueID) bool, first ...ValueID) bool {
	op := c.made(v, OpCompare)
	return op != 0 && c.m.OpAttrs(op).Str("comparison_direction") == direction && c.m.OpAttrs(op).Str("compare_type") != "TOTALORDER" &&
		slices.Contains(first, c.m.Operand(op, 0)) && test(c.m.Operand(op, 1))
}

// isConstant says whether a value is a scalar float constant that passes a test.
func (c comparator) isConstant(v ValueID, test func(float64) bool) bool {
	op := c.made(v, OpConstant)
	if op == 0 || c.m.ValueType(v).DType.Kind() != dtype.Float {
		return false
	}
	d, ok := c.m.Attr(op, "value").(*Dense)
	return ok && d.Resource == "" && c.m.ValueType(v).Elements() == 1 && test(dtype.Decode(c.m.ValueType(v).DType, dtype.LoadBits(d.Data)))
}

// Last returns an element of a type that stands behind all others in the order of a key, or is equal to the last ones; false where
// none is known. Of floats in total order those are not numbers with all bits of the mantissa set.
func (k SortKey) Last(e dtype.Type) ([]byte, bool) {
	if e.Kind() != dtype.Float {
		return Extreme(e, !k.Descending), e.Kind() != dtype.Complex
	}
	if !slices.Contains([]dtype.Type{dtype.F16, dtype.BF16, dtype.F32, dtype.F64}, e) {
		return nil, false
	}
	if k.Canonical && k.Descending {
		return Extreme(e, false), true
	}
	last := bytes.Repeat([]byte{0xff}, e.Bytes())
	if !k.Descending {
		last[len(last)-1] = 0x7f
	}
	return last, true
}
