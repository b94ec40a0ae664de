package tensor

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// Window describes sliding windows, one entry per dimension. Absent lists mean stride and dilation 1 and no
// padding. Base dilation puts BaseDilation-1 gaps between elements, then Padding adds low and high, or cuts off
// where negative; the window takes Size elements that lie WindowDilation apart.
type Window struct {
	Size, Stride, BaseDilation, WindowDilation []int64
	Padding                                    [][2]int64
}

func (w Window) withDefaults(rank int) Window {
	ones := slices.Repeat([]int64{1}, rank)
	for _, list := range []*[]int64{&w.Stride, &w.BaseDilation, &w.WindowDilation} {
		if *list == nil {
			*list = ones
		}
	}
	if w.Padding == nil {
		w.Padding = make([][2]int64, rank)
	}
	return w
}

// resultShape returns how many windows there are along each dimension.
func (w Window) resultShape(shape []int64) []int64 {
	out := make([]int64, len(shape))
	for d, n := range shape {
		padded := w.Padding[d][0] + n + max(n-1, 0)*(w.BaseDilation[d]-1) + w.Padding[d][1]
		extent := (w.Size[d]-1)*w.WindowDilation[d] + 1
		if padded >= extent && padded > 0 {
			out[d] = (padded-extent)/w.Stride[d] + 1
		}
	}
	return out
}

// ReduceWindow folds every window of the inputs, which have one shape, with body, starting with inits
// (stablehlo.md section 2.10). Padding counts as inits. The results have the element types of inits.
func ReduceWindow(inputs, inits []Tensor, w Window, body Combiner) ([]Tensor, error) {
	w = w.withDefaults(inputs[0].Rank())
	shape := w.resultShape(inputs[0].Shape)
	outs := lists.Map(inits, func(t Tensor) Tensor { return New(t.DType, shape) })
	if lists.Product(shape) == 0 {
		return outs, nil
	}
	bases, starts := make([]Tensor, len(inputs)), make([]Tensor, len(inputs))
	for i, x := range inputs {
		acc := accumulateIn(inits[i].DType, body)
		starts[i] = Convert(inits[i], acc)
		bases[i] = w.pad(Convert(Convert(x, inits[i].DType), acc), starts[i])
	}
	if body.Monoid != MonoidNone {
		windowByDimension(bases, starts, w, shape, body.Monoid.kernel())
	} else {
		var err error
		if bases, err = windowByOffset(bases, starts, w, shape, body); err != nil {
			return nil, err
		}
	}
	for i := range outs {
		outs[i] = Convert(bases[i], inits[i].DType)
	}
	return outs, nil
}

// pad applies base dilation and padding with the scalar value.
func (w Window) pad(x, value Tensor) Tensor {
	rank := x.Rank()
	low, high, interior := make([]int64, rank), make([]int64, rank), make([]int64, rank)
	for d := range rank {
		low[d], high[d], interior[d] = w.Padding[d][0], w.Padding[d][1], w.BaseDilation[d]-1
	}
	return Pad(x, value, low, high, interior)
}

// windowByOffset folds all windows at once: step j combines what they have at position j.
func windowByOffset(bases, starts []Tensor, w Window, shape []int64, body Combiner) ([]Tensor, error) {
	acc := lists.Of(len(bases), func(i int) Tensor { return BroadcastInDim(starts[i], nil, shape) })
	at := newCounter(w.Size)
	for ok := true; ok; ok = at.next() {
		elems := make([]Tensor, len(bases))
		for i, base := range bases {
			from, limit := make([]int64, len(shape)), make([]int64, len(shape))
			for d := range shape {
				from[d] = at.index[d] * w.WindowDilation[d]
				limit[d] = from[d] + (shape[d]-1)*w.Stride[d] + 1
			}
			elems[i] = Slice(base, from, limit, w.Stride)
		}
		var err error
		if acc, err = body.each(acc, elems); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// windowByDimension folds along one dimension after the other, which a known body permits, in the place of the bases.
func windowByDimension(bases, starts []Tensor, w Window, shape []int64, combine func(x, y Tensor) Tensor) {
	for i, base := range bases {
		for d := range shape {
			base = foldDimension(base, int64(d), w, shape[d], combine)
		}
		bases[i] = combine(BroadcastInDim(starts[i], nil, shape), base)
	}
}

// foldDimension folds windows along dimension d of x, n of them.
func foldDimension(x Tensor, d int64, w Window, n int64, combine func(x, y Tensor) Tensor) Tensor {
	size, step, stride := w.Size[d], w.WindowDilation[d], w.Stride[d]
	from, limit, strides := make([]int64, x.Rank()), slices.Clone(x.Shape), slices.Repeat([]int64{1}, x.Rank())
	if size > 4 && step == 1 {
		x = slidingFold(x, d, size, combine)
		strides[d], limit[d] = stride, (n-1)*stride+1
		return Slice(x, from, limit, strides)
	}
	strides[d] = stride
	var acc Tensor
	for j := range size {
		from[d] = j * step
		limit[d] = from[d] + (n-1)*stride + 1
		part := Slice(x, from, limit, strides)
		if j == 0 {
			acc = part
			continue
		}
		acc = combine(acc, part)
	}
	return acc
}

// slidingFold folds all windows of size elements along dimension d with three combinations per element: a window
// is the end of one block of size elements and the beginning of the next (van Herk, Gil and Werman).
func slidingFold(x Tensor, d, size int64, combine func(x, y Tensor) Tensor) Tensor {
	perm := []int64{d}
	for k := range int64(x.Rank()) {
		if k != d {
			perm = append(perm, k)
		}
	}
	x = Transpose(x, perm)
	n := x.Shape[0]
	begins, ends := x.Clone(), x.Clone()
	for i := int64(1); i < n; i++ {
		if i%size != 0 {
			copy(begins.rows(i, i+1).Data, combine(begins.rows(i-1, i), x.rows(i, i+1)).Data)
		}
		if j := n - 1 - i; (j+1)%size != 0 {
			copy(ends.rows(j, j+1).Data, combine(x.rows(j, j+1), ends.rows(j+1, j+2)).Data)
		}
	}
	shape := slices.Clone(x.Shape)
	shape[0] = n - size + 1
	out := New(x.DType, shape)
	for i := range shape[0] {
		last := begins.rows(i+size-1, i+size)
		if i%size != 0 {
			last = combine(ends.rows(i, i+1), last)
		}
		copy(out.rows(i, i+1).Data, last.Data)
	}
	return Transpose(out, lists.Inverse(perm))
}

// Selector is the select region of select_and_scatter: Body, called with two scalars, or, if Known, the comparison
// of its two arguments in the given direction.
type Selector struct {
	Known     bool
	Direction Direction
	Body      Body
}

// SelectAndScatter finds the chosen element of every window of operand, the last one in row-major order whose
// predecessor was not selected over it, and combines there the window's element of source into a tensor filled
// with init. Padding is never chosen.
func SelectAndScatter(operand, source, init Tensor, w Window, sel Selector, scatter Combiner) (Tensor, error) {
	w = w.withDefaults(operand.Rank())
	prefers := sel.preference(operand)
	targets := make([]int64, 0, source.Len())
	at := newCounter(source.Shape)
	if source.Len() > 0 {
		for ok := true; ok; ok = at.next() {
			target, err := w.choose(operand.Shape, at.index, prefers)
			if err != nil {
				return Tensor{}, err
			}
			targets = append(targets, target)
		}
	}
	outs, err := scatterAt([]Tensor{BroadcastInDim(init, nil, operand.Shape)}, targets, []Tensor{source}, scatter)
	if err != nil {
		return Tensor{}, err
	}
	return outs[0], nil
}

// choose returns the offset of the chosen element of a window, -1 if the window lies in the padding.
func (w Window) choose(shape, window []int64, prefers func(chosen, next int64) (bool, error)) (int64, error) {
	chosen := int64(-1)
	st := strides(shape)
	in := newCounter(w.Size)
next:
	for ok := true; ok; ok = in.next() {
		offset := int64(0)
		for d, i := range in.index {
			pos := window[d]*w.Stride[d] + i - w.Padding[d][0]
			if pos < 0 || pos >= shape[d] {
				continue next
			}
			offset += pos * st[d]
		}
		if chosen < 0 {
			chosen = offset
			continue
		}
		keep, err := prefers(chosen, offset)
		if err != nil {
			return 0, err
		}
		if !keep {
			chosen = offset
		}
	}
	return chosen, nil
}

// preference returns the selection between the elements at two offsets.
func (s Selector) preference(x Tensor) func(chosen, next int64) (bool, error) {
	width := int64(x.DType.Bytes())
	scalar := func(at int64) Tensor { return Tensor{x.DType, []int64{}, x.Data[at*width : (at+1)*width]} }
	if !s.Known {
		return func(chosen, next int64) (bool, error) {
			out, err := s.Body([]Tensor{scalar(chosen), scalar(next)})
			if err != nil {
				return false, err
			}
			return out[0].Data[0] != 0, nil
		}
	}
	if x.DType.Bits() > 53 && x.DType != dtype.F64 {
		return func(chosen, next int64) (bool, error) {
			return Compare(scalar(chosen), scalar(next), s.Direction, false).Data[0] != 0, nil
		}
	}
	values := x.Floats()
	var holds [1]byte
	return func(chosen, next int64) (bool, error) {
		compareLoop(holds[:], values[chosen:chosen+1], values[next:next+1], s.Direction)
		return holds[0] != 0, nil
	}
}
