package tensor

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

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
// 32 bits are multiplied and summed in f32 and rounded to out at the end; integers wrap in out. For an algorithm
// that rounds its operands, round them before with Convert or ReducePrecision.
func DotGeneral(lhs, rhs Tensor, dims DotDims, out dtype.Type) Tensor {
	l := newDotSide(lhs, dims.LHSBatch, dims.LHSContract)
	r := newDotSide(rhs, dims.RHSBatch, dims.RHSContract)
	shape := slices.Concat(l.batch, l.free, r.free)
	g := gemm{
		b: int(lists.Product(l.batch)), m: int(lists.Product(l.free)), k: int(lists.Product(l.contract)), n: int(lists.Product(r.free)),
		transX: !l.freeFirst, transY: r.freeFirst,
	}
	compute := computeType(out)
	result := New(compute, shape)
	switch x, y := Convert(l.matrix, compute), Convert(r.matrix, compute); compute {
	case dtype.F32:
		gemmBatches(g, x, y, result, gemm32)
	case dtype.F64:
		gemmBatches(g, x, y, result, gemm64)
	case dtype.C64:
		gemmBatches(g, x, y, result, plainGemm[complex64])
	case dtype.C128:
		gemmBatches(g, x, y, result, plainGemm[complex128])
	default:
		integers(compute).product(g, x, y, result)
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
	free := lists.Others(x.Rank(), batch, contract)
	side := dotSide{freeFirst: true, matrix: x,
		batch: lists.Pick(x.Shape, batch), free: lists.Pick(x.Shape, free), contract: lists.Pick(x.Shape, contract)}
	if perm := slices.Concat(batch, contract, free); slices.IsSorted(perm) {
		side.freeFirst = len(free) == 0
		return side
	}
	if perm := slices.Concat(batch, free, contract); !slices.IsSorted(perm) {
		side.matrix = Transpose(x, perm)
	}
	return side
}

// gemm is b products of an m by k and a k by n matrix, each of which is stored transposed or not.
type gemm struct {
	b, m, k, n     int
	transX, transY bool
}

// gemmBatches runs one product per batch, in parallel when they are worth it.
func gemmBatches[T Elem](g gemm, x, y, out Tensor, multiply func(g gemm, x, y, out []T)) {
	m, k, n := g.m, g.k, g.n
	if m == 0 || n == 0 || k == 0 {
		return
	}
	xs, ys, outs := Elems[T](x), Elems[T](y), Elems[T](out)
	parallel(g.b, m*k*n, func(i int) { multiply(g, xs[i*m*k:][:m*k], ys[i*k*n:][:k*n], outs[i*m*n:][:m*n]) })
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

// gemm32 multiplies two matrices. BLAS skips zeros of the left one, so products of zero with infinities and NaN go the
// plain way.
func gemm32(g gemm, x, y, out []float32) {
	if !allFinite(y) {
		plainGemm(g, x, y, out)
		return
	}
	gonum.Implementation{}.Sgemm(transposeFlag(g.transX), transposeFlag(g.transY), g.m, g.n, g.k, 1,
		x, leading(g.transX, g.m, g.k), y, leading(g.transY, g.k, g.n), 0, out, g.n)
}

func gemm64(g gemm, x, y, out []float64) {
	if !allFinite(y) {
		plainGemm(g, x, y, out)
		return
	}
	gonum.Implementation{}.Dgemm(transposeFlag(g.transX), transposeFlag(g.transY), g.m, g.n, g.k, 1,
		x, leading(g.transX, g.m, g.k), y, leading(g.transY, g.k, g.n), 0, out, g.n)
}

func allFinite[T float32 | float64](values []T) bool {
	var sum T // of zeros, and NaN as soon as one value is not finite
	for _, v := range values {
		sum += v * 0
	}
	return !math.IsNaN(float64(sum))
}

// product multiplies integers, which wrap.
func (storedAs[T]) product(g gemm, x, y, out Tensor) {
	gemmBatches(g, x, y, out, plainGemm[T])
	wrapNarrow(Elems[T](out), out.DType)
}

func plainGemm[T Elem](g gemm, x, y, out []T) {
	m, k, n := g.m, g.k, g.n
	rowX, stepX, rowY, stepY := k, 1, n, 1
	if g.transX {
		rowX, stepX = 1, m
	}
	if g.transY {
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

// rows returns x[from:to] along the first dimension, sharing Data.
func (t Tensor) rows(from, to int64) Tensor {
	shape := slices.Clone(t.Shape)
	shape[0] = to - from
	width := lists.Product(t.Shape[1:]) * int64(t.DType.Bytes())
	return Tensor{t.DType, shape, t.Data[from*width : to*width]}
}
