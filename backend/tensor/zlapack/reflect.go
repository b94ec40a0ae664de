package zlapack

import (
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/cblas128"
)

// reflector returns beta and tau of H = I - tau·v·vᴴ with Hᴴ·(alpha, x) = (beta, 0), and changes x to the rest of v,
// whose first element is 1 (zlarfg).
func reflector(alpha complex128, x cblas128.Vector) (beta float64, tau complex128) {
	norm := 0.0
	if x.N > 0 {
		norm = cblas128.Nrm2(x)
	}
	if norm == 0 && imag(alpha) == 0 {
		return real(alpha), 0
	}
	beta = -math.Copysign(math.Hypot(cmplx.Abs(alpha), norm), real(alpha))
	tau = complex((beta-real(alpha))/beta, -imag(alpha)/beta)
	if x.N > 0 {
		cblas128.Scal(1/(alpha-complex(beta, 0)), x)
	}
	return beta, tau
}

// fromLeft multiplies c from the left by I - tau·v·vᴴ.
func fromLeft(v []complex128, tau complex128, c cblas128.General) {
	if tau == 0 || c.Cols == 0 || c.Rows == 0 {
		return
	}
	w := vector(make([]complex128, c.Cols))
	cblas128.Gemv(blas.ConjTrans, 1, c, vector(v), 0, w)
	cblas128.Gerc(-tau, vector(v), w, c)
}

// fromRight multiplies c from the right by I - tau·v·vᴴ.
func fromRight(v []complex128, tau complex128, c cblas128.General) {
	if tau == 0 || c.Cols == 0 || c.Rows == 0 {
		return
	}
	w := vector(make([]complex128, c.Rows))
	cblas128.Gemv(blas.NoTrans, 1, c, vector(v), 0, w)
	cblas128.Gerc(-tau, w, vector(v), c)
}

// annihilate makes the elements of a column below a row zero by a reflector, which it stores in their place, and
// returns.
func annihilate(a cblas128.General, row, col int) (v []complex128, tau complex128) {
	at := row*a.Stride + col
	beta, tau := reflector(a.Data[at], column(a, row+1, col))
	a.Data[at] = complex(beta, 0)
	return stored(a, row, col), tau
}

// stored returns the reflector that a column holds below a row.
func stored(a cblas128.General, row, col int) []complex128 {
	v := make([]complex128, a.Rows-row)
	v[0] = 1
	for i := 1; i < len(v); i++ {
		v[i] = a.Data[(row+i)*a.Stride+col]
	}
	return v
}

// Geqrf factors a into Q·R: R in the upper triangle, below it the reflectors of Q. tau has an element per reflector.
func Geqrf(a cblas128.General, tau []complex128) {
	for i := range tau {
		v, t := annihilate(a, i, i)
		tau[i] = t
		fromLeft(v, cmplx.Conj(t), from(a, i, i+1))
	}
}

// Geqp3 factors a·P into Q·R, taking the longest column left at each step. Columns j with fixed[j] come first.
// Column i of a·P is column pivots[i] of a.
func Geqp3(a cblas128.General, fixed []bool, tau []complex128) (pivots []int) {
	pivots = make([]int, a.Cols)
	for j := range pivots {
		pivots[j] = j
	}
	swap := func(i, j int) {
		if i != j {
			cblas128.Swap(column(a, 0, i), column(a, 0, j))
			pivots[i], pivots[j] = pivots[j], pivots[i]
		}
	}
	first := 0
	for j := range pivots {
		if fixed[j] {
			swap(first, j)
			first++
		}
	}
	for i := range tau {
		if i >= first {
			longest, length := i, -1.0
			for j := i; j < a.Cols; j++ {
				if n := cblas128.Nrm2(column(a, i, j)); n > length {
					longest, length = j, n
				}
			}
			swap(i, longest)
		}
		v, t := annihilate(a, i, i)
		tau[i] = t
		fromLeft(v, cmplx.Conj(t), from(a, i, i+1))
	}
	return pivots
}

// Ungqr returns the first cols columns of the product of the reflectors that a holds below its diagonal.
func Ungqr(a cblas128.General, tau []complex128, cols int) cblas128.General {
	q := eye(a.Rows, cols)
	for i := len(tau) - 1; i >= 0; i-- {
		fromLeft(stored(a, i, i), tau[i], from(q, i, i))
	}
	return q
}

// Unmqr multiplies c by the product Q of the reflectors in a, or its adjoint, from the left or the right.
func Unmqr(a cblas128.General, tau []complex128, c cblas128.General, left, adjoint bool) {
	for step := range tau {
		i := step
		if left != adjoint {
			i = len(tau) - 1 - step
		}
		t := tau[i]
		if adjoint {
			t = cmplx.Conj(t)
		}
		if left {
			fromLeft(stored(a, i, i), t, from(c, i, 0))
		} else {
			fromRight(stored(a, i, i), t, from(c, 0, i))
		}
	}
}

// Gehrd reduces rows and columns low to high of a to Hessenberg form Qᴴ·a·Q, with the reflectors of Q below the first
// subdiagonal. tau has one element less than a has rows.
func Gehrd(a cblas128.General, low, high int, tau []complex128) {
	clear(tau)
	active := block(a, 0, 0, high+1, a.Cols)
	for i := low; i < high; i++ {
		v, t := annihilate(active, i+1, i)
		tau[i] = t
		fromRight(v, t, block(a, 0, i+1, high+1, high-i))
		fromLeft(v, cmplx.Conj(t), block(a, i+1, i+1, high-i, a.Cols-i-1))
	}
}

// Unghr returns the Q of Gehrd.
func Unghr(a cblas128.General, tau []complex128) cblas128.General {
	q := eye(a.Rows, a.Rows)
	for i := len(tau) - 1; i >= 0; i-- {
		fromLeft(stored(a, i+1, i), tau[i], from(q, i+1, i+1))
	}
	return q
}
