package typed

import (
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// bitsOf emits the bits of a value as integers, so that a comparison tells all of them apart: a complex value has two
// parts, and booleans, integers and floats below a byte stand for themselves.
func bitsOf(m *ir.Module, b *ir.Builder, v ir.ValueID) []ir.ValueID {
	t := m.ValueType(v)
	switch t.DType.Kind() {
	case dtype.Complex:
		part := dtype.F32
		if t.DType == dtype.C128 {
			part = dtype.F64
		}
		re := b.Op1(ir.OpReal, m.TensorType(part, t.Dims...), nil, v)
		im := b.Op1(ir.OpImag, m.TensorType(part, t.Dims...), nil, v)
		return append(bitsOf(m, b, re), bitsOf(m, b, im)...)
	case dtype.Float:
		words := map[int]dtype.Type{8: dtype.UI8, 16: dtype.UI16, 32: dtype.UI32, 64: dtype.UI64}
		if word, ok := words[t.DType.Bits()]; ok {
			return []ir.ValueID{b.Op1(ir.OpBitcastConvert, m.TensorType(word, t.Dims...), nil, v)}
		}
	}
	return []ir.ValueID{v}
}
