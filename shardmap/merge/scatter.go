package merge

import (
	"autoshard/internal/lists"
	"autoshard/ir"
)

// sideBySide emits one reduce-scatter for several before the last of them, and returns what each of these makes. It scatters the rows of a
// matrix: row i is what member i of a group gets of all operands, one behind the other.
func sideBySide(m *ir.Module, ops []ir.OpID) (merged ir.OpID, results []ir.ValueID) {
	last := ops[len(ops)-1]
	j := &joiner{m, m.BuilderBefore(last)}
	rows := lists.Map(ops, j.rows)
	dims := []int64{m.Shape(rows[0])[0], 0}
	for _, v := range rows {
		dims[1] += m.Shape(v)[1]
	}
	all := j.b.Op1(ir.OpConcatenate, m.WithDims(m.Type(rows[0]), dims), ir.MakeAttrs(ir.Named("dimension", m.I64(1))), rows...)
	row := j.b.Op1(m.Kind(last), m.WithDims(m.Type(all), []int64{1, dims[1]}), m.OpAttrs(last).With("dim", m.I64(0)), all)
	at := int64(0)
	for i, op := range ops {
		width := m.Shape(rows[i])[1]
		part := j.b.Op1(ir.OpSlice, m.WithDims(m.Type(row), []int64{1, width}), ir.MakeAttrs(ir.Named("start_indices", ir.Ints{0, at}),
			ir.Named("limit_indices", ir.Ints{1, at + width}), ir.Named("strides", ir.Ints{1, 1})), row)
		results = append(results, j.reshaped(part, m.Shape(m.Result(op, 0))...))
		at += width
	}
	return m.DefiningOp(row), results
}

// joiner emits the copies around a merged reduce-scatter or all-gather.
type joiner struct {
	m *ir.Module
	b *ir.Builder
}

// rows emits the operand of a reduce-scatter as a matrix whose rows are the blocks that it scatters.
func (j *joiner) rows(op ir.OpID) ir.ValueID {
	v := j.m.Operand(op, 0)
	before, n, size := outside(j.m, op), members(j.m, op), j.m.ValueType(v).Elements()
	if Turns(j.m, op) {
		v = j.swapped(v, before, n)
	}
	return j.reshaped(v, n, size/n)
}

// swapped emits a value, read as a matrix of so many rows and columns of equal parts, with these as columns and rows.
func (j *joiner) swapped(v ir.ValueID, rows, columns int64) ir.ValueID {
	part := j.m.ValueType(v).Elements() / rows / columns
	v = j.reshaped(v, rows, columns, part)
	return j.b.Op1(ir.OpTranspose, j.m.WithDims(j.m.Type(v), []int64{columns, rows, part}),
		ir.MakeAttrs(ir.Named("permutation", ir.Ints{1, 0, 2})), v)
}

// reshaped emits a value in another shape.
func (j *joiner) reshaped(v ir.ValueID, dims ...int64) ir.ValueID {
	return j.b.Op1(ir.OpReshape, j.m.WithDims(j.m.Type(v), dims), nil, v)
}

// Turns says whether the blocks that a reduce-scatter over axes scatters have to be brought one behind the other, to be merged with others,
// or those that an all-gather gathers back to where they belong.
func Turns(m *ir.Module, op ir.OpID) bool { return outside(m, op) > 1 }

// outside returns the product of the dimensions before the one that a reduce-scatter scatters, or an all-gather gathers.
func outside(m *ir.Module, op ir.OpID) int64 {
	return lists.Product(m.Shape(m.Operand(op, 0))[:dimension(m, op)])
}

// dimension returns that which a reduce-scatter over axes scatters, or an all-gather gathers.
func dimension(m *ir.Module, op ir.OpID) int64 { return m.OpAttrs(op).Int("dim", 0) }

// members returns how many blocks a reduce-scatter makes of its operand.
func members(m *ir.Module, op ir.OpID) int64 {
	return m.ValueType(m.Operand(op, 0)).Elements() / m.ValueType(m.Result(op, 0)).Elements()
}
