package tensor

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

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
// 32 bits are multiplied and summed in f32 and rounded to out at the end; integers wrap in out. For an algorithm
// that rounds its operands, round them before with Convert or ReducePrecision.
func DotGeneral(lhs, rhs Tensor, dims DotDims, out dtype.Type) Tensor {
	l := newDotSide(lhs, dims.LHSBatch, dims.LHSContract)
	r := newDotSide(rhs, dims.RHSBatch, dims.RHSContract)
	shape := slices.Concat(l.batch, l.free, r.free)
	b, m, k, n := int(product(l.batch)), int(product(l.free)), int(product(l.contract)), int(product(r.free))
	compute := computeType(out)
	result := New(compute, shape)
	switch x, y := Convert(l.matrix, compute), Convert(r.matrix, compute); compute {
	case dtype.F32:
		gemmBatches(Elems[float32](x), Elems[float32](y), Elems[float32](result), b, m, k, n, gemm32(!l.freeFirst, r.freeFirst, m, k, n))
	case dtype.F64:
		gemmBatches(Elems[float64](x), Elems[float64](y), Elems[float64](result), b, m, k, n, gemm64(!l.freeFirst, r.freeFirst, m, k, n))
	default:
		gemmPlain(x, y, result, b, !l.freeFirst, r.freeFirst, m, k, n)
	}
	return Convert(result, out)
}

// computeType is the type in which sums of products for results of type t are made.
func computeType(t dtype.Type) dtype.Type {
	switch {
	case t.Kind() == dtype.Float && t != dtype.F64:
		return dtype.F32
	case t.Kind() == dtype.Bool:
		return dtype.I64
	}
	return t
}

// dotSide is an operand laid out as a batch of matrices, free dimensions before or after contracting ones.
type dotSide struct {
	matrix                Tensor
	freeFirst             bool
	batch, free, contract []int64 // sizes
}

func newDotSide(x Tensor, batch, contract []int64) dotSide {
	var free []int64
	for d := range int64(x.Rank()) {
		if !slices.Contains(batch, d) && !slices.Contains(contract, d) {
			free = append(free, d)
		}
	}
	side := dotSide{batch: sizes(x, batch), free: sizes(x, free), contract: sizes(x, contract), freeFirst: true, matrix: x}
	if perm := slices.Concat(batch, contract, free); slices.IsSorted(perm) {
		side.freeFirst = len(free) == 0
		return side
	}
	if perm := slices.Concat(batch, free, contract); !slices.IsSorted(perm) {
		side.matrix = Transpose(x, perm)
	}
	return side
}

// sizes returns the sizes of the given dimensions.
func sizes(x Tensor, dims []int64) []int64 {
	out := make([]int64, len(dims))
	for i, d := range dims {
		out[i] = x.Shape[d]
	}
	return out
}

// gemmBatches runs one product per batch, in parallel when they are worth it.
func gemmBatches[T any](x, y, out []T, b, m, k, n int, gemm func(x, y, out []T)) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	parallel(b, m*k*n, func(i int) { gemm(x[i*m*k:][:m*k], y[i*k*n:][:k*n], out[i*m*n:][:m*n]) })
}

// parallel calls f for 0 … n-1 on all cores, or in order when the work of all calls, in multiplications, is
// small.
func parallel(n, work int, f func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers < 2 || n*work < 1<<16 {
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

func transposeFlag(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

// leading returns the row length of an r by c matrix that is stored transposed or not.
func leading(transposed bool, r, c int) int {
	if transposed {
		return r
	}
	return c
}

// gemm32 returns the product of an m by k and a k by n matrix. BLAS skips zeros of the left matrix, so products
// of zero with infinities and NaN go the plain way.
func gemm32(transX, transY bool, m, k, n int) func(x, y, out []float32) {
	return func(x, y, out []float32) {
		if !allFinite(y) {
			plainGemm(x, y, out, transX, transY, m, k, n)
			return
		}
		gonum.Implementation{}.Sgemm(transposeFlag(transX), transposeFlag(transY), m, n, k, 1,
			x, leading(transX, m, k), y, leading(transY, k, n), 0, out, n)
	}
}

func gemm64(transX, transY bool, m, k, n int) func(x, y, out []float64) {
	return func(x, y, out []float64) {
		if !allFinite(y) {
			plainGemm(x, y, out, transX, transY, m, k, n)
			return
		}
		gonum.Implementation{}.Dgemm(transposeFlag(transX), transposeFlag(transY), m, n, k, 1,
			x, leading(transX, m, k), y, leading(transY, k, n), 0, out, n)
	}
}

func allFinite[T float32 | float64](values []T) bool {
	var sum T // of zeros, and NaN as soon as one value is not finite
	for _, v := range values {
		sum += v * 0
	}
	return !math.IsNaN(float64(sum))
}

// gemmPlain multiplies integers, wrapping, and complex numbers.
func gemmPlain(x, y, out Tensor, b int, transX, transY bool, m, k, n int) {
	switch out.DType {
	case dtype.I2, dtype.I4, dtype.I8:
		plainBatches[int8](x, y, out, b, transX, transY, m, k, n)
		wrapNarrow(Elems[int8](out), out.DType)
	case dtype.I16:
		plainBatches[int16](x, y, out, b, transX, transY, m, k, n)
	case dtype.I32:
		plainBatches[int32](x, y, out, b, transX, transY, m, k, n)
	case dtype.I64:
		plainBatches[int64](x, y, out, b, transX, transY, m, k, n)
	case dtype.UI2, dtype.UI4, dtype.UI8:
		plainBatches[uint8](x, y, out, b, transX, transY, m, k, n)
		wrapNarrow(Elems[uint8](out), out.DType)
	case dtype.UI16:
		plainBatches[uint16](x, y, out, b, transX, transY, m, k, n)
	case dtype.UI32:
		plainBatches[uint32](x, y, out, b, transX, transY, m, k, n)
	case dtype.UI64:
		plainBatches[uint64](x, y, out, b, transX, transY, m, k, n)
	case dtype.C64:
		plainBatches[complex64](x, y, out, b, transX, transY, m, k, n)
	case dtype.C128:
		plainBatches[complex128](x, y, out, b, transX, transY, m, k, n)
	default:
		panic("tensor: dot_general with result type " + out.DType.String())
	}
}

func plainBatches[T Elem](x, y, out Tensor, b int, transX, transY bool, m, k, n int) {
	gemmBatches(Elems[T](x), Elems[T](y), Elems[T](out), b, m, k, n, func(x, y, out []T) {
		plainGemm(x, y, out, transX, transY, m, k, n)
	})
}

func plainGemm[T Elem](x, y, out []T, transX, transY bool, m, k, n int) {
	rowX, stepX, rowY, stepY := k, 1, n, 1
	if transX {
		rowX, stepX = 1, m
	}
	if transY {
		rowY, stepY = 1, k
	}
	clear(out)
	for i := range m {
		row := out[i*n : (i+1)*n]
		for p := range k {
			a := x[i*rowX+p*stepX]
			at := p * rowY
			for j := range row {
				row[j] += a * y[at]
				at += stepY
			}
		}
	}
}

// RaggedDot multiplies consecutive groups of rows of lhs[m, k], groupSizes[g] of them, by their own matrix of
// rhs[g, k, n]; rows beyond all groups are 0. The result is [m, n] of element type out.
func RaggedDot(lhs, rhs, groupSizes Tensor, out dtype.Type) Tensor {
	m, k, n := lhs.Shape[0], lhs.Shape[1], rhs.Shape[2]
	result := New(out, []int64{m, n})
	row := int64(0)
	for g, size := range indices(groupSizes) {
		size = clampIndex(size, m-row)
		if size == 0 {
			continue
		}
		rows := lhs.rows(row, row+size)
		matrix := Reshape(rhs.rows(int64(g), int64(g)+1), []int64{k, n})
		part := DotGeneral(rows, matrix, DotDims{LHSContract: []int64{1}, RHSContract: []int64{0}}, out)
		copy(result.rows(row, row+size).Data, part.Data)
		row += size
	}
	return result
}

// rows returns x[from:to] along the first dimension, sharing Data.
func (t Tensor) rows(from, to int64) Tensor {
	shape := slices.Clone(t.Shape)
	shape[0] = to - from
	width := product(t.Shape[1:]) * int64(t.DType.Bytes())
	return Tensor{t.DType, shape, t.Data[from*width : to*width]}
}
