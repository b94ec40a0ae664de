package tensor

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"autoshard/backend/tensor/memory"
	"autoshard/backend/tensor/vector"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// DotDims names the dimensions of dot_general; entry k of the two contracting lists, and of the two batching
// lists, belong together.
type DotDims struct {
	LHSBatch, RHSBatch       []int64
	LHSContract, RHSContract []int64
}

// DotGeneral returns the sums of products over the contracting dimensions (stablehlo.md section 2.5). The result
// has the batching dimensions, then the free ones of lhs, then those of rhs, and element type out. Floats up to
// 32 bits are multiplied and summed in f32, in row-major order, and rounded to out at the end; integers wrap in out.
// For an algorithm that rounds its operands, round them before with Convert or ReducePrecision.
func DotGeneral(lhs, rhs Tensor, dims DotDims, out dtype.Type) Tensor {
	compute := computeType(out)
	l := newDotSide(Convert(lhs, compute), dims.LHSBatch, dims.LHSContract)
	defer finish(l.x, lhs)
	r := newDotSide(Convert(rhs, compute), dims.RHSBatch, dims.RHSContract)
	defer finish(r.x, rhs)
	result := newUnset(compute, slices.Concat(l.batch, l.free, r.free))
	switch compute {
	case dtype.F32:
		multiply(l, r, result, vector.Matmul[float32])
	case dtype.F64:
		multiply(l, r, result, vector.Matmul[float64])
	case dtype.C64:
		multiply(l, r, result, plainMatmul[complex64])
	case dtype.C128:
		multiply(l, r, result, plainMatmul[complex128])
	case dtype.I32:
		multiply(l, r, result, vector.Matmul[int32])
	default:
		multiply(l, r, result, plainMatmul[int64])
	}
	rounded := Convert(result, out)
	finish(result, rounded)
	return rounded
}

// finish gives the memory of a kernel's own tensor back, unless it is that of another one: an operand or the result.
func finish(own, other Tensor) {
	if unsafe.SliceData(own.Data) != unsafe.SliceData(other.Data) {
		memory.Give(own.Data)
	}
}

// computeType is the type in which sums of products for results of type t are made.
func computeType(t dtype.Type) dtype.Type {
	switch t.Kind() {
	case dtype.Float:
		if t != dtype.F64 {
			return dtype.F32
		}
	case dtype.Bool:
		return dtype.I64
	case dtype.Signed, dtype.Unsigned: // which wrap alike
		if t.Bits() <= 32 {
			return dtype.I32
		}
		return dtype.I64
	}
	return t
}

// dotSide is an operand as a batch of matrices of its free by its contracting dimensions, which lie somewhere in x.
type dotSide struct {
	x                      Tensor
	batch, free, contract  []int64 // sizes
	batchSteps             []int64 // elements from one matrix to the next
	rows, width            int     // of a matrix
	freeStep, contractStep int     // elements from one row to the next, and from one element of a row to the next
}

// newDotSide finds the matrices of an operand. Dimensions that do not lie as one are moved.
func newDotSide(x Tensor, batch, contract []int64) dotSide {
	free := lists.Others(x.Rank(), batch, contract)
	s := dotSide{x: x, batch: lists.Pick(x.Shape, batch), free: lists.Pick(x.Shape, free), contract: lists.Pick(x.Shape, contract)}
	s.rows, s.width = int(lists.Product(s.free)), int(lists.Product(s.contract))
	st := strides(x.Shape)
	freeStep, first := joined(x.Shape, st, free)
	contractStep, second := joined(x.Shape, st, contract)
	if first && second {
		s.batchSteps, s.freeStep, s.contractStep = lists.Pick(st, batch), int(freeStep), int(contractStep)
		return s
	}
	s.x = Transpose(x, slices.Concat(batch, free, contract))
	s.batchSteps, s.freeStep, s.contractStep = strides(s.x.Shape)[:len(batch)], s.width, 1
	return s
}

// joined says whether dimensions, in that order, can be walked as one, and the step.
func joined(shape, strides, dims []int64) (step int64, ok bool) {
	size := int64(1)
	for k := len(dims) - 1; k >= 0; k-- {
		switch n := shape[dims[k]]; {
		case n == 1:
		case size == 1:
			step, size = strides[dims[k]], n
		case strides[dims[k]] != step*size:
			return 0, false
		default:
			size *= n
		}
	}
	return step, true
}

// rowBlock is how many rows of a product are computed together where several cores share it.
const rowBlock = 96

// multiply computes the product of each batch into out, in parallel where that is worth it.
func multiply[T Elem](l, r dotSide, out Tensor, matmul func(c []T, a, b vector.Matrix[T], m, k, n int)) {
	m, k, n := l.rows, l.width, r.rows
	if m == 0 || n == 0 || len(out.Data) == 0 {
		return
	}
	xs, ys, outs := Elems[T](l.x), Elems[T](r.x), Elems[T](out)
	blocks := 1
	if work := m * k * n; work >= smallWork {
		blocks = (m + rowBlock - 1) / rowBlock
	}
	batches := len(outs) / (m * n)
	parallel(batches*blocks, len(outs)*k, func(i int) {
		batch, first := i/blocks, 0
		last := m
		if blocks > 1 {
			first = i % blocks * rowBlock
			last = min(first+rowBlock, m)
		}
		var a, b vector.Matrix[T]
		if k > 0 {
			a = vector.Matrix[T]{Data: xs[batchOffset(batch, l.batch, l.batchSteps)+first*l.freeStep:], Row: l.freeStep, Column: l.contractStep}
			b = vector.Matrix[T]{Data: ys[batchOffset(batch, r.batch, r.batchSteps):], Row: r.contractStep, Column: r.freeStep}
		}
		matmul(outs[(batch*m+first)*n:][:(last-first)*n], a, b, last-first, k, n)
	})
}

// batchOffset returns where the matrix of a batch begins.
func batchOffset(batch int, sizes, steps []int64) int {
	offset := 0
	for d := len(sizes) - 1; d >= 0; d-- {
		offset += batch % int(sizes[d]) * int(steps[d])
		batch /= int(sizes[d])
	}
	return offset
}

// smallWork is the number of multiplications below which one core is enough.
const smallWork = 1 << 16

// parallel calls f for 0 … n-1 on all cores, or in order when the work of all calls together, in multiplications, is small.
func parallel(n, work int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers < 2 || work < smallWork {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	group.Wait()
}

// plainMatmul is vector.Matmul for other types.
func plainMatmul[T Elem](c []T, a, b vector.Matrix[T], m, k, n int) {
	clear(c)
	for i := range m {
		row := c[i*n : (i+1)*n]
		for p := range k {
			x := a.Data[i*a.Row+p*a.Column]
			at := p * b.Row
			for j := range row {
				row[j] += x * b.Data[at]
				at += b.Column
			}
		}
	}
}

// rows returns x[from:to] along the first dimension, sharing Data.
func (t Tensor) rows(from, to int64) Tensor {
	shape := slices.Clone(t.Shape)
	shape[0] = to - from
	width := lists.Product(t.Shape[1:]) * int64(t.DType.Bytes())
	return Tensor{t.DType, shape, t.Data[from*width : to*width]}
}
