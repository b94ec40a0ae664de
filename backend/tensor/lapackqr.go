package tensor

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/lapack"

	"autoshard/backend/tensor/zlapack"
	"autoshard/ir/dtype"
)

// Geqrf returns R in the upper triangles and below them the reflectors whose product is Q, with their factors taus.
func Geqrf(a Tensor) (qr, taus Tensor) {
	m := matricesOf(a)
	k := min(m.rows, m.cols)
	taus = New(m.DType, extended(m.batch, k))
	for i := range m.count() {
		if m.complex() {
			zlapack.Geqrf(m.matrix(i), row[complex128](taus, i, k))
			continue
		}
		workspace(func(work []float64, lwork int) {
			lapackImpl.Dgeqrf(m.rows, m.cols, m.real(i), m.cols, row[float64](taus, i, k), work, lwork)
		})
	}
	return Convert(m.Tensor, a.DType), Convert(taus, a.DType)
}

// Geqp3 is Geqrf with columns exchanged such that the diagonal of R falls: column i of what was factored is column
// pivots[i] of a, counted from one. Columns whose pivot is not 0 come first.
func Geqp3(a, fixed Tensor) (qr, pivots, taus Tensor) {
	m := matricesOf(a)
	k := min(m.rows, m.cols)
	taus, pivots = New(m.DType, extended(m.batch, k)), fixed.Clone()
	for i := range m.count() {
		at := row[int32](pivots, i, m.cols)
		var order []int
		if m.complex() {
			first := make([]bool, m.cols)
			for j, p := range at {
				first[j] = p != 0
			}
			order = zlapack.Geqp3(m.matrix(i), first, row[complex128](taus, i, k))
		} else {
			order = make([]int, m.cols)
			workspace(func(work []float64, lwork int) {
				for j, p := range at {
					order[j] = -1
					if p != 0 {
						order[j] = 0
					}
				}
				lapackImpl.Dgeqp3(m.rows, m.cols, m.real(i), m.cols, order, row[float64](taus, i, k), work, lwork)
			})
		}
		for j, p := range order {
			at[j] = int32(p + 1)
		}
	}
	return Convert(m.Tensor, a.DType), pivots, Convert(taus, a.DType)
}

// Orgqr returns the matrix of a's size whose columns are the first ones of Q, the product of a's reflectors. It has no
// more columns than rows.
func Orgqr(a, taus Tensor) Tensor {
	m, t := matricesOf(a), widened(taus)
	k := int(taus.Shape[taus.Rank()-1])
	for i := range m.count() {
		if m.complex() {
			q := zlapack.Ungqr(m.matrix(i), row[complex128](t, i, k), m.cols)
			copy(m.matrix(i).Data, q.Data)
			continue
		}
		workspace(func(work []float64, lwork int) {
			lapackImpl.Dorgqr(m.rows, m.cols, k, m.real(i), m.cols, row[float64](t, i, k), work, lwork)
		})
	}
	return Convert(m.Tensor, a.DType)
}

// Ormqr returns c multiplied from the left or the right by Q, the product of a's reflectors, or by its adjoint.
func Ormqr(a, taus, c Tensor, left, adjoint bool) Tensor {
	m, t, out := matricesOf(a), widened(taus), matricesOf(c)
	k := int(taus.Shape[taus.Rank()-1])
	side, trans := blas.Right, blas.NoTrans
	if left {
		side = blas.Left
	}
	if adjoint {
		trans = blas.Trans
	}
	for i := range out.count() {
		if m.complex() {
			zlapack.Unmqr(m.matrix(i), row[complex128](t, i, k), out.matrix(i), left, adjoint)
			continue
		}
		workspace(func(work []float64, lwork int) {
			lapackImpl.Dormqr(side, trans, out.rows, out.cols, k, m.real(i), m.cols, row[float64](t, i, k), out.real(i), out.cols, work, lwork)
		})
	}
	return Convert(out.Tensor, c.DType)
}

// Gehrd reduces rows and columns low to high of each matrix, counted from one, to Hessenberg form, with the reflectors
// of the similarity below the first subdiagonal.
func Gehrd(a Tensor, low, high int) (h, taus, info Tensor) {
	m := matricesOf(a)
	k := max(0, m.rows-1)
	taus, info = New(m.DType, extended(m.batch, k)), New(dtype.I32, m.batch)
	for i := range m.count() {
		if m.complex() {
			zlapack.Gehrd(m.matrix(i), low-1, high-1, row[complex128](taus, i, k))
			continue
		}
		workspace(func(work []float64, lwork int) {
			lapackImpl.Dgehrd(m.rows, low-1, high-1, m.real(i), m.cols, row[float64](taus, i, k), work, lwork)
		})
	}
	return Convert(m.Tensor, a.DType), Convert(taus, a.DType), info
}

// Sytrd reduces the symmetric or Hermitian matrices in lower or upper triangles to tridiagonal ones with diagonals d and
// off-diagonals e, with the reflectors of the similarity in the rest of the triangle.
func Sytrd(a Tensor, lower bool) (out, d, e, taus, info Tensor) {
	m := matricesOf(a)
	n, k := m.rows, max(0, m.rows-1)
	d, e = New(dtype.F64, extended(m.batch, n)), New(dtype.F64, extended(m.batch, k))
	taus, info = New(m.DType, extended(m.batch, k)), New(dtype.I32, m.batch)
	for i := range m.count() {
		diagonal, off := row[float64](d, i, n), row[float64](e, i, k)
		if m.complex() {
			zlapack.Hetrd(m.matrix(i), lower, diagonal, off, row[complex128](taus, i, k))
			continue
		}
		workspace(func(work []float64, lwork int) {
			lapackImpl.Dsytrd(uplo(lower), n, m.real(i), n, diagonal, off, row[float64](taus, i, k), work, lwork)
		})
	}
	part := a.DType.Part()
	return Convert(m.Tensor, a.DType), Convert(d, part), Convert(e, part), Convert(taus, a.DType), info
}

// Syevd returns the eigenvalues of the symmetric or Hermitian matrices in lower or upper triangles, ascending, and
// their eigenvectors in columns. info is not 0, and the results are NaN, where they could not be found.
func Syevd(a Tensor, lower bool) (vectors, values, info Tensor) {
	m := matricesOf(a)
	n := m.rows
	w := newVectors(dtype.F64, m.batch, n)
	info = m.solve(func(i int) (ok bool) {
		if m.complex() {
			return heev(m.matrix(i), lower, w.real(i))
		}
		workspace(func(work []float64, lwork int) {
			ok = lapackImpl.Dsyev(lapack.EVCompute, uplo(lower), n, m.real(i), n, w.real(i), work, lwork)
		})
		return ok
	}, m, w)
	return Convert(m.Tensor, a.DType), Convert(w.Tensor, a.DType.Part()), info
}

// heev replaces one matrix by its eigenvectors.
func heev(a cblas128.General, lower bool, w []float64) bool {
	whole := a
	if !lower {
		whole = zlapack.Adjoint(a)
	}
	values, vectors, ok := zlapack.Heev(whole)
	copy(w, values)
	copy(a.Data, vectors.Data)
	return ok
}
