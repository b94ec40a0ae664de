package shardmap

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// reduce combines the partial results of a reduction of several operands, which are no sums or extremes: the devices gather those of
// each other and reduce them by the same region (specification: localforms.md section 3.2).
func (l *lowerer) reduce(op ir.OpID) error {
	m := l.m
	l.results(op)
	var axes []subaxis.Ref
	for _, d := range m.OpAttrs(op).Ints("dimensions") {
		axes = subaxis.AppendMerge(axes, l.axes(m.Operand(op, 0), int(d))...)
	}
	if m.NumResults(op) == 1 || len(axes) == 0 {
		return nil
	}
	b := m.BuilderBefore(op)
	for i, partial := range m.ResultValues(m.CloneOp(b, op, map[ir.ValueID]ir.ValueID{})) {
		m.SetOperand(op, i, l.stacked(b, op, partial, axes))
	}
	m.SetAttrs(op, m.OpAttrs(op).With("dimensions", ir.Ints{0}))
	return nil
}

// stacked emits what the devices along axes have of a value, one after the other along a new first dimension, for an op.
func (l *lowerer) stacked(b *ir.Builder, op ir.OpID, v ir.ValueID, axes []subaxis.Ref) ir.ValueID {
	row := b.Op1(ir.OpReshape, l.m.WithDims(l.m.Type(v), slices.Insert(slices.Clone(l.m.Shape(v)), 0, 1)), nil, v)
	return l.gathered(b, op, row, axes, 0)
}
