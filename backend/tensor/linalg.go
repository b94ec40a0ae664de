package tensor

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/cblas128"

	"autoshard/ir/dtype"
)

// Cholesky returns L with a = L·Lᴴ, or with lower false U with a = Uᴴ·U, for each of the matrices in the last two
// dimensions. Only the named triangle is read; the other one of the result is 0. A matrix that is not positive
// definite gives NaN.
func Cholesky(a Tensor, lower bool) Tensor {
	work := Convert(a, dtype.C128).Clone()
	n := int(a.Shape[a.Rank()-1])
	data := Elems[complex128](work)
	for at := 0; at+n*n <= len(data) && n > 0; at += n * n {
		choleskyMatrix(data[at:at+n*n], n, lower)
	}
	return Convert(work, a.DType)
}

// choleskyMatrix factors one matrix in its place. It returns 0, or the order of the first minor that is not positive
// definite.
func choleskyMatrix(m []complex128, n int, lower bool) (info int) {
	l := make([]complex128, n*n)
	for i := range n {
		for j := range i + 1 {
			sum := m[i*n+j]
			if !lower {
				sum = cmplx.Conj(m[j*n+i])
			}
			for k := range j {
				sum -= l[i*n+k] * cmplx.Conj(l[j*n+k])
			}
			switch {
			case i != j:
				l[i*n+j] = sum / complex(real(l[j*n+j]), 0)
			case real(sum) > 0:
				l[i*n+i] = complex(math.Sqrt(real(sum)), 0)
			default:
				l[i*n+i] = cmplx.NaN()
			}
		}
		if info == 0 && cmplx.IsNaN(l[i*n+i]) {
			info = i + 1
		}
	}
	for i := range n {
		for j := range n {
			switch inside := j <= i == lower || i == j; {
			case !inside:
				m[i*n+j] = 0
			case info != 0:
				m[i*n+j] = cmplx.NaN()
			case lower:
				m[i*n+j] = l[i*n+j]
			default:
				m[i*n+j] = cmplx.Conj(l[j*n+i])
			}
		}
	}
	return info
}

// TransposeKind is the transpose attribute of triangular_solve.
type TransposeKind uint8

// The kinds of transposition.
const (
	NoTranspose TransposeKind = iota
	TransposeA
	Adjoint
)

var transposeNames = [...]string{"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}

// String returns the kind's MLIR spelling.
func (k TransposeKind) String() string { return transposeNames[k] }

// TriangularParams are the attributes of triangular_solve. Lower speaks of a before it is transposed.
type TriangularParams struct {
	LeftSide, Lower, UnitDiagonal bool
	Transpose                     TransposeKind
}

// TriangularSolve returns x with op(a)·x = b, or with LeftSide false x·op(a) = b, for each of the matrices in the
// last two dimensions. Only the named triangle of a is read, and its diagonal unless that is a unit one.
func TriangularSolve(a, b Tensor, p TriangularParams) Tensor {
	m, x := matricesOf(a), matricesOf(b)
	side, trans, diag := blas.Right, blas.NoTrans, blas.NonUnit
	if p.LeftSide {
		side = blas.Left
	}
	if p.UnitDiagonal {
		diag = blas.Unit
	}
	switch p.Transpose {
	case TransposeA:
		trans = blas.Trans
	case Adjoint:
		trans = blas.ConjTrans
	}
	for i := range x.count() {
		if m.complex() {
			triangle := cblas128.Triangular{N: m.rows, Stride: m.cols, Data: m.complexes(i), Uplo: uplo(p.Lower), Diag: diag}
			cblas128.Trsm(side, trans, 1, triangle, x.matrix(i))
			continue
		}
		triangle := blas64.Triangular{N: m.rows, Stride: m.cols, Data: m.real(i), Uplo: uplo(p.Lower), Diag: diag}
		blas64.Trsm(side, trans, 1, triangle, blas64.General{Rows: x.rows, Cols: x.cols, Stride: x.cols, Data: x.real(i)})
	}
	return Convert(x.Tensor, b.DType)
}
