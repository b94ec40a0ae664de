package tensor

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/lapack/gonum"

	"autoshard/backend/tensor/zlapack"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
)

// The kernels of linear algebra work on the matrices in the last two dimensions of their operands, in float64 or
// complex128, and round once. Real ones are gonum's, complex ones those of package zlapack. Results mean what they mean
// in LAPACK: pivots count from one, info is 0 or what LAPACK says about a failure, of each matrix.

var lapackImpl gonum.Implementation

// matrices is a batch of matrices, widened and copied.
type matrices struct {
	Tensor
	batch      []int64
	rows, cols int
}

func matricesOf(t Tensor) matrices {
	n := t.Rank() - 2
	return matrices{widened(t), t.Shape[:n], int(t.Shape[n]), int(t.Shape[n+1])}
}

func newMatrices(like dtype.Type, batch []int64, rows, cols int) matrices {
	return matrices{New(wide(like), extended(batch, rows, cols)), batch, rows, cols}
}

// newVectors returns a batch of vectors of n zeros.
func newVectors(t dtype.Type, batch []int64, n int) matrices {
	return matrices{New(t, extended(batch, n)), batch, 1, n}
}

// widened returns a copy in float64 or complex128.
func widened(t Tensor) Tensor {
	if w := wide(t.DType); w != t.DType {
		return Convert(t, w)
	}
	return t.Clone()
}

func wide(t dtype.Type) dtype.Type {
	if t.Kind() == dtype.Complex {
		return dtype.C128
	}
	return dtype.F64
}

func extended(batch []int64, dims ...int) []int64 {
	shape := slices.Clone(batch)
	for _, d := range dims {
		shape = append(shape, int64(d))
	}
	return shape
}

// count returns the number of matrices that have elements to work on.
func (m matrices) count() int {
	if m.rows == 0 || m.cols == 0 {
		return 0
	}
	return int(lists.Product(m.batch))
}

func (m matrices) complex() bool { return m.DType == dtype.C128 }

// real returns the elements of matrix i, real and imaginary parts apart, in row-major order.
func (m matrices) real(i int) []float64 {
	n := m.rows * m.cols
	if m.complex() {
		n *= 2
	}
	return row[float64](Tensor{DType: dtype.F64, Data: m.Data}, i, n)
}

// matrix returns matrix i of a complex batch.
func (m matrices) matrix(i int) cblas128.General {
	return cblas128.General{Rows: m.rows, Cols: m.cols, Stride: m.cols, Data: m.complexes(i)}
}

// complexes returns the elements of matrix i of a complex batch.
func (m matrices) complexes(i int) []complex128 { return row[complex128](m.Tensor, i, m.rows*m.cols) }

// row returns the elements of part i of parts of n elements.
func row[T Elem](t Tensor, i, n int) []T { return Elems[T](t)[i*n:][:n:n] }

func (m matrices) fillNaN(i int) {
	data := m.real(i)
	for k := range data {
		data[k] = math.NaN()
	}
}

// solve calls an iterative routine for each matrix whose elements are numbers. Where it fails, and for other matrices, info is
// not 0, and the results are NaN.
func (m matrices) solve(routine func(i int) bool, results ...matrices) (info Tensor) {
	info = New(dtype.I32, m.batch)
	for i := range m.count() {
		finite := !slices.ContainsFunc(m.real(i), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
		if finite && routine(i) {
			continue
		}
		Elems[int32](info)[i] = 1
		for _, r := range results {
			r.fillNaN(i)
		}
	}
	return info
}

func uplo(lower bool) blas.Uplo {
	if lower {
		return blas.Lower
	}
	return blas.Upper
}

// workspace calls a routine of gonum with the memory it asks for.
func workspace(call func(work []float64, lwork int)) {
	size := make([]float64, 1)
	call(size, -1)
	n := max(1, int(size[0]))
	call(make([]float64, n), n)
}

// Potrf returns the Cholesky factor of each matrix in its lower or upper triangle; the other triangle stays as it was.
// info is the order of the first minor that is not positive definite, whose matrix's factor is NaN.
func Potrf(a Tensor, lower bool) (factor, info Tensor) {
	m := matricesOf(a)
	info = New(dtype.I32, m.batch)
	for i := range m.count() {
		if m.complex() {
			Elems[int32](info)[i] = int32(potrf(m.matrix(i), lower))
			continue
		}
		whole := slices.Clone(m.real(i))
		if !lapackImpl.Dpotrf(uplo(lower), m.rows, m.real(i), m.rows) {
			work := zlapack.New(m.rows, m.rows)
			for k, x := range whole {
				work.Data[k] = complex(x, 0)
			}
			Elems[int32](info)[i] = int32(potrf(work, lower))
			for k, x := range work.Data {
				m.real(i)[k] = real(x)
			}
		}
	}
	return Convert(m.Tensor, a.DType), info
}

// potrf factors one matrix and keeps its other triangle.
func potrf(a cblas128.General, lower bool) (info int) {
	given := slices.Clone(a.Data)
	info = choleskyMatrix(a.Data, a.Rows, lower)
	for i := range a.Rows {
		for j := range a.Rows {
			if i != j && j < i != lower {
				a.Data[i*a.Stride+j] = given[i*a.Stride+j]
			}
		}
	}
	return info
}

// Getrf returns the factors L and U of each matrix with rows exchanged, the row that each row was exchanged with in
// turn, and as info the first zero on U's diagonal.
func Getrf(a Tensor) (lu, pivots, info Tensor) {
	m := matricesOf(a)
	k := min(m.rows, m.cols)
	pivots, info = New(dtype.I32, extended(m.batch, k)), New(dtype.I32, m.batch)
	at := make([]int, k)
	for i := range m.count() {
		zero := -1
		if m.complex() {
			zero = zlapack.Getrf(m.matrix(i), at)
		} else {
			u := m.real(i)
			lapackImpl.Dgetrf(m.rows, m.cols, u, m.cols, at)
			for d := k - 1; d >= 0; d-- {
				if u[d*m.cols+d] == 0 {
					zero = d
				}
			}
		}
		Elems[int32](info)[i] = int32(zero + 1)
		for d, p := range at {
			row[int32](pivots, i, k)[d] = int32(p + 1)
		}
	}
	return Convert(m.Tensor, a.DType), pivots, info
}

// PivotsToPermutation returns the permutation of size rows that exchanges in turn make, each of row i and row pivots[i],
// counted from zero.
func PivotsToPermutation(pivots Tensor, size int64) Tensor {
	batch, n := pivots.Shape[:pivots.Rank()-1], int(pivots.Shape[pivots.Rank()-1])
	out := New(pivots.DType, extended(batch, int(size)))
	given := pivots.Ints()
	all := make([]int64, 0, out.Len())
	for i := range int(lists.Product(batch)) {
		p := lists.Range[int64](size)
		for k, other := range given[i*n:][:n] {
			if other >= 0 && other < size && int64(k) < size {
				p[k], p[other] = p[other], p[k]
			}
		}
		all = append(all, p...)
	}
	return FromInts(pivots.DType, out.Shape, all...)
}

// Gtsv solves tridiagonal systems with the given diagonals, of which lower begins and upper ends with an element that is
// not used. info is the place of a zero in the factor U, where there is no solution: x is NaN.
func Gtsv(lower, diagonal, upper, b Tensor) (x, info Tensor) {
	c := func(t Tensor) Tensor { return Convert(t, dtype.C128).Clone() }
	l, d, u, work := c(lower), c(diagonal), c(upper), matricesOf(Convert(b, dtype.C128))
	info = New(dtype.I32, work.batch)
	for i := range work.count() {
		n := work.rows
		zero := zlapack.Gtsv(row[complex128](l, i, n)[1:], row[complex128](d, i, n), row[complex128](u, i, n)[:n-1], work.matrix(i))
		if zero >= 0 {
			Elems[int32](info)[i] = int32(zero + 1)
			work.fillNaN(i)
		}
	}
	return Convert(work.Tensor, b.DType), info
}
