package tensor

import "slices"

// Rearrangement puts elements of tensors of one shape, known before, at other places.
type Rearrangement struct {
	from, shape []int64
	walk        walk // simplified
	same        bool // nothing moves
	empty       bool
}

// newRearrangement prepares a walk, whose shape may be part of that of the result.
func newRearrangement(from []int64, w walk) *Rearrangement {
	r := &Rearrangement{from: slices.Clone(from), shape: w.shape, empty: slices.Contains(w.shape, 0)}
	r.walk = w.simplify(walk{})
	return r
}

// Fits says whether operands of this shape can be rearranged.
func (r *Rearrangement) Fits(shape []int64) bool { return slices.Equal(shape, r.from) }

// Of returns the rearranged tensor, x itself where nothing moves. Results of one Rearrangement share their shape.
func (r *Rearrangement) Of(x Tensor) Tensor {
	if r.same {
		return x
	}
	out := newUnset(x.DType, r.shape)
	r.into(out, x, 0)
	return out
}

// into puts the elements into a tensor, those that lie so much farther on.
func (r *Rearrangement) into(out, x Tensor, farther int64) {
	if !r.empty {
		w := r.walk
		w.srcOff += farther
		moveSimple(out, x, &w)
	}
}

// NewBroadcast prepares BroadcastInDim.
func NewBroadcast(from, dims, shape []int64) *Rearrangement {
	return newRearrangement(from, broadcastWalk(walk{}, strides(from), from, dims, shape))
}

// NewTranspose prepares Transpose.
func NewTranspose(from, perm []int64) *Rearrangement {
	if slices.IsSorted(perm) {
		return &Rearrangement{from: slices.Clone(from), same: true}
	}
	return newRearrangement(from, transposeWalk(walk{}, strides(from), from, perm))
}

// NewSlice prepares Slice.
func NewSlice(from, start, limit, stride []int64) *Rearrangement {
	return newRearrangement(from, sliceWalk(walk{src: strides(from)}, start, limit, stride))
}

// NewReverse prepares turning the order of elements around along the given dimensions.
func NewReverse(from, dims []int64) *Rearrangement {
	w := walk{shape: slices.Clone(from), dst: strides(from), src: strides(from)}
	for _, d := range dims {
		w.reverse(from, d)
	}
	return newRearrangement(from, w)
}

// reverse has a walk begin at the other end of a dimension of the elements, which have a shape.
func (w *walk) reverse(from []int64, d int64) {
	w.srcOff += (from[d] - 1) * w.src[d]
	w.src[d] = -w.src[d]
}
