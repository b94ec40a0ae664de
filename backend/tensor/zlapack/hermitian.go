package zlapack

import (
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// Hetrd reduces the Hermitian matrix in the lower or upper triangle of a to the real tridiagonal matrix Qᴴ·a·Q with
// diagonal d and off-diagonal e. The reflectors of Q take the place of the rest of the triangle. The rows of a lie without
// gaps.
func Hetrd(a cblas128.General, lower bool, d, e []float64, tau []complex128) {
	if !lower { // turned around, an upper triangle is a lower one
		slices.Reverse(a.Data)
		defer func() {
			slices.Reverse(a.Data)
			slices.Reverse(d)
			slices.Reverse(e)
			slices.Reverse(tau)
		}()
	}
	n := a.Rows
	for i := range n - 1 {
		d[i] = real(a.Data[i*a.Stride+i])
		a.Data[i*a.Stride+i] = complex(d[i], 0)
		v, t := annihilate(a, i+1, i)
		e[i], tau[i] = real(a.Data[(i+1)*a.Stride+i]), t
		rest := from(a, i+1, i+1)
		twoSided(v, t, cblas128.Hermitian{N: rest.Rows, Stride: rest.Stride, Data: rest.Data, Uplo: blas.Lower})
	}
	d[n-1] = real(a.Data[(n-1)*a.Stride+n-1])
	a.Data[(n-1)*a.Stride+n-1] = complex(d[n-1], 0)
}

// twoSided changes a to Hᴴ·a·H with H = I - tau·v·vᴴ.
func twoSided(v []complex128, tau complex128, a cblas128.Hermitian) {
	if tau == 0 {
		return
	}
	w := vector(make([]complex128, len(v)))
	cblas128.Hemv(tau, a, vector(v), 0, w)
	half := -tau / 2 * cblas128.Dotc(w, vector(v))
	cblas128.Axpy(half, vector(v), w)
	cblas128.Her2(-1, vector(v), w, a)
}

// Heev returns the eigenvalues of the Hermitian matrix in the lower triangle of a, ascending, and its eigenvectors in
// the columns of v; false where they could not be found. It changes a.
func Heev(a cblas128.General) (w []float64, v cblas128.General, ok bool) {
	n := a.Rows
	w, e, tau := make([]float64, n), make([]float64, n-1), make([]complex128, n-1)
	Hetrd(a, true, w, e, tau)
	z := make([]float64, n*n)
	if !(gonum.Implementation{}).Dsteqr(lapack.EVTridiag, n, w, e, z, n, make([]float64, max(1, 2*n-2))) {
		return w, a, false
	}
	return w, Multiply(Unghr(a, tau), real128(n, n, z)), true
}

// Gesvd returns the singular values of a, descending, and the singular vectors in the columns of u and the rows of vt:
// all of them, or as many as there are values. False says that they could not be found. It changes a.
func Gesvd(a cblas128.General, all bool) (s []float64, u, vt cblas128.General, ok bool) {
	if a.Rows < a.Cols {
		s, u, vt, ok = Gesvd(Adjoint(a), all)
		return s, Adjoint(vt), Adjoint(u), ok
	}
	m, n := a.Rows, a.Cols
	s, e := make([]float64, n), make([]float64, n-1)
	cols := n
	if all {
		cols = m
	}
	u, vt = bidiagonal(a, s, e, cols)
	left, right := make([]float64, n*n), make([]float64, n*n)
	for i := range n {
		left[i*n+i], right[i*n+i] = 1, 1
	}
	ok = gonum.Implementation{}.Dbdsqr(blas.Upper, n, n, n, 0, s, e, right, n, left, n, nil, 1, make([]float64, max(1, 4*n)))
	first := Multiply(block(u, 0, 0, m, n), real128(n, n, left))
	for i := range m {
		copy(u.Data[i*u.Stride:], first.Data[i*n:][:n])
	}
	return s, u, Multiply(real128(n, n, right), vt), ok
}

// bidiagonal reduces a, with no fewer rows than columns, to a real bidiagonal matrix Qᴴ·a·P with diagonal d and
// superdiagonal e (zgebrd). It returns the first cols columns of Q, and Pᴴ.
func bidiagonal(a cblas128.General, d, e []float64, cols int) (q, ph cblas128.General) {
	n := a.Cols
	tau := make([]complex128, n)
	rights, rightTaus := make([][]complex128, n-1), make([]complex128, n-1)
	for i := range n {
		v, t := annihilate(a, i, i)
		tau[i], d[i] = t, real(a.Data[i*a.Stride+i])
		fromLeft(v, cmplx.Conj(t), from(a, i, i+1))
		if i == n-1 {
			break
		}
		row := append([]complex128(nil), a.Data[i*a.Stride+i+1:][:n-i-1]...)
		conjugate(row)
		e[i], rightTaus[i] = reflector(row[0], vector(row[1:]))
		row[0] = 1
		rights[i] = row
		fromRight(row, rightTaus[i], from(a, i+1, i+1))
	}
	p := eye(n, n)
	for i := n - 2; i >= 0; i-- {
		fromLeft(rights[i], rightTaus[i], from(p, i+1, i+1))
	}
	return Ungqr(a, tau, cols), Adjoint(p)
}
