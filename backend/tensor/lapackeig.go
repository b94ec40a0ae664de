package tensor

import (
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/lapack"

	"autoshard/backend/tensor/zlapack"
	"autoshard/ir/dtype"
)

// SVDVectors says which singular vectors are computed.
type SVDVectors uint8

// The kinds of results of Gesdd.
const (
	NoVectors   SVDVectors = iota // u and vt are zeros, of the sizes of AllVectors
	ThinVectors                   // as many as there are singular values
	AllVectors
)

// Gesdd returns the singular values of each matrix, descending, and singular vectors in the columns of u and the rows
// of vt. info is not 0, and the results are NaN, where they could not be found.
func Gesdd(a Tensor, want SVDVectors) (s, u, vt, info Tensor) {
	m := matricesOf(a)
	k := min(m.rows, m.cols)
	us, vts := newMatrices(a.DType, m.batch, m.rows, m.rows), newMatrices(a.DType, m.batch, m.cols, m.cols)
	if want == ThinVectors {
		us, vts = newMatrices(a.DType, m.batch, m.rows, k), newMatrices(a.DType, m.batch, k, m.cols)
	}
	values := newVectors(dtype.F64, m.batch, k)
	info = m.solve(func(i int) bool {
		if m.complex() {
			return zgesdd(m.matrix(i), want, values.real(i), us.matrix(i), vts.matrix(i))
		}
		return dgesdd(m, i, want, values.real(i), us.real(i), vts.real(i))
	}, values, us, vts)
	return Convert(values.Tensor, a.DType.Part()), Convert(us.Tensor, a.DType), Convert(vts.Tensor, a.DType), info
}

func zgesdd(a cblas128.General, want SVDVectors, s []float64, u, vt cblas128.General) bool {
	values, left, right, ok := zlapack.Gesvd(a, want == AllVectors)
	copy(s, values)
	if want != NoVectors {
		copy(u.Data, left.Data)
		copy(vt.Data, right.Data)
	}
	return ok
}

func dgesdd(m matrices, i int, want SVDVectors, s, u, vt []float64) (ok bool) {
	job := [...]lapack.SVDJob{NoVectors: lapack.SVDNone, ThinVectors: lapack.SVDStore, AllVectors: lapack.SVDAll}[want]
	ldu := m.rows
	if want == ThinVectors {
		ldu = min(m.rows, m.cols)
	}
	workspace(func(work []float64, lwork int) {
		ok = lapackImpl.Dgesvd(job, job, m.rows, m.cols, m.real(i), m.cols, s, u, ldu, vt, m.cols, work, lwork)
	})
	return ok
}

// Geev returns the complex eigenvalues of each matrix and, in columns, left and right eigenvectors of length 1 whose
// largest element is real, zeros where they are not asked for. info is not 0, and the results are NaN, where they could
// not be found.
func Geev(a Tensor, wantLeft, wantRight bool) (w, left, right, info Tensor) {
	m := matricesOf(a)
	n := m.rows
	values := newVectors(dtype.C128, m.batch, n)
	ls, rs := newMatrices(dtype.C128, m.batch, n, n), newMatrices(dtype.C128, m.batch, n, n)
	info = m.solve(func(i int) bool {
		if m.complex() {
			return zgeev(m.matrix(i), values.complexes(i), ls.matrix(i), rs.matrix(i), wantLeft, wantRight)
		}
		return dgeev(m.real(i), n, values.complexes(i), ls.matrix(i), rs.matrix(i), wantLeft, wantRight)
	}, values, ls, rs)
	part := dtype.ComplexOf(a.DType.Part())
	return Convert(values.Tensor, part), Convert(ls.Tensor, part), Convert(rs.Tensor, part), info
}

func zgeev(a cblas128.General, w []complex128, left, right cblas128.General, wantLeft, wantRight bool) bool {
	values, l, r, ok := zlapack.Geev(a, wantLeft, wantRight)
	copy(w, values)
	copy(left.Data, l.Data)
	copy(right.Data, r.Data)
	return ok
}

func dgeev(a []float64, n int, w []complex128, left, right cblas128.General, wantLeft, wantRight bool) bool {
	wr, wi := make([]float64, n), make([]float64, n)
	vl, vr := make([]float64, n*n), make([]float64, n*n)
	jobl, jobr := lapack.LeftEVNone, lapack.RightEVNone
	if wantLeft {
		jobl = lapack.LeftEVCompute
	}
	if wantRight {
		jobr = lapack.RightEVCompute
	}
	first := 0
	workspace(func(work []float64, lwork int) {
		first = lapackImpl.Dgeev(jobl, jobr, n, a, n, wr, wi, vl, n, vr, n, work, lwork)
	})
	for i := range w {
		w[i] = complex(wr[i], wi[i])
	}
	unpackPairs(vl, wi, left)
	unpackPairs(vr, wi, right)
	return first == 0
}

// unpackPairs makes complex vectors of the real and imaginary parts that neighbouring columns hold for conjugate pairs.
func unpackPairs(v, imaginary []float64, out cblas128.General) {
	n := out.Rows
	for j := 0; j < n; j++ {
		pair := imaginary[j] != 0 && j+1 < n
		for i := range n {
			if pair {
				out.Data[i*n+j] = complex(v[i*n+j], v[i*n+j+1])
				out.Data[i*n+j+1] = complex(v[i*n+j], -v[i*n+j+1])
			} else {
				out.Data[i*n+j] = complex(v[i*n+j], 0)
			}
		}
		if pair {
			j++
		}
	}
}

// Gees returns the Schur form of each matrix, its Schur vectors in columns and its eigenvalues in the order of the
// form's diagonal. info is not 0, and the results are NaN, where they could not be found.
func Gees(a Tensor) (form, vectors, w, info Tensor) {
	m := matricesOf(a)
	n := m.rows
	values := newVectors(dtype.C128, m.batch, n)
	zs := newMatrices(a.DType, m.batch, n, n)
	info = m.solve(func(i int) bool {
		if m.complex() {
			return zgees(m.matrix(i), zs.matrix(i), values.complexes(i))
		}
		return dgees(m.real(i), n, zs.real(i), values.complexes(i))
	}, m, zs, values)
	return Convert(m.Tensor, a.DType), Convert(zs.Tensor, a.DType), values.Tensor, info
}

// zgees replaces one complex matrix by its Schur form.
func zgees(a, z cblas128.General, w []complex128) bool {
	form, vectors, ok := zlapack.Gees(a)
	copy(z.Data, vectors.Data)
	for i := range w {
		w[i] = form.Data[i*form.Stride+i]
	}
	return ok
}

// dgees replaces one real matrix by its Schur form, by LAPACK's steps: isolated eigenvalues first, then reduction to
// Hessenberg form, then the QR algorithm.
func dgees(a []float64, n int, z []float64, w []complex128) bool {
	scale, tau := make([]float64, n), make([]float64, max(0, n-1))
	low, high := lapackImpl.Dgebal(lapack.Permute, n, a, n, scale)
	workspace(func(work []float64, lwork int) { lapackImpl.Dgehrd(n, low, high, a, n, tau, work, lwork) })
	copy(z, a)
	workspace(func(work []float64, lwork int) { lapackImpl.Dorghr(n, low, high, z, n, tau, work, lwork) })
	for i := 2; i < n; i++ {
		clear(a[i*n:][:i-1])
	}
	wr, wi := make([]float64, n), make([]float64, n)
	left := 0
	workspace(func(work []float64, lwork int) {
		left = lapackImpl.Dhseqr(lapack.EigenvaluesAndSchur, lapack.SchurOrig, n, low, high, a, n, wr, wi, z, n, work, lwork)
	})
	lapackImpl.Dgebak(lapack.Permute, lapack.EVRight, n, low, high, scale, n, z, n)
	for i := range w {
		w[i] = complex(wr[i], wi[i])
	}
	return left == 0
}
