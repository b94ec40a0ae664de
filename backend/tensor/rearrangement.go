package tensor

import (
	"slices"

	"autoshard/internal/lists"
)

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
	if !r.empty {
		moveSimple(out, x, &r.walk)
	}
	return out
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
	shape := lists.Pick(from, perm)
	return newRearrangement(from, walk{shape: shape, dst: strides(shape), src: lists.Pick(strides(from), perm)})
}

// NewSlice prepares Slice.
func NewSlice(from, start, limit, stride []int64) *Rearrangement {
	w := walk{shape: make([]int64, len(start)), src: strides(from)}
	for d := range start {
		w.shape[d] = (limit[d] - start[d] + stride[d] - 1) / stride[d]
		w.srcOff += start[d] * w.src[d]
		w.src[d] *= stride[d]
	}
	w.dst = strides(w.shape)
	return newRearrangement(from, w)
}

// NewReverse prepares Reverse.
func NewReverse(from, dims []int64) *Rearrangement {
	w := walk{shape: slices.Clone(from), dst: strides(from), src: strides(from)}
	for _, d := range dims {
		w.srcOff += (from[d] - 1) * w.src[d]
		w.src[d] = -w.src[d]
	}
	return newRearrangement(from, w)
}
