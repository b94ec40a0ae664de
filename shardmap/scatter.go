package shardmap

import (
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
	"autoshard/subaxis"
)

// scatter shifts indices into the blocks of the dimensions that are cut: updates of other devices' rows fall outside and are skipped.
// Where windows have several rows, each device scatters into all that its windows may touch, and keeps its block of that. Along axes that
// cut only the updates, all devices but the first start from the combiner's identity; an all-reduce follows (specification: localforms.md
// section 3.12).
func (l *lowerer) scatter(op ir.OpID) error {
	m := l.m
	dims := m.Attr(op, "scatter_dimension_numbers").(*ir.ScatterDims)
	n := m.NumResults(op)
	operand := m.Operand(op, 0)
	at := l.indexing(op, operand, dims.ToOperand, dims.IndexVectorDim)
	for _, d := range dims.InsertedWindow {
		if len(l.axes(operand, int(d))) > 0 {
			at.cut(int(d))
		}
	}
	spans := l.spans(op)
	for _, s := range spans {
		at.from(s.dim, s.Begin)
	}
	if at.any {
		m.SetOperand(op, at.operand, at.shift())
	}
	if s := m.Sharding(m.Result(op, 0)); s != 0 && len(m.ShardingOf(s).Unreduced) > 0 {
		for i := range n {
			l.identityElsewhere(op, i, m.ShardingOf(s))
		}
	}
	l.results(op)
	l.scatterInto(op, spans)
	return nil
}

// spanned is what every device has of a dimension that is cut while windows are scattered into it.
type spanned struct {
	localform.Blocks
	localform.Span
	dim  int
	axes []subaxis.Ref
}

// spans returns the dimensions that are cut and of which windows cover a part.
func (l *lowerer) spans(op ir.OpID) (all []spanned) {
	operand := l.m.Operand(op, 0)
	whole := l.global(operand)
	for d, rows := range localform.Scattered(l.m, op, l.global) {
		if axes := l.axes(operand, d); len(axes) > 0 && rows > 0 {
			blocks := localform.Blocks{N: whole[d], K: subaxis.Product(axes)}
			all = append(all, spanned{blocks, localform.Around(blocks, rows), d, axes})
		}
	}
	return all
}

// scatterInto lets an op scatter into spans instead of blocks, of which it takes the blocks afterwards.
func (l *lowerer) scatterInto(op ir.OpID, spans []spanned) {
	m := l.m
	for i, v := range m.ResultValues(op) {
		wide, before, after := m.Operand(op, i), m.BuilderBefore(op), m.BuilderAfter(op)
		for _, s := range spans {
			f := &fetcher{lowerer: l, b: before, dim: s.dim, axes: s.axes}
			wide = f.put(f.filled(wide, s.Rows), wide, s.At)
		}
		m.SetOperand(op, i, wide)
		m.SetType(v, m.Type(wide))
		for _, s := range spans {
			f := &fetcher{lowerer: l, b: after, dim: s.dim, axes: s.axes}
			kept := f.part(v, s.At, s.Size())
			m.SetSharding(kept, m.Sharding(v))
			m.Divert(v, kept)
			l.p.Move(v, kept)
			v = kept
		}
	}
}

// identityElsewhere replaces operand i of a scatter by the identity of its reduction on all devices but the first
// along the unreduced axes.
func (l *lowerer) identityElsewhere(op ir.OpID, i int, s *ir.Sharding) {
	m := l.m
	v := m.Operand(op, i)
	b := m.BuilderBefore(op)
	first := b.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.CompareAttrs("EQ", dtype.I32), l.axisIndex(s.Unreduced), b.Integer(dtype.I32, 0))
	fill := b.Identity(m.ValueType(v).DType, s.Reduction)
	kept := b.Op1(ir.OpSelect, m.Type(v), nil, first, v, l.broadcast(b, fill, m.Shape(v)))
	m.SetSharding(kept, m.Sharding(v))
	m.SetOperand(op, i, kept)
}
