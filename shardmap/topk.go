package shardmap

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

// topK searches what the devices found along the last dimension, where that is cut: each finds as many elements in its block, or all of
// them, and says where they are in the whole (specification: localforms.md section 3.8). Of equal elements the first ones are found, which
// are in the first blocks.
func (l *lowerer) topK(op ir.OpID) error {
	m, last := l.m, len(l.m.Shape(l.m.Operand(op, 0)))-1
	operand, axes := m.Operand(op, 0), l.axes(m.Operand(op, 0), last)
	l.results(op)
	if len(axes) == 0 {
		return nil
	}
	b, block := m.BuilderBefore(op), m.Shape(operand)[last]
	k := min(m.OpAttrs(op).Int("k", 0), block)
	f := &fetcher{lowerer: l, b: b, dim: last}
	values, indices := f.resized(m.Result(op, 0), k), f.resized(m.Result(op, 1), k)
	found := m.ResultValues(b.Op(ir.OpChloTopK, []ir.TypeID{values, indices}, m.OpAttrs(op).With("k", m.I64(k)), operand))
	first := l.broadcast(b, l.offset(b, axes, block, dtype.I32), m.TypeOf(indices).Dims)
	places := b.Op1(ir.OpAdd, indices, nil, found[1], first)
	m.SetOperand(op, 0, l.gathered(b, op, found[0], axes, last))
	l.lookUp(op, l.gathered(b, op, places, axes, last))
	return nil
}

// lookUp replaces the places of what an op found by what a value has there, along the last dimension.
func (l *lowerer) lookUp(op ir.OpID, in ir.ValueID) {
	m, v := l.m, l.m.Result(op, 1)
	last := int64(len(m.Shape(v)) - 1)
	batch := lists.Of(int(last), func(d int) int64 { return int64(d) })
	dims := &ir.GatherDims{Collapsed: []int64{last}, OperandBatch: batch, IndicesBatch: batch, StartIndexMap: []int64{last},
		IndexVectorDim: last + 1}
	sizes := lists.Of(int(last)+1, func(int) int64 { return 1 })
	out := m.BuilderAfter(op).Op1(ir.OpGather, m.Type(v), ir.MakeAttrs(ir.Named("dimension_numbers", dims),
		ir.Named("slice_sizes", ir.Ints(sizes)), ir.Named("indices_are_sorted", ir.BoolAttr(false))), in, v)
	m.SetSharding(out, m.Sharding(v))
	m.Divert(v, out)
	l.p.Move(v, out)
}
