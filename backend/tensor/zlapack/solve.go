package zlapack

import "gonum.org/v1/gonum/blas/cblas128"

// Getrf factors a with rows exchanged into L·U, in its place: at step i row i was exchanged with row pivots[i]. It
// returns the first i with U[i,i] = 0, or -1.
func Getrf(a cblas128.General, pivots []int) (zero int) {
	zero = -1
	for k := range pivots {
		pivots[k] = k
		for i := k + 1; i < a.Rows; i++ {
			if cabs1(a.Data[i*a.Stride+k]) > cabs1(a.Data[pivots[k]*a.Stride+k]) {
				pivots[k] = i
			}
		}
		if p := pivots[k]; p != k {
			cblas128.Swap(vector(a.Data[k*a.Stride:][:a.Cols]), vector(a.Data[p*a.Stride:][:a.Cols]))
		}
		pivot := a.Data[k*a.Stride+k]
		if pivot == 0 {
			if zero < 0 {
				zero = k
			}
			continue
		}
		if below := column(a, k+1, k); below.N > 0 {
			cblas128.Scal(1/pivot, below)
			if rest := from(a, k+1, k+1); rest.Cols > 0 {
				cblas128.Geru(-1, below, vector(a.Data[k*a.Stride+k+1:][:rest.Cols]), rest)
			}
		}
	}
	return zero
}

// Gtsv solves a tridiagonal system with rows exchanged where needed. The diagonals lower (n-1 elements), diagonal and
// upper (n-1) and the right-hand sides b are changed, b to the solution. It returns the first i where the factor U has
// a zero on its diagonal, or -1; there is no solution then.
func Gtsv(lower, diagonal, upper []complex128, b cblas128.General) (zero int) {
	n := len(diagonal)
	for k := range n - 1 {
		if lower[k] == 0 {
			if diagonal[k] == 0 {
				return k
			}
			continue
		}
		row, next := vector(b.Data[k*b.Stride:][:b.Cols]), vector(b.Data[(k+1)*b.Stride:][:b.Cols])
		if cabs1(diagonal[k]) >= cabs1(lower[k]) {
			f := lower[k] / diagonal[k]
			diagonal[k+1] -= f * upper[k]
			cblas128.Axpy(-f, row, next)
			lower[k] = 0
			continue
		}
		f := diagonal[k] / lower[k]
		diagonal[k] = lower[k]
		t := diagonal[k+1]
		diagonal[k+1] = upper[k] - f*t
		lower[k] = 0
		if k < n-2 {
			lower[k] = upper[k+1] // the second superdiagonal of U
			upper[k+1] *= -f
		}
		upper[k] = t
		cblas128.Swap(row, next)
		cblas128.Axpy(-f, row, next)
	}
	if n > 0 && diagonal[n-1] == 0 {
		return n - 1
	}
	for k := n - 1; k >= 0; k-- {
		row := vector(b.Data[k*b.Stride:][:b.Cols])
		if k < n-1 {
			cblas128.Axpy(-upper[k], vector(b.Data[(k+1)*b.Stride:][:b.Cols]), row)
		}
		if k < n-2 {
			cblas128.Axpy(-lower[k], vector(b.Data[(k+2)*b.Stride:][:b.Cols]), row)
		}
		cblas128.Scal(1/diagonal[k], row)
	}
	return -1
}
