package emit

import (
	"math"
	"strconv"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// interval is what bounds finds out about a value.
type interval struct {
	low, high int64
	known     bool
}

// bounds returns numbers of 32 bits between which an integer scalar lies, where the program around it says so: it is
// made of constants and of the numbers of devices along axes.
func (e *emitter) bounds(v ir.ValueID) (low, high int64, known bool) {
	v = e.root(v)
	x, seen := e.intervals[v]
	if !seen {
		x = e.findBounds(v)
		e.intervals[v] = x
	}
	return x.low, x.high, x.known
}

func (e *emitter) findBounds(v ir.ValueID) interval {
	t := e.m.ValueType(v)
	if kind := t.DType.Kind(); t.Kind != ir.TensorKind || kind != dtype.Signed && kind != dtype.Unsigned {
		return interval{}
	}
	low, high, known := e.boundsOf(v)
	least, most := dtype.IntRange(t.DType)
	if !known || low < max(least, math.MinInt32) || high > int64(min(most, math.MaxInt32)) {
		return interval{}
	}
	return interval{low, high, true}
}

func (e *emitter) boundsOf(v ir.ValueID) (low, high int64, known bool) {
	if text, ok := e.number(v); ok {
		n, err := strconv.ParseInt(text, 10, 32)
		return n, n, err == nil
	}
	op := e.m.DefiningOp(v)
	if op == 0 {
		return 0, 0, false
	}
	if n, ok := e.membersOf(op); ok {
		return 0, n - 1, true
	}
	switch e.m.Kind(op) {
	case ir.OpConvert, ir.OpReshape, ir.OpBroadcastInDim:
		return e.bounds(e.m.Operand(op, 0))
	case ir.OpAdd, ir.OpSubtract, ir.OpMultiply, ir.OpRemainder, ir.OpMaximum, ir.OpMinimum:
		a, b, ok1 := e.bounds(e.m.Operand(op, 0))
		c, d, ok2 := e.bounds(e.m.Operand(op, 1))
		if ok1 && ok2 {
			return combineBounds(e.m.Kind(op), a, b, c, d)
		}
	}
	return 0, 0, false
}

// combineBounds returns the bounds of x op y for x from a to b and y from c to d, none of which exceeds 32 bits.
func combineBounds(kind ir.Kind, a, b, c, d int64) (low, high int64, known bool) {
	switch kind {
	case ir.OpAdd:
		return a + c, b + d, true
	case ir.OpSubtract:
		return a - d, b - c, true
	case ir.OpMaximum:
		return max(a, c), max(b, d), true
	case ir.OpMinimum:
		return min(a, c), min(b, d), true
	case ir.OpMultiply:
		return min(a*c, a*d, b*c, b*d), max(a*c, a*d, b*c, b*d), true
	}
	switch { // remainder, with the sign of x
	case c <= 0:
		return 0, 0, false
	case a >= 0:
		return 0, min(b, d-1), true
	}
	return 1 - d, d - 1, true
}
