package zlapack_test

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/cblas128"

	"autoshard/backend/tensor/zlapack"
)

const tolerance = 1e-12

func random(r *rand.Rand, rows, cols int) cblas128.General {
	m := zlapack.New(rows, cols)
	for i := range m.Data {
		m.Data[i] = complex(r.NormFloat64(), r.NormFloat64())
	}
	return m
}

// distance returns the largest difference of elements.
func distance(a, b cblas128.General) float64 {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return math.Inf(1)
	}
	worst := 0.0
	for i := range a.Rows {
		for j := range a.Cols {
			worst = math.Max(worst, cmplx.Abs(a.Data[i*a.Stride+j]-b.Data[i*b.Stride+j]))
		}
	}
	return worst
}

func diagonal(rows, cols int, d []float64) cblas128.General {
	m := zlapack.New(rows, cols)
	for i, x := range d {
		m.Data[i*m.Stride+i] = complex(x, 0)
	}
	return m
}

func isUnitary(t *testing.T, what string, q cblas128.General) {
	t.Helper()
	ones := make([]float64, q.Cols)
	for i := range ones {
		ones[i] = 1
	}
	if d := distance(zlapack.Multiply(zlapack.Adjoint(q), q), diagonal(q.Cols, q.Cols, ones)); d > tolerance {
		t.Errorf("%s: columns are %g from orthonormal", what, d)
	}
}

// each runs a test on matrices of all small sizes.
func each(t *testing.T, square bool, test func(t *testing.T, r *rand.Rand, m, n int)) {
	r := rand.New(rand.NewPCG(1, 2))
	for m := 1; m <= 9; m++ {
		for n := 1; n <= 9; n++ {
			if !square || m == n {
				test(t, r, m, n)
			}
		}
	}
	if square {
		test(t, r, 40, 40)
	}
}

// Q times R is the matrix, Q is unitary, and products with it are those with the matrix that it stands for.
func TestFactors(t *testing.T) {
	each(t, false, func(t *testing.T, r *rand.Rand, m, n int) {
		a := random(r, m, n)
		qr, tau := clone(a), make([]complex128, min(m, n))
		zlapack.Geqrf(qr, tau)
		q := zlapack.Ungqr(qr, tau, m)
		isUnitary(t, "q", q)
		upper := clone(qr)
		for i := range m {
			for j := range min(i, n) {
				upper.Data[i*n+j] = 0
			}
			if i < n && imag(upper.Data[i*n+i]) != 0 && i < min(m, n)-1 {
				t.Errorf("R[%d,%d] = %v is not real", i, i, upper.Data[i*n+i])
			}
		}
		if d := distance(zlapack.Multiply(q, upper), a); d > tolerance {
			t.Errorf("%dx%d: QR is %g from A", m, n, d)
		}
		for _, adjoint := range []bool{false, true} {
			c, other := random(r, m, 3), clone(q)
			if adjoint {
				other = zlapack.Adjoint(q)
			}
			left, right := clone(c), zlapack.Adjoint(c)
			zlapack.Unmqr(qr, tau, left, true, adjoint)
			zlapack.Unmqr(qr, tau, right, false, adjoint)
			if d := distance(left, zlapack.Multiply(other, c)) + distance(right, zlapack.Multiply(zlapack.Adjoint(c), other)); d > tolerance {
				t.Errorf("%dx%d: products with Q are off by %g", m, n, d)
			}
		}
	})
}

// Factors with columns exchanged are those of the exchanged matrix; fixed columns stay in front and the diagonal of R falls.
func TestPivotedColumns(t *testing.T) {
	each(t, false, func(t *testing.T, r *rand.Rand, m, n int) {
		a := random(r, m, n)
		fixed := make([]bool, n)
		fixed[n-1] = n > 2
		qr, tau := clone(a), make([]complex128, min(m, n))
		pivots := zlapack.Geqp3(qr, fixed, tau)
		permuted, plain := zlapack.New(m, n), make([]complex128, min(m, n))
		for j, p := range pivots {
			for i := range m {
				permuted.Data[i*n+j] = a.Data[i*n+p]
			}
		}
		zlapack.Geqrf(permuted, plain)
		if d := distance(permuted, qr); d > tolerance {
			t.Errorf("%dx%d: factors of the permuted matrix differ by %g", m, n, d)
		}
		if n > 2 && pivots[0] != n-1 {
			t.Errorf("the fixed column is not first: %v", pivots)
		}
		first := 0
		if n > 2 {
			first = 1
		}
		for i := first + 1; i < min(m, n); i++ {
			if cmplx.Abs(qr.Data[i*n+i]) > cmplx.Abs(qr.Data[(i-1)*n+i-1])+tolerance {
				t.Errorf("the diagonal of R rises at %d", i)
			}
		}
	})
}

// L times U is the matrix with rows exchanged, and a zero on U's diagonal is found.
func TestLU(t *testing.T) {
	each(t, false, func(t *testing.T, r *rand.Rand, m, n int) {
		a := random(r, m, n)
		singular := m == n && m > 2
		if singular {
			for j := range n {
				a.Data[j], a.Data[n+j] = 0, 0
			}
		}
		lu, pivots := clone(a), make([]int, min(m, n))
		zero := zlapack.Getrf(lu, pivots)
		if singular != (zero >= 0) {
			t.Errorf("%dx%d: zero at %d", m, n, zero)
		}
		l, u := zlapack.New(m, min(m, n)), zlapack.New(min(m, n), n)
		for i := range m {
			for j := range n {
				if j < i && j < l.Cols {
					l.Data[i*l.Stride+j] = lu.Data[i*n+j]
				} else if i < u.Rows {
					u.Data[i*u.Stride+j] = lu.Data[i*n+j]
				}
			}
			if i < l.Cols {
				l.Data[i*l.Stride+i] = 1
			}
		}
		back := zlapack.Multiply(l, u)
		for k := len(pivots) - 1; k >= 0; k-- {
			for j := range n {
				x, y := k*n+j, pivots[k]*n+j
				back.Data[x], back.Data[y] = back.Data[y], back.Data[x]
			}
		}
		if d := distance(back, a); d > tolerance {
			t.Errorf("%dx%d: LU is %g from A", m, n, d)
		}
	})
}

// Singular values and vectors make up the matrix; values fall and vectors are orthonormal.
func TestSingularValues(t *testing.T) {
	each(t, false, func(t *testing.T, r *rand.Rand, m, n int) {
		a := random(r, m, n)
		for _, all := range []bool{false, true} {
			s, u, vt, ok := zlapack.Gesvd(clone(a), all)
			if !ok || u.Rows != m || vt.Cols != n || all && (u.Cols != m || vt.Rows != n) {
				t.Fatalf("%dx%d: %v, u of %d columns, vt of %d rows", m, n, ok, u.Cols, vt.Rows)
			}
			isUnitary(t, "u", u)
			isUnitary(t, "v", zlapack.Adjoint(vt))
			if d := distance(zlapack.Multiply(zlapack.Multiply(u, diagonal(u.Cols, vt.Rows, s)), vt), a); d > tolerance {
				t.Errorf("%dx%d: the product is %g from A", m, n, d)
			}
			for i := 1; i < len(s); i++ {
				if s[i] > s[i-1] || s[i] < 0 {
					t.Errorf("singular values %v are not in order", s)
				}
			}
		}
	})
}

// Eigenvalues and vectors make up the matrix, and its tridiagonal form has the same trace.
func TestHermitian(t *testing.T) {
	each(t, true, func(t *testing.T, r *rand.Rand, n, _ int) {
		b := random(r, n, n)
		a := zlapack.Multiply(b, zlapack.Adjoint(b))
		w, v, ok := zlapack.Heev(clone(a))
		isUnitary(t, "vectors", v)
		if d := distance(zlapack.Multiply(zlapack.Multiply(v, diagonal(n, n, w)), zlapack.Adjoint(v)), a); !ok || d > tolerance*float64(n*n) {
			t.Errorf("%d: %v, the product is %g from A", n, ok, d)
		}
		for _, lower := range []bool{true, false} {
			d, e, tau := make([]float64, n), make([]float64, n-1), make([]complex128, n-1)
			zlapack.Hetrd(clone(a), lower, d, e, tau)
			trace := 0.0
			for i := range n {
				trace += d[i] - w[i]
			}
			if math.Abs(trace) > tolerance*float64(n*n) {
				t.Errorf("%d: the tridiagonal matrix has another trace, by %g", n, trace)
			}
		}
	})
}

// The Schur form is triangular and makes up the matrix; eigenvectors are those of its eigenvalues.
func TestSchur(t *testing.T) {
	each(t, true, func(t *testing.T, r *rand.Rand, n, _ int) {
		for _, sparse := range []bool{false, true} {
			a := random(r, n, n)
			if sparse { // many zeros, and equal eigenvalues
				for i := range a.Data {
					a.Data[i] = complex(float64(r.IntN(2)), 0)
				}
			}
			form, z, ok := zlapack.Gees(clone(a))
			isUnitary(t, "z", z)
			for i := range n {
				for j := range i {
					if form.Data[i*n+j] != 0 {
						t.Fatalf("%d: T[%d,%d] = %v", n, i, j, form.Data[i*n+j])
					}
				}
			}
			if d := distance(zlapack.Multiply(zlapack.Multiply(z, form), zlapack.Adjoint(z)), a); !ok || d > 100*tolerance {
				t.Errorf("%d: %v, the product is %g from A", n, ok, d)
			}
			if sparse {
				continue
			}
			w, left, right, ok := zlapack.Geev(clone(a), true, true)
			values := zlapack.New(n, n)
			for i := range w {
				values.Data[i*n+i] = w[i]
			}
			if d := distance(zlapack.Multiply(a, right), zlapack.Multiply(right, values)); !ok || d > 100*tolerance {
				t.Errorf("%d: right vectors are off by %g", n, d)
			}
			if d := distance(zlapack.Multiply(zlapack.Adjoint(left), a), zlapack.Multiply(values, zlapack.Adjoint(left))); d > 100*tolerance {
				t.Errorf("%d: left vectors are off by %g", n, d)
			}
		}
	})
}

// Of what is no number nothing is found.
func TestNaN(t *testing.T) {
	a := zlapack.New(4, 4)
	for i := range a.Data {
		a.Data[i] = complex(math.NaN(), 0)
	}
	if _, _, ok := zlapack.Gees(clone(a)); ok {
		t.Error("eigenvalues of NaN were found")
	}
}

// The solution of a tridiagonal system is found.
func TestTridiagonal(t *testing.T) {
	each(t, true, func(t *testing.T, r *rand.Rand, n, _ int) {
		a := zlapack.New(n, n)
		lower, d, upper := make([]complex128, n-1), make([]complex128, n), make([]complex128, n-1)
		for i := range n {
			d[i] = complex(r.NormFloat64(), r.NormFloat64())
			a.Data[i*n+i] = d[i]
			if i < n-1 {
				lower[i], upper[i] = complex(r.NormFloat64(), 1), complex(1, r.NormFloat64())
				a.Data[(i+1)*n+i], a.Data[i*n+i+1] = lower[i], upper[i]
			}
		}
		x := random(r, n, 2)
		b := zlapack.Multiply(a, x)
		if zero := zlapack.Gtsv(lower, d, upper, b); zero >= 0 || distance(b, x) > 1e-8 {
			t.Errorf("%d: zero at %d, x is off by %g", n, zero, distance(b, x))
		}
	})
	if zero := zlapack.Gtsv([]complex128{0}, []complex128{0, 1}, []complex128{1}, zlapack.New(2, 1)); zero != 0 {
		t.Errorf("a singular system has a zero at %d", zero)
	}
}

func clone(a cblas128.General) cblas128.General {
	a.Data = slices.Clone(a.Data)
	return a
}

// The reflectors of Gehrd make the unitary Q for which Qᴴ·A·Q has nothing below its first subdiagonal.
func TestHessenberg(t *testing.T) {
	each(t, true, func(t *testing.T, r *rand.Rand, m, n int) {
		a := random(r, n, n)
		h, tau := clone(a), make([]complex128, n-1)
		zlapack.Gehrd(h, 0, n-1, tau)
		q := zlapack.Unghr(h, tau)
		isUnitary(t, "q", q)
		for i := range n {
			for j := range max(0, i-1) {
				h.Data[i*n+j] = 0
			}
		}
		if d := distance(zlapack.Multiply(zlapack.Multiply(zlapack.Adjoint(q), a), q), h); d > 10*tolerance {
			t.Errorf("%dx%d: QᴴAQ is %g from H", n, n, d)
		}
	})
}
