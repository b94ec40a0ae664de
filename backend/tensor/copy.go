package tensor

import "slices"

// walk says where elements go: element i of the index space shape moves from src[srcOff + Σ i·src] to
// dst[dstOff + Σ i·dst]. Strides and offsets count elements.
type walk struct {
	shape          []int64
	dst, src       []int64
	dstOff, srcOff int64
}

// strides returns the row-major strides of a shape.
func strides(shape []int64) []int64 {
	s := make([]int64, len(shape))
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
	w = w.simplify()
	widths[dst.DType.Bytes()].move(dst, src, w)
}

// widthKernels are the kernels that do not look at elements, only at how wide they are.
type widthKernels interface {
	move(dst, src Tensor, w walk)
	choose(dst Tensor, pred []byte, onTrue, onFalse Tensor)
}

type wideAs[T any] struct{}

// widths are the kernels by the bytes of an element.
var widths = [...]widthKernels{
	1: wideAs[uint8]{}, 2: wideAs[uint16]{}, 3: wideAs[[3]byte]{}, 4: wideAs[uint32]{}, 8: wideAs[uint64]{}, 16: wideAs[complex128]{},
}

func (wideAs[T]) move(dst, src Tensor, w walk) { moveElems(view[T](dst), view[T](src), w) }

// simplify drops dimensions of size one and merges neighbours that are walked as one.
func (w walk) simplify() walk {
	out := walk{dstOff: w.dstOff, srcOff: w.srcOff}
	for d, n := range w.shape {
		last := len(out.shape) - 1
		switch {
		case n == 1:
		case last >= 0 && out.dst[last] == w.dst[d]*n && out.src[last] == w.src[d]*n:
			out.shape[last] *= n
			out.dst[last], out.src[last] = w.dst[d], w.src[d]
		default:
			out.shape = append(out.shape, n)
			out.dst = append(out.dst, w.dst[d])
			out.src = append(out.src, w.src[d])
		}
	}
	return out
}

func moveElems[T any](dst, src []T, w walk) {
	rank := len(w.shape)
	if rank == 0 {
		dst[w.dstOff] = src[w.srcOff]
		return
	}
	inner := rank - 1
	tile := -1
	if w.src[inner] != 1 && w.src[inner] != 0 {
		tile = slices.Index(w.src, 1)
	}
	outer := newCounter(w.shape, inner, tile)
	for ok := true; ok; ok = outer.next() {
		d, s := w.dstOff+outer.dot(w.dst), w.srcOff+outer.dot(w.src)
		if tile >= 0 {
			moveTile(dst, src, w, tile, d, s)
			continue
		}
		moveRow(dst, src, w.shape[inner], w.dst[inner], w.src[inner], d, s)
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
func moveTile[T any](dst, src []T, w walk, tile int, d, s int64) {
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
	skip  []bool
}

// newCounter counts through shape, leaving the given dimensions at zero; negative ones name none.
func newCounter(shape []int64, skip ...int) *counter {
	c := &counter{shape, make([]int64, len(shape)), make([]bool, len(shape))}
	for _, d := range skip {
		if d >= 0 {
			c.skip[d] = true
		}
	}
	return c
}

// next moves on and reports whether there was another index; otherwise the index is all zeros again.
func (c *counter) next() bool {
	for d := len(c.shape) - 1; d >= 0; d-- {
		if c.skip[d] {
			continue
		}
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
