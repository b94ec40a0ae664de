package tensor

import "slices"

// walk says where elements go: element i of the index space shape moves from src[srcOff + Σ i·src] to
// dst[dstOff + Σ i·dst]. Strides and offsets count elements.
type walk struct {
	shape          []int64
	dst, src       []int64
	dstOff, srcOff int64
}

// usualRank is a rank for whose strides there is room on the stack.
const usualRank = 8

// strides returns the row-major strides of a shape.
func strides(shape []int64) []int64 { return appendStrides(make([]int64, 0, len(shape)), shape) }

// appendStrides is strides in the memory of an empty slice, where there is enough.
func appendStrides(s, shape []int64) []int64 {
	s = append(s, shape...)
	n := int64(1)
	for d := len(shape) - 1; d >= 0; d-- {
		s[d] = n
		n *= shape[d]
	}
	return s
}

// move copies the elements of src to dst, which have one element type.
func move(dst, src Tensor, w walk) {
	if slices.Contains(w.shape, 0) {
		return
	}
	var shape, to, from [usualRank]int64
	simple := w.simplify(walk{shape: shape[:0], dst: to[:0], src: from[:0]})
	moveSimple(dst, src, &simple)
}

// moveSimple is move by a walk that is simplified. Rows that are as wide as one wider element move as that.
func moveSimple(dst, src Tensor, simple *walk) {
	width := dst.DType.Bytes()
	var to, from [usualRank]int64
	wide := *simple
	if n := simple.fusible(width); n > 1 {
		wide = simple.fused(n, walk{dst: to[:0], src: from[:0]})
		width *= int(n)
	}
	moveWide(dst, src, &wide, width)
}

// moveWide is moveSimple of elements of a width.
func moveWide(dst, src Tensor, simple *walk, width int) {
	switch width {
	case 1:
		moveElems(view[uint8](dst), view[uint8](src), simple)
	case 2:
		moveElems(view[uint16](dst), view[uint16](src), simple)
	case 3:
		moveElems(view[[3]byte](dst), view[[3]byte](src), simple)
	case 4:
		moveElems(view[uint32](dst), view[uint32](src), simple)
	case 8:
		moveElems(view[uint64](dst), view[uint64](src), simple)
	default:
		moveElems(view[complex128](dst), view[complex128](src), simple)
	}
}

// fusible returns how many elements of a width, which lie side by side before and after, are one of a wider type at the end of every row; 1
// where they are not.
func (w *walk) fusible(width int) int64 {
	last := len(w.shape) - 1
	if last < 1 || w.dst[last] != 1 || w.src[last] != 1 {
		return 1
	}
	n := w.shape[last]
	switch n * int64(width) {
	case 2, 4, 8, 16:
	default:
		return 1
	}
	apart := w.dstOff | w.srcOff // n is a power of two
	for d := range last {
		apart |= w.dst[d] | w.src[d]
	}
	if apart%n != 0 {
		return 1
	}
	return n
}

// fused returns the walk of rows of n elements each, as one element, in the memory of an empty walk, where there is enough.
func (w *walk) fused(n int64, in walk) walk {
	last := len(w.shape) - 1
	in.shape, in.dstOff, in.srcOff = w.shape[:last], w.dstOff/n, w.srcOff/n
	for d := range last {
		in.dst, in.src = append(in.dst, w.dst[d]/n), append(in.src, w.src[d]/n)
	}
	return in
}

// widthKernels are the kernels that do not look at elements, only at how wide they are.
type widthKernels interface {
	choose(dst Tensor, pred []byte, onTrue, onFalse Tensor)
}

type wideAs[T any] struct{}

// widths are the kernels by the bytes of an element.
var widths = [...]widthKernels{
	1: wideAs[uint8]{}, 2: wideAs[uint16]{}, 3: wideAs[[3]byte]{}, 4: wideAs[uint32]{}, 8: wideAs[uint64]{}, 16: wideAs[complex128]{},
}

// simplify returns the walk without dimensions of size one, and with neighbours that are walked as one merged. It is in the memory of an
// empty walk, where there is enough.
func (w walk) simplify(in walk) walk {
	in.dstOff, in.srcOff = w.dstOff, w.srcOff
	for d, n := range w.shape {
		last := len(in.shape) - 1
		switch {
		case n == 1:
		case last >= 0 && in.dst[last] == w.dst[d]*n && in.src[last] == w.src[d]*n:
			in.shape[last] *= n
			in.dst[last], in.src[last] = w.dst[d], w.src[d]
		default:
			in.shape = append(in.shape, n)
			in.dst = append(in.dst, w.dst[d])
			in.src = append(in.src, w.src[d])
		}
	}
	return in
}

func moveElems[T any](dst, src []T, w *walk) {
	rank := len(w.shape)
	if rank == 0 {
		dst[w.dstOff] = src[w.srcOff]
		return
	}
	m := mover[T]{dst: dst, src: src, walk: w, tile: -1}
	if w.src[rank-1] != 1 && w.src[rank-1] != 0 {
		m.tile = slices.Index(w.src, 1)
	}
	m.run(0, w.dstOff, w.srcOff)
}

// mover walks dimension after dimension, but for that which is tiled with the last one, if any.
type mover[T any] struct {
	*walk
	dst, src []T
	tile     int
}

// run moves what lies at one index of the dimensions before dim, the tiled one apart. What is repeated along dim is copied from where it
// was put first.
func (m *mover[T]) run(dim int, d, s int64) {
	w, last := m.walk, len(m.shape)-1
	switch {
	case dim == last && m.tile >= 0:
		moveTile(m.dst, m.src, w, m.tile, d, s)
	case dim == last:
		moveRow(m.dst, m.src, w.shape[dim], w.dst[dim], w.src[dim], d, s)
	case dim == m.tile:
		m.run(dim+1, d, s)
	case w.src[dim] == 0 && (m.tile < 0 || dim < m.tile) && w.fills(dim+1): // a tile before dim has parts elsewhere
		m.run(dim+1, d, s)
		filled := m.dst[d : d+w.dst[dim]*w.shape[dim]]
		for done := w.dst[dim]; done < int64(len(filled)); done *= 2 {
			copy(filled[done:], filled[:done])
		}
	case dim == last-1 && m.tile < 0 && w.shape[last] < 8 && w.shape[last] < w.shape[dim]:
		moveColumns(m.dst, m.src, w, d, s)
	case dim == last-1 && m.tile < 0:
		moveRows(m.dst, m.src, w, d, s)
	default:
		for range w.shape[dim] {
			m.run(dim+1, d, s)
			d += w.dst[dim]
			s += w.src[dim]
		}
	}
}

// fills says whether the dimensions from dim on fill what lies between two indices of the one before.
func (w *walk) fills(dim int) bool {
	n := int64(1)
	for k := len(w.shape) - 1; k >= dim; k-- {
		if w.dst[k] != n {
			return false
		}
		n *= w.shape[k]
	}
	return w.dst[dim-1] == n
}

// moveColumns moves the last two dimensions column by column, which are longer than the rows.
func moveColumns[T any](dst, src []T, w *walk, d, s int64) {
	row, column := len(w.shape)-2, len(w.shape)-1
	for range w.shape[column] {
		to, from := d, s
		for range w.shape[row] {
			dst[to] = src[from]
			to += w.dst[row]
			from += w.src[row]
		}
		d += w.dst[column]
		s += w.src[column]
	}
}

// moveRows moves the last two dimensions row by row.
func moveRows[T any](dst, src []T, w *walk, d, s int64) {
	row, column := len(w.shape)-2, len(w.shape)-1
	for range w.shape[row] {
		moveRow(dst, src, w.shape[column], w.dst[column], w.src[column], d, s)
		d += w.dst[row]
		s += w.src[row]
	}
}

func moveRow[T any](dst, src []T, n, dstStride, srcStride, d, s int64) {
	switch {
	case dstStride == 1 && srcStride == 1:
		copy(dst[d:d+n], src[s:s+n])
	case dstStride == 1 && srcStride == 0:
		v := src[s]
		row := dst[d : d+n]
		for i := range row {
			row[i] = v
		}
	default:
		for range n {
			dst[d] = src[s]
			d += dstStride
			s += srcStride
		}
	}
}

// moveTile transposes dimension tile, contiguous in src, and the last, contiguous in dst, in blocks that stay
// in cache.
func moveTile[T any](dst, src []T, w *walk, tile int, d, s int64) {
	const block = 32
	inner := len(w.shape) - 1
	rows, cols := w.shape[tile], w.shape[inner]
	dstRow, dstCol, srcCol := w.dst[tile], w.dst[inner], w.src[inner]
	for r0 := int64(0); r0 < rows; r0 += block {
		for c0 := int64(0); c0 < cols; c0 += block {
			for r := r0; r < min(r0+block, rows); r++ {
				to, from := d+r*dstRow+c0*dstCol, s+r+c0*srcCol
				for c := c0; c < min(c0+block, cols); c++ {
					dst[to] = src[from]
					to += dstCol
					from += srcCol
				}
			}
		}
	}
}

// counter runs through an index space in row-major order.
type counter struct {
	shape []int64
	index []int64
}

func newCounter(shape []int64) *counter { return &counter{shape, make([]int64, len(shape))} }

// next moves on and reports whether there was another index; otherwise the index is all zeros again.
func (c *counter) next() bool {
	for d := len(c.shape) - 1; d >= 0; d-- {
		c.index[d]++
		if c.index[d] < c.shape[d] {
			return true
		}
		c.index[d] = 0
	}
	return false
}

// dot returns the offset of the index under the given strides.
func (c *counter) dot(strides []int64) int64 {
	offset := int64(0)
	for d, i := range c.index {
		offset += i * strides[d]
	}
	return offset
}

// Unravel returns the index of element k, in row-major order, of a shape.
func Unravel(k int64, shape []int64) []int64 {
	index := make([]int64, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		index[d] = k % shape[d]
		k /= shape[d]
	}
	return index
}
