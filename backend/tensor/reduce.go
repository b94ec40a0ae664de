package tensor

import (
	"slices"

	"autoshard/backend/tensor/memory"
	"autoshard/backend/tensor/vector"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// Reduce folds the inputs, which have one shape, over the given dimensions with body, starting with the scalar
// inits (stablehlo.md section 2.4); the results have the element types of inits. Sums and products of floats
// below 64 bits are made in f64 and rounded once. Other bodies fold from the left, in row-major order, except
// that a long fold of few results with an elementwise body is done as a tree of neighbours.
func Reduce(inputs, inits []Tensor, dims []int64, body Combiner) ([]Tensor, error) {
	if !slices.IsSorted(dims) {
		dims = slices.Sorted(slices.Values(dims))
	}
	var room [usualRank]int64
	kept := room[:0]
	for d := range int64(inputs[0].Rank()) {
		if !slices.Contains(dims, d) {
			kept = append(kept, d)
		}
	}
	shape := lists.Pick(inputs[0].Shape, kept)
	if body.Monoid != MonoidNone {
		outs := make([]Tensor, len(inputs))
		for i, x := range inputs {
			outs[i] = reduceKnown(Convert(x, inits[i].DType), inits[i], shape, kept, dims, body.Monoid)
		}
		return outs, nil
	}
	rows, width := lists.Product(lists.Pick(inputs[0].Shape, dims)), lists.Product(shape)
	matrices, acc := make([]Tensor, len(inputs)), make([]Tensor, len(inputs))
	for i, x := range inputs {
		x = Transpose(Convert(x, inits[i].DType), slices.Concat(dims, kept))
		matrices[i] = Reshape(x, []int64{rows, width})
		acc[i] = BroadcastInDim(inits[i], nil, []int64{width})
	}
	acc, err := foldRows(matrices, acc, body)
	if err != nil {
		return nil, err
	}
	for i := range acc {
		acc[i] = Reshape(acc[i], shape)
	}
	return acc, nil
}

// foldRows folds the rows of matrices [rows, width] into acc [width].
func foldRows(matrices, acc []Tensor, body Combiner) ([]Tensor, error) {
	rows, width := matrices[0].Shape[0], matrices[0].Shape[1]
	if width == 0 {
		return acc, nil
	}
	if body.Elementwise && rows > 16 && rows > width/max(1, body.Blocks) {
		var err error
		if matrices, err = foldNeighbours(matrices, body); err != nil {
			return nil, err
		}
		rows = 1
	}
	for r := range rows {
		elems := lists.Map(matrices, func(m Tensor) Tensor { return Reshape(m.rows(r, r+1), []int64{width}) })
		var err error
		if acc, err = body.each(acc, elems); err != nil {
			return nil, err
		}
	}
	return acc, nil
}

// foldNeighbours combines rows 2i and 2i+1 until one is left; a last odd row moves up as it is.
func foldNeighbours(matrices []Tensor, body Combiner) ([]Tensor, error) {
	for matrices[0].Shape[0] > 1 {
		rows, width := matrices[0].Shape[0], matrices[0].Shape[1]
		even, odd := make([]Tensor, len(matrices)), make([]Tensor, len(matrices))
		for i, m := range matrices {
			flat := []int64{rows / 2 * width}
			even[i] = Reshape(Slice(m, []int64{0, 0}, []int64{rows / 2 * 2, width}, []int64{2, 1}), flat)
			odd[i] = Reshape(Slice(m, []int64{1, 0}, []int64{rows, width}, []int64{2, 1}), flat)
		}
		combined, err := body.each(even, odd)
		if err != nil {
			return nil, err
		}
		for i, m := range matrices {
			next := Reshape(combined[i], []int64{rows / 2, width})
			if rows%2 == 1 {
				next = Concatenate([]Tensor{next, m.rows(rows-1, rows)}, 0)
			}
			matrices[i] = next
		}
	}
	return matrices, nil
}

// accumulateIn returns the type in which a fold to results of type t is made.
func accumulateIn(t dtype.Type, body Combiner) dtype.Type {
	switch body.Monoid {
	case MonoidAdd, MonoidMultiply:
		switch t.Kind() {
		case dtype.Float:
			return dtype.F64
		case dtype.Complex:
			return dtype.C128
		}
	}
	return t
}

// reduceKnown reduces with a known body. Dimensions that lie together are not moved: [a, r, b] is reduced over r.
func reduceKnown(x, init Tensor, shape, kept, dims []int64, m Monoid) Tensor {
	a, r, b := int64(1), int64(1), int64(1)
	for _, d := range dims {
		r *= x.Shape[d]
	}
	if len(dims) > 0 && dims[len(dims)-1]-dims[0] == int64(len(dims)-1) {
		a, b = lists.Product(x.Shape[:dims[0]]), lists.Product(x.Shape[dims[len(dims)-1]+1:])
	} else {
		moved := Transpose(x, slices.Concat(kept, dims))
		defer finish(moved, x)
		x = moved
		a, b = lists.Product(shape), 1
	}
	if m == MonoidAdd && x.DType.Kind() == dtype.Float {
		return sumFloats(x, init, shape, int(a), int(r), int(b))
	}
	if op, ok := extremes[m]; ok && x.DType == dtype.F32 && len(x.Data) > 0 {
		return foldExtremes(x, init, shape, op, int(a), int(r), int(b))
	}
	acc := accumulateIn(x.DType, Combiner{Monoid: m})
	x = Reshape(Convert(x, acc), []int64{a, r, b})
	if b == 1 && r > 1 {
		x = foldHalves(x, m.kernel())
		r = 1
	}
	out := BroadcastInDim(Convert(init, acc), nil, shape)
	if r == 0 || lists.Product(shape) == 0 {
		return Convert(out, init.DType)
	}
	if r == 1 {
		m.combine(out, out, Reshape(x, shape))
		return Convert(out, init.DType)
	}
	foldMiddle(x, out, m)
	return Convert(out, init.DType)
}

// foldMiddle folds x [a, r, b] over r into out, whose elements are [a, b].
func foldMiddle(x, out Tensor, m Monoid) {
	a, r := x.Shape[0], x.Shape[1]
	width := x.Shape[2] * int64(x.DType.Bytes())
	row := func(t Tensor, i int64) Tensor { return Tensor{x.DType, x.Shape[2:], t.Data[i*width:][:width]} }
	for i := range a {
		for j := range r {
			m.combine(row(out, i), row(out, i), row(x, i*r+j))
		}
	}
}

// foldHalves folds x [a, r, 1] over r by combining the halves of r, in one call for all a.
func foldHalves(x Tensor, combine func(x, y Tensor) Tensor) Tensor {
	for x.Shape[1] > 1 {
		a, r := x.Shape[0], x.Shape[1]
		half := r / 2
		ones := []int64{1, 1, 1}
		next := combine(Slice(x, []int64{0, 0, 0}, []int64{a, half, 1}, ones), Slice(x, []int64{0, half, 0}, []int64{a, 2 * half, 1}, ones))
		if r%2 == 1 {
			next = Concatenate([]Tensor{next, Slice(x, []int64{0, r - 1, 0}, []int64{a, r, 1}, ones)}, 1)
		}
		x = next
	}
	return x
}

// extremes are the bodies that fold f32 in any order.
var extremes = map[Monoid]vector.Op{MonoidMaximum: vector.Maximum, MonoidMinimum: vector.Minimum}

// foldExtremes folds x, viewed as [a, r, b] and not empty, over r.
func foldExtremes(x, init Tensor, shape []int64, op vector.Op, a, r, b int) Tensor {
	out := newUnset(x.DType, shape)
	dst, src, start := Elems[float32](out), Elems[float32](x), Elems[float32](init)
	if b == 1 {
		for i := range dst {
			dst[i] = op.Fold(src[i*r:][:r])
		}
		op.Float32(dst, start, dst)
		return out
	}
	for i := range a {
		acc, part := dst[i*b:][:b], src[i*r*b:][:r*b]
		op.Float32(acc, start, part[:b])
		for k := b; k < len(part); k += b {
			op.Float32(acc, acc, part[k:k+b])
		}
	}
	return out
}

// sumFloats adds x, viewed as [a, r, b], over r in f64.
func sumFloats(x, init Tensor, shape []int64, a, r, b int) Tensor {
	if x.DType == dtype.F64 {
		sums := newUnset(dtype.F64, shape)
		sumMiddle(Elems[float64](sums), Elems[float64](x), floatOf(init), a, r, b)
		return sums
	}
	out := newUnset(x.DType, shape)
	start := floatOf(init)
	src := float32s(x)
	size := min(a*b, max(b, blockSize))
	scratch := Tensor{DType: dtype.F64, Data: memory.Take(int64(size) * 8)}
	defer memory.Give(scratch.Data)
	sums := Elems[float64](scratch)
	if b == 1 {
		for lo := 0; lo < a; lo += len(sums) {
			part := sums[:min(len(sums), a-lo)]
			for i := range part {
				part[i] = start + vector.Sum(src[(lo+i)*r:][:r])
			}
			narrow(out, lo, part)
		}
		return out
	}
	for i := range a {
		acc := sums[:b]
		for j := range acc {
			acc[j] = start
		}
		for part := src[i*r*b:][:r*b]; len(part) > 0; part = part[b:] {
			vector.AddTo(acc, part[:b])
		}
		narrow(out, i*b, acc)
	}
	return out
}

// floatOf returns the first element of floats.
func floatOf(x Tensor) float64 {
	if x.DType == dtype.F32 {
		return float64(Elems[float32](x)[0])
	}
	return x.Floats()[0]
}

// sumMiddle adds float64.
func sumMiddle(dst, x []float64, start float64, a, r, b int) {
	for i := range a {
		part := x[i*r*b:][:r*b]
		if b == 1 {
			dst[i] = start + pairwiseSum(part)
			continue
		}
		acc := dst[i*b:][:b]
		for j := range acc {
			acc[j] = start
		}
		for k := range r {
			row := part[k*b:][:b]
			for j := range acc {
				acc[j] += row[j]
			}
		}
	}
}

// pairwiseSum adds blocks of 128 in order and the blocks as a balanced tree.
func pairwiseSum(x []float64) float64 {
	if len(x) > 128 {
		half := (len(x)/2 + 127) / 128 * 128
		return pairwiseSum(x[:half]) + pairwiseSum(x[half:])
	}
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// Fold combines tensors of one type from left to right, position by position, rounding as Reduce does. It is the
// reduction of all_reduce and reduce_scatter over the members of a group.
func Fold(xs []Tensor, body Combiner) (Tensor, error) {
	if summed(body, xs[0].DType) {
		out := newUnset(xs[0].DType, xs[0].Shape)
		sumTensors(out, xs)
		return out, nil
	}
	t := accumulateIn(xs[0].DType, body)
	acc := Convert(xs[0], t)
	for _, x := range xs[1:] {
		next, err := body.each([]Tensor{acc}, []Tensor{Convert(x, t)})
		if err != nil {
			return Tensor{}, err
		}
		acc = next[0]
	}
	return Convert(acc, xs[0].DType), nil
}

// FoldInto is Fold into a tensor of the result's type.
func FoldInto(out Tensor, xs []Tensor, body Combiner) error {
	if summed(body, xs[0].DType) {
		sumTensors(out, xs)
		return nil
	}
	t, err := Fold(xs, body)
	if err == nil {
		copy(out.Data, t.Data)
	}
	return err
}

// summed says whether a fold is a sum of floats that f32 holds exactly.
func summed(body Combiner, t dtype.Type) bool {
	return body.Monoid == MonoidAdd && t.Kind() == dtype.Float && t != dtype.F64
}

// sumTensors is Fold of sums of floats below 64 bits into a tensor.
func sumTensors(out Tensor, xs []Tensor) {
	n := out.Len()
	var sums [blockSize]float64
	var scratch [blockSize]float32
	for lo := 0; lo < n; lo += blockSize {
		acc := sums[:min(blockSize, n-lo)]
		for i, v := range float32Block(&scratch, xs[0], lo, len(acc)) {
			acc[i] = float64(v)
		}
		for _, x := range xs[1:] {
			vector.AddTo(acc, float32Block(&scratch, x, lo, len(acc)))
		}
		if out.DType == dtype.F32 {
			vector.Narrow(Elems[float32](out)[lo:][:len(acc)], acc)
		} else {
			narrow(out, lo, acc)
		}
	}
}

// float32Block returns n elements from lo on of floats below 64 bits, in scratch where they are not of f32.
func float32Block(scratch *[blockSize]float32, x Tensor, lo, n int) []float32 {
	if x.DType == dtype.F32 {
		return Elems[float32](x)[lo:][:n]
	}
	widen(scratch[:n], x, lo)
	return scratch[:n]
}
