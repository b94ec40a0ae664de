package ir

import (
	"math"
	"slices"

	"autoshard/ir/dtype"
)

// TripCountAttr is the attribute of a stablehlo.while whose trip count only the data knows: how often its body is taken to
// run where a price is asked for.
const TripCountAttr = "autoshard.trip_count"

// TripCount returns how often the body of a stablehlo.while runs, where that is plain to see: a carried counter
// starts at a constant, the condition compares it with a constant and nothing else, and the body adds a constant to it or
// takes one away, as in the loops that scans and fori loops become.
func TripCount(m *Module, while OpID) (int64, bool) {
	conditions := m.conditions(while)
	if len(conditions) != 1 {
		return 0, false
	}
	return m.trips(while, conditions[0])
}

// TripBound returns a number that the body of a stablehlo.while does not run more often than: one of the conditions that
// must all hold counts, the others depend on the data.
func TripBound(m *Module, while OpID) (bound int64, ok bool) {
	for _, c := range m.conditions(while) {
		if n, known := m.trips(while, c); known && (!ok || n < bound) {
			bound, ok = n, true
		}
	}
	return bound, ok
}

// Trips returns how often the body of a stablehlo.while is taken to run: its trip count, else what its attribute says,
// else once.
func Trips(m *Module, while OpID) int64 {
	if n, ok := TripCount(m, while); ok {
		return n
	}
	return max(1, m.OpAttrs(while).Int(TripCountAttr, 1))
}

// AssumeTrips says how often the body of a stablehlo.while is taken to run, as Trips reads it.
func AssumeTrips(m *Module, while OpID, n int64) {
	m.SetAttrs(while, m.OpAttrs(while).With(TripCountAttr, m.I64(n)))
}

// ForgetTrips removes the attributes that say how often loops run, which no other program knows.
func ForgetTrips(m *Module) {
	for _, op := range m.OpsOf(m.Body(), OpWhile) {
		m.SetAttrs(op, m.OpAttrs(op).Without(TripCountAttr))
	}
}

// maxConditions bounds the conditions of a loop that are looked at.
const maxConditions = 64

// conditions returns what must all be true for a loop to go on: the operands of ands, without conversions and comparisons
// with false. It is nil where there are too many.
func (m *Module) conditions(while OpID) []OpID {
	open := []ValueID{m.Operand(m.LastOp(m.RegionBlock(while, 0)), 0)}
	var out []OpID
	for len(open) > 0 && len(open)+len(out) <= maxConditions {
		op := m.DefiningOp(open[0])
		open = open[1:]
		switch {
		case op == 0:
			out = append(out, 0)
		case m.Kind(op) == OpAnd:
			open = append(open, m.Operands(op)...)
		case m.Kind(op) == OpConvert && m.ValueType(m.Operand(op, 0)).DType.Bits() == 1:
			open = append(open, m.Operand(op, 0))
		case m.Kind(op) == OpCompare && m.OpAttrs(op).Str("comparison_direction") == "NE" && m.isFalse(m.Operand(op, 1)):
			open = append(open, m.Operand(op, 0))
		default:
			out = append(out, op)
		}
	}
	if len(open) > 0 {
		return nil
	}
	return out
}

// isFalse says whether a value is the constant false, broadcast or not.
func (m *Module) isFalse(v ValueID) bool {
	if op := m.DefiningOp(v); op != 0 && m.Kind(op) == OpBroadcastInDim {
		v = m.Operand(op, 0)
	}
	n, ok := m.ConstantInt(v)
	return ok && n == 0 && m.ValueType(v).DType.Bits() == 1
}

// flipped has what a comparison says with its operands exchanged.
var flipped = map[string]string{"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE"}

// trips returns how often the body runs if a condition alone decides, where the condition compares a counter with a constant.
func (m *Module) trips(while, condition OpID) (int64, bool) {
	if condition == 0 || m.Kind(condition) != OpCompare {
		return 0, false
	}
	direction := m.OpAttrs(condition).Str("comparison_direction")
	if n, ok := m.counted(while, m.Operand(condition, 0), m.Operand(condition, 1), direction); ok {
		return n, true
	}
	return m.counted(while, m.Operand(condition, 1), m.Operand(condition, 0), flipped[direction])
}

// counted returns how often a loop runs while a counter is less than a limit, or greater, or not there yet.
func (m *Module) counted(while OpID, counter, end ValueID, direction string) (int64, bool) {
	cond, body := m.RegionBlock(while, 0), m.RegionBlock(while, 1)
	if m.ArgBlock(counter) != cond {
		return 0, false
	}
	i := m.Index(counter)
	limit, ok1 := m.resolve(while, end, cond)
	start, ok2 := m.ConstantInt(m.Operand(while, i))
	step, ok3 := m.increment(while, body, i)
	if !ok1 || !ok2 || !ok3 || !countable(limit, start, step) {
		return 0, false
	}
	way := limit - start
	if step < 0 {
		way, step, direction = -way, -step, flipped[direction]
	}
	switch direction {
	case "LT":
	case "LE":
		way++
	case "NE":
		if way < 0 || way%step != 0 {
			return 0, false
		}
	default:
		return 0, false
	}
	return max(0, (way+step-1)/step), true
}

// countable says whether a loop ends and numbers are far from the end of their range.
func countable(limit, start, step int64) bool {
	small := func(n int64) bool { return n > -math.MaxInt64/4 && n < math.MaxInt64/4 }
	return step != 0 && small(limit) && small(start) && small(step)
}

// resolve reads a constant, also through an argument of a loop's region that the body passes on unchanged.
func (m *Module) resolve(while OpID, v ValueID, region BlockID) (int64, bool) {
	if m.ArgBlock(v) != region {
		return m.ConstantInt(v)
	}
	i, body := m.Index(v), m.RegionBlock(while, 1)
	if m.Operand(m.LastOp(body), i) != m.BlockArgs(body)[i] {
		return 0, false
	}
	return m.ConstantInt(m.Operand(while, i))
}

// increment returns what the body adds to a carried value.
func (m *Module) increment(while OpID, body BlockID, i int) (int64, bool) {
	op := m.DefiningOp(m.Operand(m.LastOp(body), i))
	if op == 0 || !slices.Contains([]Kind{OpAdd, OpSubtract}, m.Kind(op)) {
		return 0, false
	}
	arg := m.BlockArgs(body)[i]
	switch {
	case m.Operand(op, 0) == arg:
		step, ok := m.resolve(while, m.Operand(op, 1), body)
		if m.Kind(op) == OpSubtract {
			step = -step
		}
		return step, ok
	case m.Operand(op, 1) == arg && m.Kind(op) == OpAdd:
		return m.resolve(while, m.Operand(op, 0), body)
	}
	return 0, false
}

// ConstantInt returns the value of a splat integer constant that an int64 can hold.
func (m *Module) ConstantInt(v ValueID) (int64, bool) {
	op := m.DefiningOp(v)
	if op == 0 || !m.Kind(op).IsConstant() {
		return 0, false
	}
	dense, ok := m.Attr(op, "value").(*Dense)
	if !ok || !dense.Splat || len(dense.Data) > 8 || len(dense.Data) == 0 {
		return 0, false
	}
	n := int64(dtype.LoadBits(dense.Data))
	if m.ValueType(v).DType.Kind() == dtype.Unsigned {
		return n, n >= 0
	}
	shift := 64 - 8*len(dense.Data)
	return n << shift >> shift, true
}
