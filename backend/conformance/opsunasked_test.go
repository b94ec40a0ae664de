package conformance

import (
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
	{peer.XLA, "bits as i1", func(m *ir.Module, op ir.OpID) bool {
		return m.Kind(op) == ir.OpBitcastConvert && hasType(m, op, dtype.I1)
	}},
	{peer.Evaluator, "total order", func(m *ir.Module, op ir.OpID) bool {
		return m.OpAttrs(op).Str("compare_type") == "TOTALORDER" ||
			m.Kind(op) == ir.OpChloTopK && m.ValueType(m.Operand(op, 0)).DType.Kind() == dtype.Float
	}},
	{peer.Evaluator, "IRFFT", func(m *ir.Module, op ir.OpID) bool { return m.OpAttrs(op).Str("fft_type") == "IRFFT" }},
	{peer.Evaluator, "select_and_scatter", isKind(ir.OpSelectAndScatter)},
	{peer.Evaluator, "unsigned indices", func(m *ir.Module, op ir.OpID) bool {
		k := m.Kind(op)
		return (k == ir.OpDynamicSlice || k == ir.OpGather || k == ir.OpDynamicGather) && m.NumOperands(op) > 1 && isUnsigned(m, op, 1) ||
			k == ir.OpDynamicUpdateSlice && m.NumOperands(op) > 2 && isUnsigned(m, op, 2)
	}},
}

func isUnsigned(m *ir.Module, op ir.OpID, operand int) bool {
	return m.ValueType(m.Operand(op, operand)).DType.Kind() == dtype.Unsigned
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
