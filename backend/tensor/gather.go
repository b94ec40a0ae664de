package tensor

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// GatherDims are the dimension numbers of gather (stablehlo.md section 2.7). IndexVectorDim may be the rank of the
// start indices, which makes every one of them an index vector of its own.
type GatherDims struct {
	OffsetDims, CollapsedSliceDims                []int64
	OperandBatchingDims, StartIndicesBatchingDims []int64
	StartIndexMap                                 []int64
	IndexVectorDim                                int64
}

// Gather takes a slice of sliceSizes from operand at every index vector, clamped so that it lies inside.
func Gather(operand, startIndices Tensor, dims GatherDims, sliceSizes []int64) Tensor {
	vectors := newIndexVectors(startIndices, dims.IndexVectorDim)
	windowDims := lists.Others(operand.Rank(), dims.CollapsedSliceDims, dims.OperandBatchingDims) // which the result keeps
	window := lists.Pick(sliceSizes, windowDims)
	out := newUnset(operand.DType, slices.Concat(vectors.shape, window))
	st := strides(operand.Shape)
	offsets, run := windowRuns(window, lists.Pick(st, windowDims))
	width := int64(operand.DType.Bytes())
	at := newCounter(vectors.shape)
	position := int64(0)
	if out.Len() == 0 {
		offsets = nil
	}
	for n := range lists.Product(vectors.shape) {
		base := int64(0)
		for k, d := range dims.StartIndexMap {
			base += clampIndex(vectors.at(n, k), operand.Shape[d]-sliceSizes[d]) * st[d]
		}
		for k, d := range dims.OperandBatchingDims {
			base += at.index[vectors.position(dims.StartIndicesBatchingDims[k])] * st[d]
		}
		for _, offset := range offsets {
			from := (base + offset) * width
			position += int64(copy(out.Data[position:], operand.Data[from:from+run*width]))
		}
		at.next()
	}
	moved := Transpose(out, resultOrder(dims.OffsetDims, out.Rank()))
	finish(out, moved)
	return moved
}

// resultOrder returns the permutation that puts batch dimensions, which come first, and window dimensions, which
// come last, where the result of rank dimensions wants them.
func resultOrder(offsetDims []int64, rank int) []int64 {
	perm := make([]int64, rank)
	batch, offset := int64(0), int64(rank-len(offsetDims))
	for d := range perm {
		if slices.Contains(offsetDims, int64(d)) {
			perm[d] = offset
			offset++
			continue
		}
		perm[d] = batch
		batch++
	}
	return perm
}

// windowRuns returns the offsets at which a window's contiguous runs begin, in row-major order, and the length of
// a run.
func windowRuns(window, strides []int64) (offsets []int64, run int64) {
	run = 1
	outer := len(window)
	for outer > 0 && (strides[outer-1] == run || window[outer-1] == 1) {
		run *= window[outer-1]
		outer--
	}
	at := newCounter(window[:outer])
	for ok := true; ok; ok = at.next() {
		offsets = append(offsets, at.dot(strides[:outer]))
	}
	return offsets, run
}

// indexVectors are the index vectors of gather and scatter, numbered in row-major order of shape, the shape of the
// indices without the index vector dimension.
type indexVectors struct {
	values []int64
	shape  []int64
	size   int64 // of one vector
	step   int64 // between the entries of one vector
	dim    int64
}

func newIndexVectors(indexes Tensor, dim int64) indexVectors {
	v := indexVectors{values: indices(indexes), size: 1, step: 1, dim: dim}
	if dim == int64(indexes.Rank()) {
		v.shape = indexes.Shape
		return v
	}
	v.size = indexes.Shape[dim]
	v.step = lists.Product(indexes.Shape[dim+1:])
	v.shape = slices.Delete(slices.Clone(indexes.Shape), int(dim), int(dim)+1)
	return v
}

// at returns entry k of vector n.
func (v indexVectors) at(n int64, k int) int64 {
	if v.step == 1 {
		return v.values[n*v.size+int64(k)]
	}
	return v.values[(n/v.step)*v.step*v.size+int64(k)*v.step+n%v.step]
}

// position returns where dimension d of the indices stands in shape.
func (v indexVectors) position(d int64) int64 {
	if d > v.dim {
		return d - 1
	}
	return d
}

// TorchIndexSelect takes elements of x at the indices along dimension dim, the first batchDims dimensions being
// shared by both.
func TorchIndexSelect(x, index Tensor, dim, batchDims int64) Tensor {
	var p GatherDims
	sizes := slices.Clone(x.Shape)
	for d := range batchDims {
		p.OperandBatchingDims = append(p.OperandBatchingDims, d)
		p.StartIndicesBatchingDims = append(p.StartIndicesBatchingDims, d)
		sizes[d] = 1
	}
	sizes[dim] = min(1, sizes[dim])
	p.CollapsedSliceDims, p.StartIndexMap = []int64{dim}, []int64{dim}
	p.IndexVectorDim = int64(index.Rank())
	for d := range int64(x.Rank()) {
		switch {
		case d >= batchDims && d < dim:
			p.OffsetDims = append(p.OffsetDims, d)
		case d > dim:
			p.OffsetDims = append(p.OffsetDims, d-1+int64(index.Rank())-batchDims)
		}
	}
	return Gather(x, Convert(index, dtype.I64), p, sizes)
}
