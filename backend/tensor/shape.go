package tensor

import (
	"math"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// BroadcastInDim returns a tensor of the given shape in which operand dimension k runs along dims[k]; operand
// dimensions of size one are repeated.
func BroadcastInDim(x Tensor, dims, shape []int64) Tensor {
	out := newUnset(x.DType, shape)
	var to, from, zeros [usualRank]int64
	move(out, x, broadcastWalk(walk{dst: to[:0], src: zeros[:0]}, appendStrides(from[:0], x.Shape), x.Shape, dims, shape))
	return out
}

// broadcastWalk is the walk of BroadcastInDim, in the memory of an empty walk, from elements of a shape with these strides.
func broadcastWalk(w walk, strides, from, dims, shape []int64) walk {
	w.shape, w.dst = shape, appendStrides(w.dst, shape)
	for range shape {
		w.src = append(w.src, 0)
	}
	for k, stride := range strides {
		if from[k] != 1 {
			w.src[dims[k]] = stride
		}
	}
	return w
}

// Reshape returns the same elements, in row-major order, under another shape. It shares Data, and the shape, which must not change.
func Reshape(x Tensor, shape []int64) Tensor {
	if lists.Product(shape) != lists.Product(x.Shape) {
		panic("tensor: reshape changes the number of elements")
	}
	return Tensor{x.DType, shape, x.Data}
}

// Transpose returns r with dim(r, k) = dim(x, perm[k]); x itself where nothing moves.
func Transpose(x Tensor, perm []int64) Tensor {
	if slices.IsSorted(perm) {
		return x
	}
	var to, from, permuted [usualRank]int64
	w := walk{shape: make([]int64, 0, len(perm)), dst: to[:0], src: permuted[:0]}
	w = transposeWalk(w, appendStrides(from[:0], x.Shape), x.Shape, perm)
	out := newUnset(x.DType, w.shape)
	move(out, x, w)
	return out
}

// transposeWalk is the walk of Transpose, in the memory of an empty walk, from elements of a shape with these strides.
func transposeWalk(w walk, strides, from, perm []int64) walk {
	for _, d := range perm {
		w.shape, w.src = append(w.shape, from[d]), append(w.src, strides[d])
	}
	w.dst = appendStrides(w.dst, w.shape)
	return w
}

// Slice returns the elements start, start+stride, … below limit of every dimension.
func Slice(x Tensor, start, limit, stride []int64) Tensor {
	var to, from [usualRank]int64
	w := sliceWalk(walk{shape: make([]int64, 0, len(start)), dst: to[:0], src: appendStrides(from[:0], x.Shape)}, start, limit, stride)
	out := newUnset(x.DType, w.shape)
	move(out, x, w)
	return out
}

// sliceWalk is the walk of Slice, in the memory of an empty walk that has the strides of the elements.
func sliceWalk(w walk, start, limit, stride []int64) walk {
	for d := range start {
		w.shape = append(w.shape, (limit[d]-start[d]+stride[d]-1)/stride[d])
		w.srcOff += start[d] * w.src[d]
		w.src[d] *= stride[d]
	}
	w.dst = appendStrides(w.dst, w.shape)
	return w
}

// DynamicSlice returns the block of the given sizes that begins at the scalar starts, each clamped so that the
// block lies inside. Starts that are fewer than the dimensions are of the last ones; along the others the block begins at 0.
func DynamicSlice(x Tensor, starts []Tensor, sizes []int64) Tensor {
	out := newUnset(x.DType, sizes)
	var to, from [usualRank]int64
	src := appendStrides(from[:0], x.Shape)
	move(out, x, walk{shape: sizes, dst: appendStrides(to[:0], sizes), src: src, srcOff: clampedOffset(x.Shape, starts, sizes, src)})
	return out
}

// DynamicUpdateSlice returns x with the block at the scalar starts, clamped as in DynamicSlice, replaced by
// update.
func DynamicUpdateSlice(x, update Tensor, starts []Tensor) Tensor {
	out := x.Clone()
	DynamicUpdateSliceInPlace(out, update, starts)
	return out
}

// DynamicUpdateSliceInPlace is DynamicUpdateSlice that changes x itself, for operands that die at the op.
func DynamicUpdateSliceInPlace(x, update Tensor, starts []Tensor) {
	var to, from [usualRank]int64
	dst := appendStrides(to[:0], x.Shape)
	move(x, update, walk{
		shape: update.Shape, dst: dst, src: appendStrides(from[:0], update.Shape),
		dstOff: clampedOffset(x.Shape, starts, update.Shape, dst),
	})
}

// clampedOffset returns the offset in elements of a block of the given sizes.
func clampedOffset(shape []int64, starts []Tensor, sizes, strides []int64) int64 {
	offset := int64(0)
	first := len(shape) - len(starts)
	for k, start := range starts {
		d := first + k
		offset += clampIndex(Scalar(start), shape[d]-sizes[d]) * strides[d]
	}
	return offset
}

func clampIndex(i, last int64) int64 { return max(0, min(i, last)) }

// Scalar returns the first element of integers as an int64: ui64 values above its range become its largest.
func Scalar(t Tensor) int64 {
	switch t.DType {
	case dtype.I32:
		return int64(Elems[int32](t)[0])
	case dtype.I64:
		return Elems[int64](t)[0]
	case dtype.I1:
		return int64(t.Data[0])
	}
	return indices(t)[0]
}

// indices returns integer elements as int64; ui64 values above its range become its largest, which every use
// clamps or skips.
func indices(t Tensor) []int64 {
	if t.DType != dtype.UI64 {
		return t.Ints()
	}
	out := make([]int64, t.Len())
	for i, v := range Elems[uint64](t) {
		out[i] = int64(min(v, math.MaxInt64))
	}
	return out
}

// Pad puts interior[d] copies of the scalar value between neighbours along dimension d, and low[d] and high[d]
// copies at the ends; negative low and high cut off instead.
func Pad(x, value Tensor, low, high, interior []int64) Tensor {
	shape, w := padWalk(x.Shape, low, high, interior)
	out := BroadcastInDim(value, nil, shape)
	move(out, x, w)
	return out
}

// padWalk returns the shape of padded tensors, and how the elements of those of a shape move there.
func padWalk(of, low, high, interior []int64) (shape []int64, w walk) {
	rank := len(of)
	shape = make([]int64, rank)
	from, count := make([]int64, rank), make([]int64, rank)
	for d, n := range of {
		step := interior[d] + 1
		shape[d] = low[d] + n + max(n-1, 0)*interior[d] + high[d]
		first := max(0, ceilDiv(-low[d], step))
		last := min(n-1, floorDiv(shape[d]-1-low[d], step))
		from[d], count[d] = first, max(0, last-first+1)
	}
	dst, src := strides(shape), strides(of)
	w = walk{shape: count, dst: dst, src: src}
	for d := range shape {
		w.srcOff += from[d] * src[d]
		w.dstOff += (low[d] + from[d]*(interior[d]+1)) * dst[d]
		dst[d] *= interior[d] + 1
	}
	return shape, w
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }

// Concatenate joins tensors along dimension dim.
func Concatenate(xs []Tensor, dim int64) Tensor {
	shape := slices.Clone(xs[0].Shape)
	shape[dim] = 0
	for _, x := range xs {
		shape[dim] += x.Shape[dim]
	}
	out := newUnset(xs[0].DType, shape)
	ConcatenateInto(out, xs, dim)
	return out
}

// ConcatenateInto is Concatenate into a tensor of the result's type.
func ConcatenateInto(out Tensor, xs []Tensor, dim int64) {
	shape := out.Shape
	if run := lists.Product(shape[dim+1:]) * int64(out.DType.Bytes()); run >= 16 || lists.Product(shape[:dim]) == 1 {
		joinRuns(out.Data, xs, dim, run)
		return
	}
	var to, from [usualRank]int64
	dst := appendStrides(to[:0], shape)
	offset := int64(0)
	for _, x := range xs {
		move(out, x, walk{shape: x.Shape, dst: dst, src: appendStrides(from[:0], x.Shape), dstOff: offset})
		offset += x.Shape[dim] * dst[dim]
	}
}

// CopyPart copies size elements along dimension dim, from element source of one tensor on, to a place along another dimension of a tensor
// that is as large along all but these two.
func CopyPart(out Tensor, place, outDim int64, x Tensor, source, dim, size int64) {
	var sizes, to, from [usualRank]int64
	w := walk{shape: append(sizes[:0], x.Shape...), dst: appendStrides(to[:0], out.Shape), src: appendStrides(from[:0], x.Shape)}
	w.shape[dim] = size
	w.dstOff, w.srcOff = place*w.dst[outDim], source*w.src[dim]
	move(out, x, w)
}

// CopyBox copies a box of some size, from start on in one tensor to a place in another of that type.
func CopyBox(out Tensor, place []int64, x Tensor, start, size []int64) {
	var sizes, to, from [usualRank]int64
	w := walk{shape: append(sizes[:0], size...), dst: appendStrides(to[:0], out.Shape), src: appendStrides(from[:0], x.Shape)}
	for d := range size {
		w.dstOff += place[d] * w.dst[d]
		w.srcOff += start[d] * w.src[d]
	}
	move(out, x, w)
}

// joinRuns is Concatenate where the elements of one index of dim, so many bytes, lie together.
func joinRuns(out []byte, xs []Tensor, dim, run int64) {
	for k := int64(0); len(out) > 0; k++ {
		for i := range xs {
			size := xs[i].Shape[dim] * run
			copy(out[:size], xs[i].Data[k*size:])
			out = out[size:]
		}
	}
}

// Iota returns a tensor whose element i is i[dim], wrapped or rounded to the element type.
func Iota(dt dtype.Type, shape []int64, dim int64) Tensor {
	row := New(dtype.I64, []int64{shape[dim]})
	for i := range Elems[int64](row) {
		Elems[int64](row)[i] = int64(i)
	}
	return BroadcastInDim(Convert(row, dt), []int64{dim}, shape)
}
