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
	s, info = New(dtype.F64, extended(m.batch, k)), New(dtype.I32, m.batch)
	for i := range m.count() {
		values := row[float64](s, i, k)
		ok := m.finite(i)
		switch {
		case !ok:
		case m.complex():
			ok = zgesdd(m.matrix(i), want, values, us.matrix(i), vts.matrix(i))
		default:
			ok = dgesdd(m, i, want, values, us.real(i), vts.real(i))
		}
		if !ok {
			Elems[int32](info)[i] = 1
			fillNaN(values)
			us.fillNaN(i)
			vts.fillNaN(i)
		}
	}
	return Convert(s, realPart(a.DType)), Convert(us.Tensor, a.DType), Convert(vts.Tensor, a.DType), info
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
	w, info = New(dtype.C128, extended(m.batch, n)), New(dtype.I32, m.batch)
	ls, rs := newMatrices(dtype.C128, m.batch, n, n), newMatrices(dtype.C128, m.batch, n, n)
	for i := range m.count() {
		values := row[complex128](w, i, n)
		ok := m.finite(i)
		switch {
		case !ok:
		case m.complex():
			ok = zgeev(m.matrix(i), values, ls.matrix(i), rs.matrix(i), wantLeft, wantRight)
		default:
			ok = dgeev(m.real(i), n, values, ls.matrix(i), rs.matrix(i), wantLeft, wantRight)
		}
		if !ok {
			Elems[int32](info)[i] = 1
			fillNaN(values)
			ls.fillNaN(i)
			rs.fillNaN(i)
		}
	}
	part := dtype.C64
	if realPart(a.DType) == dtype.F64 {
		part = dtype.C128
	}
	return Convert(w, part), Convert(ls.Tensor, part), Convert(rs.Tensor, part), info
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
	w, info = New(dtype.C128, extended(m.batch, n)), New(dtype.I32, m.batch)
	zs := newMatrices(a.DType, m.batch, n, n)
	for i := range m.count() {
		values := row[complex128](w, i, n)
		ok := m.finite(i)
		switch {
		case !ok:
		case m.complex():
			var t, z cblas128.General
			t, z, ok = zlapack.Gees(m.matrix(i))
			copy(zs.matrix(i).Data, z.Data)
			for k := range n {
				values[k] = t.Data[k*n+k]
			}
		default:
			ok = dgees(m.real(i), n, zs.real(i), values)
		}
		if !ok {
			Elems[int32](info)[i] = 1
			m.fillNaN(i)
			zs.fillNaN(i)
			fillNaN(values)
		}
	}
	return Convert(m.Tensor, a.DType), Convert(zs.Tensor, a.DType), w, info
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
