package tensor

import (
	"slices"

	"autoshard/backend/tensor/memory"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// ScatterDims are the dimension numbers of scatter (stablehlo.md section 2.8). An element that falls outside the
// operand is skipped; with WholeWindows the whole window is when any part of it does, as in XLA.
type ScatterDims struct {
	UpdateWindowDims, InsertedWindowDims       []int64
	InputBatchingDims, ScatterIndicesBatchDims []int64
	ScatterDimsToOperandDims                   []int64
	IndexVectorDim                             int64
	WholeWindows                               bool
}

// Scatter combines windows of updates into the inputs at the index vectors, in row-major order. All inputs have
// one shape, and all updates.
func Scatter(inputs []Tensor, scatterIndices Tensor, updates []Tensor, dims ScatterDims, body Combiner) ([]Tensor, error) {
	return ScatterInPlace(lists.Map(inputs, Tensor.Clone), scatterIndices, updates, dims, body)
}

// ScatterInPlace is Scatter that may change the inputs themselves, for operands that die at the op.
func ScatterInPlace(inputs []Tensor, scatterIndices Tensor, updates []Tensor, dims ScatterDims, body Combiner) ([]Tensor, error) {
	// update dimensions: those of the indices, then the window's
	order := append(lists.Others(updates[0].Rank(), dims.UpdateWindowDims), dims.UpdateWindowDims...)
	moved := lists.Map(updates, func(u Tensor) Tensor { return Transpose(u, order) })
	window := lists.Pick(updates[0].Shape, dims.UpdateWindowDims)
	vectors := newIndexVectors(scatterIndices, dims.IndexVectorDim)
	scratch := newUnset(dtype.I64, []int64{lists.Product(vectors.shape) * lists.Product(window)})
	defer memory.Give(scratch.Data)
	return scatterAt(inputs, dims.targets(Elems[int64](scratch)[:0], inputs[0].Shape, &vectors, window), moved, body)
}

// targets appends for every element of the updates its offset in the operand, -1 where it is skipped.
func (p ScatterDims) targets(out, shape []int64, vectors *indexVectors, window []int64) []int64 {
	full := make([]int64, 0, len(shape)) // window sizes over all operand dimensions
	for d, w := int64(0), 0; d < int64(len(shape)); d++ {
		if slices.Contains(p.InsertedWindowDims, d) || slices.Contains(p.InputBatchingDims, d) {
			full = append(full, 1)
			continue
		}
		full = append(full, window[w])
		w++
	}
	st := strides(shape)
	inWindow := newCounter(full)
	size := lists.Product(full)
	if size == 0 {
		return out
	}
	offsets := make([]int64, 0, size)
	for ok := true; ok; ok = inWindow.next() {
		offsets = append(offsets, inWindow.dot(st))
	}
	at := newCounter(vectors.shape)
	start := make([]int64, len(shape))
	for n := range lists.Product(vectors.shape) {
		clear(start)
		for k, d := range p.ScatterDimsToOperandDims {
			start[d] = vectors.at(n, k)
		}
		for k, d := range p.InputBatchingDims {
			start[d] = at.index[vectors.position(p.ScatterIndicesBatchDims[k])]
		}
		out = p.appendWindow(out, shape, start, full, st, offsets)
		at.next()
	}
	return out
}

// appendWindow appends the targets of one window.
func (p ScatterDims) appendWindow(out, shape, start, full, st, offsets []int64) []int64 {
	inside, base := true, int64(0)
	for d, s := range start {
		inside = inside && s >= 0 && s <= shape[d]-full[d]
		base += s * st[d]
	}
	if inside {
		for _, offset := range offsets {
			out = append(out, base+offset)
		}
		return out
	}
	at := newCounter(full)
next:
	for _, offset := range offsets {
		target := base + offset
		for d, i := range at.index {
			// Compared without adding, since the start may be any integer.
			if p.WholeWindows || start[d] < -i || start[d] >= shape[d]-i {
				target = -1
			}
		}
		out = append(out, target)
		if !at.next() {
			break next
		}
	}
	return out
}

// scatterAt combines element i of the updates into the inputs at offset targets[i], in order, skipping negative
// targets. It changes the inputs.
func scatterAt(inputs []Tensor, targets []int64, updates []Tensor, body Combiner) ([]Tensor, error) {
	if body.Monoid == MonoidNone {
		return inputs, scatterBody(inputs, targets, updates, body)
	}
	for i, x := range inputs {
		u := updates[i]
		scatterKnown(x, targets, Convert(u, x.DType), body.Monoid)
	}
	return inputs, nil
}

func scatterKnown(x Tensor, targets []int64, u Tensor, m Monoid) {
	switch {
	case m == MonoidSecond:
		width := int64(x.DType.Bytes())
		for i, t := range targets {
			if t >= 0 {
				copy(x.Data[t*width:(t+1)*width], u.Data[int64(i)*width:])
			}
		}
	case m == MonoidAdd && x.DType == dtype.F32:
		addAt(Elems[float32](x), targets, Elems[float32](u))
	case m == MonoidAdd && x.DType == dtype.F64:
		addAt(Elems[float64](x), targets, Elems[float64](u))
	case m == MonoidAdd && x.DType == dtype.I32:
		addAt(Elems[int32](x), targets, Elems[int32](u))
	case m == MonoidAdd && x.DType == dtype.I64:
		addAt(Elems[int64](x), targets, Elems[int64](u))
	default:
		combine := m.kernel()
		for i, t := range targets {
			if t >= 0 {
				copy(x.at(int(t)).Data, combine(x.at(int(t)), u.at(i)).Data)
			}
		}
	}
}

func addAt[T float32 | float64 | int32 | int64](x []T, targets []int64, u []T) {
	for i, t := range targets {
		if t >= 0 {
			x[t] += u[i]
		}
	}
}

// scatterBody calls the region once per element, on all inputs together.
func scatterBody(inputs []Tensor, targets []int64, updates []Tensor, body Combiner) error {
	for i, t := range targets {
		if t < 0 {
			continue
		}
		args := lists.Map(inputs, func(x Tensor) Tensor { return x.at(int(t)).Clone() })
		for _, u := range updates {
			args = append(args, u.at(i))
		}
		values, err := body.Body(args)
		if err != nil {
			return err
		}
		for k, v := range values {
			copy(inputs[k].at(int(t)).Data, v.Data)
		}
	}
	return nil
}
