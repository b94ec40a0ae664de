package estimate

import (
	"encoding/binary"

	"autoshard/cost"
	"autoshard/ir"
)

// contraction says which dimensions of its operands an op multiplies how. What is neither batch nor contracted is free: rows of the left
// operand, columns of the right one.
type contraction struct {
	left, right sides
	groups      []int64 // dimensions of the right operand that have an entry for each group of rows
	convolves   bool    // rows are elements of the result for one feature
}

// sides are dimensions of an operand.
type sides struct{ batch, contracted []int64 }

// contractionOf returns what an op contracts; it is false for one that does not work on matrix units.
func contractionOf(m *ir.Module, op ir.OpID) (contraction, bool) {
	dot := func(d *ir.DotDims, groups []int64) (contraction, bool) {
		return contraction{sides{d.LhsBatch, d.LhsContract}, sides{d.RhsBatch, d.RhsContract}, groups, false}, true
	}
	switch m.Kind(op) {
	case ir.OpDotGeneral:
		return dot(m.Attr(op, "dot_dimension_numbers").(*ir.DotDims), nil)
	case ir.OpChloRaggedDot:
		d := m.Attr(op, "ragged_dot_dimension_numbers").(*ir.RaggedDims)
		return dot(&d.Dot, d.Group)
	case ir.OpDot:
		last := int64(len(m.Shape(m.Operand(op, 0))) - 1)
		return dot(&ir.DotDims{LhsContract: []int64{last}, RhsContract: []int64{0}}, nil)
	case ir.OpConvolution:
		d := m.Attr(op, "dimension_numbers").(*ir.ConvDims)
		return contraction{right: sides{contracted: append([]int64{d.KernelIn}, d.KernelSpatial...)}, convolves: true}, true
	}
	return contraction{}, false
}

// of returns the product of blocks of the given shapes, without the sizes of elements. That of a convolution has the window and input
// features as its depth, and the features of all groups as columns.
func (c *contraction) of(operands, results [][]int64) cost.Matmul {
	right := operands[1]
	depth := along(right, c.right.contracted)
	cols := product(right) / max(depth*along(right, c.right.batch)*along(right, c.groups), 1)
	if c.convolves {
		return cost.Matmul{I: product(results[0]) / max(cols, 1), J: depth, K: cols}
	}
	batch := along(operands[0], c.left.batch)
	return cost.Matmul{Batch: batch, I: product(operands[0]) / max(depth*batch, 1), J: depth, K: cols}
}

// appendTo appends the dimensions to a key.
func (c *contraction) appendTo(key []byte) []byte {
	for _, list := range [][]int64{c.left.batch, c.left.contracted, c.right.batch, c.right.contracted, c.groups} {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, d := range list {
			key = binary.AppendVarint(key, d)
		}
	}
	return key
}

// along returns the product of some dimensions of a shape.
func along(shape, dims []int64) int64 {
	n := int64(1)
	for _, d := range dims {
		n *= shape[d]
	}
	return n
}
