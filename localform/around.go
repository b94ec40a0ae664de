package localform

import (
	"slices"

	"autoshard/ir"
)

// Span is a part of a dimension for every device: Rows of it from Begin[i] on, which hold the device's block from At[i] on.
type Span struct {
	Rows  int64
	Begin []int64
	At    []int64
}

// Around returns the spans in which all windows of so many rows lie that touch a device's block. They do not go beyond the dimension, so
// that a window lies partly outside of a span that it touches the block of only if it lies partly outside of the dimension. The blocks
// have to be full.
func Around(b Blocks, window int64) Span {
	size := b.Size()
	s := Span{Rows: min(b.N, size+2*(window-1)), Begin: make([]int64, b.K), At: make([]int64, b.K)}
	for i := range b.K {
		s.Begin[i] = min(max(0, i*size-(window-1)), b.N-s.Rows)
		s.At[i] = i*size - s.Begin[i]
	}
	return s
}

// Scattered returns for each dimension of what a scatter writes into how many rows of it a window has, 0 where that is one row without a
// dimension of its own, or all of them. shape returns the sizes of whole tensors.
func Scattered(m *ir.Module, op ir.OpID, shape func(ir.ValueID) []int64) []int64 {
	dims, _ := m.Attr(op, "scatter_dimension_numbers").(*ir.ScatterDims)
	updates, windows := shape(m.Operand(op, m.NumResults(op)+1)), dims.UpdateWindow
	out := make([]int64, len(shape(m.Operand(op, 0))))
	for d, whole := range shape(m.Operand(op, 0)) {
		if slices.Contains(dims.InsertedWindow, int64(d)) || slices.Contains(dims.InputBatch, int64(d)) {
			continue
		}
		if rows := updates[windows[0]]; rows != whole {
			out[d] = rows
		}
		windows = windows[1:]
	}
	return out
}
