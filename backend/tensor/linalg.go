package tensor

import (
	"math"
	"math/cmplx"

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
	n := int(a.Shape[a.Rank()-1])
	rows, cols := int(b.Shape[b.Rank()-2]), int(b.Shape[b.Rank()-1])
	x := Convert(b, dtype.C128).Clone()
	if n == 0 || x.Len() == 0 {
		return Convert(x, b.DType)
	}
	as, xs := Elems[complex128](Convert(a, dtype.C128)), Elems[complex128](x)
	for batch := range len(as) / (n * n) {
		m := as[batch*n*n:][:n*n]
		entry := func(i, j int) complex128 { return m[i*n+j] }
		lower := p.Lower
		if p.Transpose != NoTranspose {
			entry = func(i, j int) complex128 { return m[j*n+i] }
			lower = !lower
			if p.Transpose == Adjoint {
				entry = func(i, j int) complex128 { return cmplx.Conj(m[j*n+i]) }
			}
		}
		part := xs[batch*rows*cols:][:rows*cols]
		if p.LeftSide {
			for c := range cols {
				substitute(entry, lower, p.UnitDiagonal, n, part[c:], cols)
			}
			continue
		}
		// x·A = b is Aᵀ·xᵀ = bᵀ, row by row.
		transposed := func(i, j int) complex128 { return entry(j, i) }
		for r := range rows {
			substitute(transposed, !lower, p.UnitDiagonal, n, part[r*cols:], 1)
		}
	}
	return Convert(x, b.DType)
}

// substitute solves for one vector of n elements that lie step apart, in place.
func substitute(a func(i, j int) complex128, lower, unit bool, n int, x []complex128, step int) {
	for k := range n {
		i := k
		if !lower {
			i = n - 1 - k
		}
		sum := x[i*step]
		for s := range k {
			j := s
			if !lower {
				j = n - 1 - s
			}
			sum -= a(i, j) * x[j*step]
		}
		if !unit {
			sum = divide(sum, a(i, i))
		}
		x[i*step] = sum
	}
}

// divide keeps real quotients real: by zero they are infinite.
func divide(x, y complex128) complex128 {
	if imag(x) == 0 && imag(y) == 0 {
		return complex(real(x)/real(y), 0)
	}
	return x / y
}
