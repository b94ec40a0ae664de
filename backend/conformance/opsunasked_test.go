package conformance

import (
	"slices"
	"strings"

	"autoshard/internal/testkit/peer"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// unasked is a class of programs that a peer is not given: what it does with them is known and no use. They count as refused.
type unasked struct {
	peer peer.Name // "" for both
	name string    // in docs/numerics.md
	is   func(m *ir.Module, op ir.OpID) bool
}

var unaskedPrograms = []unasked{
	{peer.XLA, "crash: broadcast_complex", isKind(ir.OpChloBroadcastComplex)},
	{"", "crash: complex remainder", func(m *ir.Module, op ir.OpID) bool {
		return (m.Kind(op) == ir.OpRemainder || m.Kind(op) == ir.OpChloBroadcastRemainder) && isComplex(m.ValueType(m.Operand(op, 0)).DType)
	}},
	{peer.XLA, "crash: cbrt of FNUZ", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpCbrt && strings.HasSuffix(m.ValueType(m.Operand(op, 0)).DType.String(), "FNUZ")
	}},
	{peer.XLA, "no f6", func(m *ir.Module, op ir.OpID) bool {
		return hasType(m, op, dtype.F6E2M3FN) || hasType(m, op, dtype.F6E3M2FN)
	}},
	{peer.XLA, "integers of two bits", func(m *ir.Module, op ir.OpID) bool {
		return hasType(m, op, dtype.I2) || hasType(m, op, dtype.UI2)
	}},
	{peer.XLA, "integers of four bits", func(m *ir.Module, op ir.OpID) bool {
		return (m.Kind(op).IsUnary() || m.Kind(op).IsBinary() || m.Kind(op).IsBroadcasting()) && m.NumResults(op) == 1 &&
			isNibble(m.ValueType(m.Result(op, 0)).DType) && readByOps(m, m.Result(op, 0))
	}},
	{peer.XLA, "windows that overlap", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpSelectAndScatter && overlap(m.OpAttrs(op))
	}},
	{peer.XLA, "bits as i1", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpBitcastConvert && hasType(m, op, dtype.I1)
	}},
	{peer.XLA, "random bits read as numbers", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpRngBitGenerator && isSigned(m, m.Result(op, 1)) && readByOps(m, m.Result(op, 1))
	}},
	{peer.XLA, "integers divided by themselves", func(m *ir.Module, op ir.OpID) bool {
		k := m.Kind(op)
		if k.IsBroadcasting() {
			k = k.Plain()
		}
		return (k == ir.OpDivide || k == ir.OpRemainder) && !isInexact(m.ValueType(m.Operand(op, 0)).DType) &&
			madeAlike(m, m.Operand(op, 0), m.Operand(op, 1))
	}},
	{peer.XLA, "sorts from the last dimension", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpSort && m.OpAttrs(op).Int("dimension", -1) < 0
	}},
	{peer.Evaluator, "total order", func(m *ir.Module, op ir.OpID) bool {
		return m.OpAttrs(op).Str("compare_type") == "TOTALORDER" ||
			m.Kind(op) == ir.OpChloTopK && m.ValueType(m.Operand(op, 0)).DType.Kind() == dtype.Float
	}},
	{"", "no mantissa", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpReducePrecision && m.OpAttrs(op).Int("mantissa_bits", 1) == 0
	}},
	{peer.Evaluator, "IRFFT", func(m *ir.Module, op ir.OpID) bool { return m.OpAttrs(op).Str("fft_type") == "IRFFT" }},
	{peer.Evaluator, "select_and_scatter", isKind(ir.OpSelectAndScatter)},
	{peer.Evaluator, "unsigned indices", func(m *ir.Module, op ir.OpID) bool {
		i, ok := indicesOf(m, op)
		return ok && isUnsigned(m, i)
	}},
	{peer.XLA, "unsigned constants as indices", func(m *ir.Module, op ir.OpID) bool {
		i, ok := indicesOf(m, op)
		return ok && isUnsigned(m, i) && m.Kind(m.DefiningOp(i)) == ir.OpConstant
	}},
	{peer.XLA, "integers convolved that are folded", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpConvolution && !isInexact(m.ValueType(m.Result(op, 0)).DType) && isFolded(m, m.Operand(op, 0)) &&
			isFolded(m, m.Operand(op, 1))
	}},
	{peer.XLA, "bits read as numbers", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpBitcastConvert && flushable(m.ValueType(m.Result(op, 0)).DType) && readByOps(m, m.Result(op, 0))
	}},
}

// indicesOf returns the first value that says where an op reads or writes, if there is one.
func indicesOf(m *ir.Module, op ir.OpID) (ir.ValueID, bool) {
	at := 0
	switch m.Kind(op) {
	case ir.OpDynamicSlice, ir.OpGather, ir.OpDynamicGather:
		at = 1
	case ir.OpDynamicUpdateSlice:
		at = 2
	case ir.OpScatter:
		at = m.NumOperands(op) / 2
	}
	if at == 0 || at >= m.NumOperands(op) {
		return 0, false
	}
	return m.Operand(op, at), true
}

func isUnsigned(m *ir.Module, v ir.ValueID) bool {
	return m.ValueType(v).DType.Kind() == dtype.Unsigned
}

// isFolded says whether a value is made of constants alone.
func isFolded(m *ir.Module, v ir.ValueID) bool {
	op := m.DefiningOp(v)
	return op != 0 && !slices.ContainsFunc(m.Operands(op), func(w ir.ValueID) bool { return !isFolded(m, w) })
}

func isNibble(e dtype.Type) bool { return e == dtype.I4 || e == dtype.UI4 }

// overlap says whether windows are wider than they are apart.
func overlap(a ir.Attrs) bool {
	for k, size := range a.Ints("window_dimensions") {
		if strides := a.Ints("window_strides"); size > 1 && (k >= len(strides) || size > strides[k]) {
			return true
		}
	}
	return false
}

func isSigned(m *ir.Module, v ir.ValueID) bool { return m.ValueType(v).DType.Kind() == dtype.Signed }

// readByOps says whether an op reads a value that does more than return it.
func readByOps(m *ir.Module, v ir.ValueID) bool {
	for u := range m.Uses(v) {
		if m.Kind(u.Op) != ir.OpReturn {
			return true
		}
	}
	return false
}

// madeAlike says whether values are one, or results of one op, which may be.
func madeAlike(m *ir.Module, v, w ir.ValueID) bool {
	return v == w || m.DefiningOp(v) != 0 && m.DefiningOp(v) == m.DefiningOp(w)
}

func isKind(k ir.Kind) func(*ir.Module, ir.OpID) bool {
	return func(m *ir.Module, op ir.OpID) bool { return m.Kind(op) == k }
}

// hasType says whether an op has an operand or a result with elements of a type.
func hasType(m *ir.Module, op ir.OpID, e dtype.Type) bool {
	for _, v := range append(m.Operands(op), m.ResultValues(op)...) {
		if m.ValueType(v).DType == e {
			return true
		}
	}
	return false
}

// unaskedFor returns why a peer is not given a program, "" if it is.
func unaskedFor(name peer.Name, m *ir.Module) (why string) {
	m.Walk(m.Body(), func(op ir.OpID) {
		for _, u := range unaskedPrograms {
			if (u.peer == name || u.peer == "") && why == "" && u.is(m, op) {
				why = "not asked: " + u.name
			}
		}
	})
	return why
}
