package tensor

import (
	"slices"

	"autoshard/backend/tensor/memory"
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

// Each returns the windows on each of the tensors that lie one behind the other along a dimension before all others.
func (w Window) Each() Window {
	w.Size = slices.Concat([]int64{1}, w.Size)
	for _, list := range []*[]int64{&w.Stride, &w.BaseDilation, &w.WindowDilation} {
		if *list != nil {
			*list = slices.Concat([]int64{1}, *list)
		}
	}
	if w.Padding != nil {
		w.Padding = slices.Concat([][2]int64{{}}, w.Padding)
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
	if lists.Product(shape) == 0 {
		return lists.Map(inits, func(t Tensor) Tensor { return New(t.DType, shape) }), nil
	}
	outs := make([]Tensor, len(inits))
	bases, starts := make([]Tensor, len(inputs)), make([]Tensor, len(inputs))
	for i, x := range inputs {
		acc := accumulateIn(inits[i].DType, body)
		starts[i] = Convert(inits[i], acc)
		converted := Convert(Convert(x, inits[i].DType), acc)
		bases[i] = w.pad(converted, starts[i])
		finish(converted, x)
	}
	if body.Monoid != MonoidNone {
		windowByDimension(bases, starts, w, shape, body.Monoid)
	} else {
		var err error
		if bases, err = windowByOffset(bases, starts, w, shape, body); err != nil {
			return nil, err
		}
	}
	for i := range outs {
		outs[i] = Convert(bases[i], inits[i].DType)
		if body.Monoid != MonoidNone {
			finish(bases[i], outs[i])
		}
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

// windowByDimension folds along one dimension after the other, which a known body permits, in the place of the bases. These are of the
// kernel's own memory.
func windowByDimension(bases, starts []Tensor, w Window, shape []int64, m Monoid) {
	for i, base := range bases {
		for d := range shape {
			if w.Size[d] == 1 && w.Stride[d] == 1 {
				continue
			}
			folded := foldDimension(base, int64(d), w, shape[d], m)
			memory.Give(base.Data)
			base = folded
		}
		m.combine(base, starts[i], base)
		bases[i] = base
	}
}

// foldDimension folds windows along dimension d of x, n of them.
func foldDimension(x Tensor, d int64, w Window, n int64, m Monoid) Tensor {
	size, step, stride := w.Size[d], w.WindowDilation[d], w.Stride[d]
	from, limit, strides := make([]int64, x.Rank()), slices.Clone(x.Shape), slices.Repeat([]int64{1}, x.Rank())
	if size > 4 && step == 1 {
		folded := slidingFold(x, d, size, m)
		defer memory.Give(folded.Data)
		strides[d], limit[d] = stride, (n-1)*stride+1
		return Slice(folded, from, limit, strides)
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
		m.combine(acc, acc, part)
		memory.Give(part.Data)
	}
	return acc
}

// slidingFold folds all windows of size elements along dimension d with three combinations per element: a window
// is the end of one block of size elements and the beginning of the next (van Herk, Gil and Werman).
func slidingFold(x Tensor, d, size int64, m Monoid) Tensor {
	perm := []int64{d}
	for k := range int64(x.Rank()) {
		if k != d {
			perm = append(perm, k)
		}
	}
	lines := Transpose(x, perm)
	defer finish(lines, x)
	n := lines.Shape[0]
	begins, ends := lines.Clone(), lines.Clone()
	defer memory.Give(begins.Data)
	defer memory.Give(ends.Data)
	shape := slices.Clone(lines.Shape)
	shape[0] = n - size + 1
	out := newUnset(x.DType, shape)
	width := int64(len(lines.Data)) / n
	row := func(t Tensor, i int64) Tensor { return Tensor{x.DType, shape[1:], t.Data[i*width:][:width]} }
	for i := int64(1); i < n; i++ {
		if i%size != 0 {
			m.combine(row(begins, i), row(begins, i-1), row(lines, i))
		}
		if j := n - 1 - i; (j+1)%size != 0 {
			m.combine(row(ends, j), row(lines, j), row(ends, j+1))
		}
	}
	for i := range shape[0] {
		last := row(begins, i+size-1)
		if i%size == 0 {
			copy(row(out, i).Data, last.Data)
			continue
		}
		m.combine(row(out, i), row(ends, i), last)
	}
	moved := Transpose(out, lists.Inverse(perm))
	finish(out, moved)
	return moved
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
	scratch := newUnset(dtype.I64, source.Shape)
	defer memory.Give(scratch.Data)
	targets := Elems[int64](scratch)[:0]
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
