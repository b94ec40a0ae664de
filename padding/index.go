package padding

import (
	"encoding/binary"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// integer returns an integer as it is stored.
func integer(e dtype.Type, value int64) []byte {
	return binary.LittleEndian.AppendUint64(nil, uint64(value))[:e.Bytes()]
}

// most returns the greatest value up to a limit that a type holds; false where all its values are below the limit.
func most(e dtype.Type, limit int64) ([]byte, bool) {
	if _, greatest := dtype.IntRange(e); greatest <= uint64(limit) {
		return ir.Extreme(e, true), false
	}
	return integer(e, limit), true
}

// clampStarts brings the starts of a slice of that size, which are operands from first on, to where it lies in the unpadded tensor.
func (p *padder) clampStarts(op ir.OpID, size []int64, first int) {
	m, operand := p.m, p.m.Operand(op, 0)
	whole := p.unpadded(operand)
	b := m.BuilderBefore(op)
	for d, n := range m.Shape(operand) {
		start := m.Operand(op, first+d)
		e := m.ValueType(start).DType
		limit, below := most(e, whole[d]-size[d])
		if n == whole[d] || size[d] == whole[d] || !below {
			continue
		}
		bound := func(data []byte) ir.ValueID {
			return p.like(start, b.Constant(&ir.Dense{Type: m.Type(start), Data: data, Splat: true}))
		}
		m.SetOperand(op, first+d, p.like(start, b.Op1(ir.OpClamp, m.Type(start), nil, bound(integer(e, 0)), start, bound(limit))))
	}
}

// clampIndices brings the indices of a gather to where its slices lie in the unpadded tensor.
func (p *padder) clampIndices(op ir.OpID) {
	m := p.m
	dims, ok := m.Attr(op, "dimension_numbers").(*ir.GatherDims)
	operand, indices := m.Operand(op, 0), m.Operand(op, 1)
	sizes, whole, e := m.OpAttrs(op).Ints("slice_sizes"), p.unpadded(operand), m.ValueType(indices).DType
	var low, high []byte
	clamped := false
	for _, d := range dims.StartIndexMap {
		limit, below := most(e, whole[d]-sizes[d])
		if below = ok && below && whole[d] != m.Shape(operand)[d] && sizes[d] != whole[d]; below {
			low, high, clamped = append(low, integer(e, 0)...), append(high, limit...), true
		} else {
			low, high = append(low, ir.Extreme(e, false)...), append(high, ir.Extreme(e, true)...)
		}
	}
	if !clamped {
		return
	}
	b := m.BuilderBefore(op)
	bound := func(data []byte) ir.ValueID { return p.components(b, indices, dims.IndexVectorDim, data) }
	clamp := p.like(indices, b.Op1(ir.OpClamp, m.Type(indices), nil, bound(low), indices, bound(high)))
	p.alias(clamp, indices)
	m.SetOperand(op, 1, clamp)
}

// components emits a value for each component of an index, as a tensor like the indices.
func (p *padder) components(b *ir.Builder, indices ir.ValueID, dim int64, data []byte) ir.ValueID {
	m, t := p.m, p.m.ValueType(indices)
	vector := m.Dense(m.TensorType(t.DType, int64(len(data)/t.DType.Bytes())), data)
	if vector.Splat {
		return p.like(indices, b.Constant(&ir.Dense{Type: m.Type(indices), Data: vector.Data, Splat: true}))
	}
	list := b.Constant(vector)
	m.SetSharding(list, p.cutBy(p.axes(indices, int(dim))))
	return p.like(indices, b.Op1(ir.OpBroadcastInDim, m.Type(indices), ir.MakeAttrs(ir.Named("broadcast_dimensions", ir.Ints{dim})), list))
}
