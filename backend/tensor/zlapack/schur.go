package zlapack

import (
	"math"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/blas/cblas128"
)

// eps is the distance of 1 to the next number, as LAPACK's ulp.
const eps = 0x1p-52

// Gees returns the Schur form t and vectors z of a = z·t·zᴴ: t is upper triangular with the eigenvalues on its
// diagonal. False says that some eigenvalues could not be found. It changes a.
func Gees(a cblas128.General) (t, z cblas128.General, ok bool) {
	n := a.Rows
	tau := make([]complex128, n-1)
	Gehrd(a, 0, n-1, tau)
	z = Unghr(a, tau)
	for i := range n {
		clear(a.Data[i*a.Stride:][:max(0, i-1)])
	}
	return a, z, hessenbergQR(a, z)
}

// hessenbergQR makes the Hessenberg matrix h triangular by QR steps of one shift, and multiplies z by the same
// rotations from the right (zlahqr).
func hessenbergQR(h, z cblas128.General) bool {
	const most = 30 // steps per eigenvalue
	hi, steps := h.Rows-1, 0
	for left := most * max(10, h.Rows); hi > 0; left-- {
		lo := negligible(h, hi)
		if lo > 0 {
			h.Data[lo*h.Stride+lo-1] = 0
		}
		if lo == hi {
			hi, steps = hi-1, 0
			continue
		}
		if left == 0 {
			return false
		}
		steps++
		chase(h, z, lo, hi, shift(h, lo, hi, steps))
	}
	return true
}

// negligible returns the first row of the last block of h that ends at row hi: its subdiagonal element counts as zero.
func negligible(h cblas128.General, hi int) int {
	at := func(i, j int) complex128 { return h.Data[i*h.Stride+j] }
	smallest := 0x1p-1022 * float64(h.Rows) / eps
	for k := hi; k > 0; k-- {
		sub := cabs1(at(k, k-1))
		if sub <= smallest {
			return k
		}
		size := cabs1(at(k-1, k-1)) + cabs1(at(k, k))
		if size == 0 {
			if k >= 2 {
				size += math.Abs(real(at(k-1, k-2)))
			}
			if k+1 < h.Rows {
				size += math.Abs(real(at(k+1, k)))
			}
		}
		if sub > eps*size {
			continue
		}
		// Ahues and Tisseur's test, which is safe for graded matrices.
		ab, ba := max(sub, cabs1(at(k-1, k))), min(sub, cabs1(at(k-1, k)))
		difference := cabs1(at(k-1, k-1) - at(k, k))
		aa, bb := max(cabs1(at(k, k)), difference), min(cabs1(at(k, k)), difference)
		if s := aa + ab; ba*(ab/s) <= max(smallest, eps*(bb*(aa/s))) {
			return k
		}
	}
	return 0
}

// shift returns Wilkinson's shift for the block of rows lo to hi, now and then another one to leave a cycle.
func shift(h cblas128.General, lo, hi, steps int) complex128 {
	at := func(i, j int) complex128 { return h.Data[i*h.Stride+j] }
	switch {
	case steps%20 == 0:
		return at(hi, hi) + complex(0.75*math.Abs(real(at(hi, hi-1))), 0)
	case steps%10 == 0:
		return at(lo, lo) + complex(0.75*math.Abs(real(at(lo+1, lo))), 0)
	}
	t := at(hi, hi)
	u := cmplx.Sqrt(at(hi-1, hi)) * cmplx.Sqrt(at(hi, hi-1))
	if u == 0 {
		return t
	}
	x := (at(hi-1, hi-1) - t) / 2
	s := complex(max(cabs1(u), cabs1(x)), 0)
	y := s * cmplx.Sqrt((x/s)*(x/s)+(u/s)*(u/s))
	if real(x)*real(y)+imag(x)*imag(y) < 0 {
		y = -y
	}
	return t - u*(u/(x+y))
}

// chase makes one implicit QR step on rows lo to hi.
func chase(h, z cblas128.General, lo, hi int, shift complex128) {
	x, y := h.Data[lo*h.Stride+lo]-shift, h.Data[(lo+1)*h.Stride+lo]
	for k := lo; k < hi; k++ {
		if k > lo {
			x, y = h.Data[k*h.Stride+k-1], h.Data[(k+1)*h.Stride+k-1]
		}
		c, s := rotation(x, y)
		for j := max(lo, k-1); j < h.Cols; j++ {
			a, b := &h.Data[k*h.Stride+j], &h.Data[(k+1)*h.Stride+j]
			*a, *b = complex(c, 0)*(*a)+s*(*b), complex(c, 0)*(*b)-cmplx.Conj(s)*(*a)
		}
		if k > lo {
			h.Data[(k+1)*h.Stride+k-1] = 0
		}
		columns := func(m cblas128.General, rows int) {
			for i := range rows {
				a, b := &m.Data[i*m.Stride+k], &m.Data[i*m.Stride+k+1]
				*a, *b = complex(c, 0)*(*a)+cmplx.Conj(s)*(*b), complex(c, 0)*(*b)-s*(*a)
			}
		}
		columns(h, min(k+3, hi+1))
		columns(z, z.Rows)
	}
}

// rotation returns c and s such that (c, s; -conj(s), c)·(x, y) = (r, 0).
func rotation(x, y complex128) (c float64, s complex128) {
	r := math.Hypot(cmplx.Abs(x), cmplx.Abs(y))
	switch {
	case y == 0 || r == 0:
		return 1, 0
	case x == 0:
		return 0, cmplx.Conj(y) / complex(cmplx.Abs(y), 0)
	}
	c = cmplx.Abs(x) / r
	return c, x / complex(cmplx.Abs(x), 0) * cmplx.Conj(y) / complex(r, 0)
}

// Geev returns the eigenvalues of a and, where asked for, eigenvectors of length 1 in the columns of left and right:
// a·right = right·w and leftᴴ·a = w·leftᴴ. The largest element of each is real. False says that the eigenvalues could
// not be found. It changes a.
func Geev(a cblas128.General, wantLeft, wantRight bool) (w []complex128, left, right cblas128.General, ok bool) {
	n := a.Rows
	t, z, ok := Gees(a)
	w = make([]complex128, n)
	for i := range n {
		w[i] = t.Data[i*t.Stride+i]
	}
	if ok && wantRight {
		right = Multiply(z, triangularVectors(t))
		normalize(right)
	}
	if ok && wantLeft {
		left = Multiply(z, triangularLeftVectors(t))
		normalize(left)
	}
	return w, left, right, ok
}

// triangularVectors returns the right eigenvectors of an upper triangular matrix.
func triangularVectors(t cblas128.General) cblas128.General {
	n := t.Rows
	x := New(n, n)
	for k := range n {
		value := t.Data[k*t.Stride+k]
		x.Data[k*n+k] = 1
		for i := k - 1; i >= 0; i-- {
			sum := complex128(0)
			for j := i + 1; j <= k; j++ {
				sum -= t.Data[i*t.Stride+j] * x.Data[j*n+k]
			}
			x.Data[i*n+k] = sum / apart(t, t.Data[i*t.Stride+i]-value, value)
		}
	}
	return x
}

// triangularLeftVectors returns the left eigenvectors of an upper triangular matrix: the right ones of its adjoint, which is an upper
// triangle again when it is turned around.
func triangularLeftVectors(t cblas128.General) cblas128.General {
	turned := Adjoint(t)
	slices.Reverse(turned.Data)
	x := triangularVectors(turned)
	slices.Reverse(x.Data)
	return x
}

// apart keeps the difference of two eigenvalues from zero.
func apart(t cblas128.General, difference, value complex128) complex128 {
	if least := max(eps*cabs1(value), 0x1p-1022*float64(t.Rows)/eps); cabs1(difference) < least {
		return complex(least, 0)
	}
	return difference
}

func normalize(v cblas128.General) {
	for k := range v.Cols {
		c := column(v, 0, k)
		cblas128.Dscal(1/cblas128.Nrm2(c), c)
		largest := complex128(0)
		at := 0
		for i := range v.Rows {
			if x := v.Data[i*v.Stride+k]; cmplx.Abs(x) > cmplx.Abs(largest) {
				largest, at = x, i
			}
		}
		cblas128.Scal(cmplx.Conj(largest)/complex(cmplx.Abs(largest), 0), c)
		v.Data[at*v.Stride+k] = complex(real(v.Data[at*v.Stride+k]), 0)
	}
}
