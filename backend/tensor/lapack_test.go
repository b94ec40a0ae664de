package tensor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"autoshard/ir/dtype"
)

// eachBatch calls a test with pairs of random matrices of all small sizes and of all types that factorizations take.
func eachBatch(t *testing.T, square bool, test func(l *laws, a Tensor)) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	for _, dt := range []dtype.Type{dtype.F32, dtype.F64, dtype.C64, dtype.C128} {
		for m := int64(1); m <= 5; m++ {
			for n := int64(1); n <= 5; n++ {
				if !square || m == n {
					test(&laws{t, r, dt}, random(r, dt, 1, false, 2, m, n))
				}
			}
		}
	}
}

// laws compares what matrices of one type are and should be.
type laws struct {
	*testing.T
	r  *rand.Rand
	dt dtype.Type
}

// same checks that two tensors are the same but for the rounding of a few operations on elements of about one.
func (l *laws) same(what string, got, want Tensor) {
	l.Helper()
	if d := difference(got, want, 500*epsilon(l.dt), 1); d != "" {
		l.Errorf("%s of %v in %s: %s", what, want.Shape, l.dt, d)
	}
}

// unitary checks that the columns of matrices are orthonormal.
func (l *laws) unitary(what string, q Tensor) {
	l.Helper()
	n := q.Shape[2]
	l.same(what+"ᴴ·"+what, times(adjoint(q), q), diagonal(FromFloats(q.DType, []int64{2, n}, slices.Repeat([]float64{1}, int(2*n))...), 0))
}

func times(a Tensor, more ...Tensor) Tensor {
	d := DotDims{LHSBatch: []int64{0}, RHSBatch: []int64{0}, LHSContract: []int64{2}, RHSContract: []int64{1}}
	for _, b := range more {
		a = DotGeneral(a, b, d, a.DType)
	}
	return a
}

func adjoint(a Tensor) Tensor {
	if a.DType.Kind() == dtype.Complex {
		a = Conj(a)
	}
	return Transpose(a, []int64{0, 2, 1})
}

// part keeps the elements of matrices on the diagonals from one to another; the main one is 0, those above it are positive.
func part(a Tensor, from, to int64) Tensor {
	place := Subtract(Iota(dtype.I64, a.Shape, 2), Iota(dtype.I64, a.Shape, 1))
	bound := func(n int64) Tensor { return FromInts(dtype.I64, nil, n) }
	inside := And(Compare(place, bound(from), GE, false), Compare(place, bound(to), LE, false))
	return Select(inside, a, New(a.DType, a.Shape))
}

// diagonal returns square matrices with vectors on a diagonal.
func diagonal(v Tensor, offset int64) Tensor {
	n := v.Shape[1] + max(offset, -offset)
	row := min(0, offset) // of the first element, negated
	wide := Pad(v, FromFloats(v.DType, nil, 0), []int64{0, -row}, []int64{0, n - v.Shape[1] + row}, []int64{0, 0})
	return part(BroadcastInDim(wide, []int64{0, 1}, []int64{2, n, n}), offset, offset)
}

// hermitian returns Hermitian matrices, positive definite ones if asked.
func hermitian(a Tensor, definite bool) Tensor {
	if !definite {
		return Add(a, adjoint(a))
	}
	n := a.Shape[1]
	ones := FromFloats(a.DType, []int64{2, n}, slices.Repeat([]float64{1}, int(2*n))...)
	return Add(times(a, adjoint(a)), diagonal(ones, 0))
}

// A factor times its adjoint is the matrix, the other triangle stays, and what is not positive definite is found at its first minor.
func TestCholeskyLaws(t *testing.T) {
	eachBatch(t, true, func(l *laws, a Tensor) {
		h, n := hermitian(a, true), a.Shape[1]
		for _, lower := range []bool{true, false} {
			factor, info := Potrf(h, lower)
			f, rest := part(factor, -n, 0), part(factor, 1, n)
			product, kept := times(f, adjoint(f)), part(h, 1, n)
			if !lower {
				f, rest = part(factor, 0, n), part(factor, -n, -1)
				product, kept = times(adjoint(f), f), part(h, -n, -1)
			}
			l.same("the factor's square", product, h)
			if !slices.Equal(info.Ints(), []int64{0, 0}) || !rest.Equal(kept) {
				l.Errorf("info %v; the other triangle is %v, was %v", info, rest, kept)
			}
			if _, info := Potrf(Negate(h), lower); !slices.Equal(info.Ints(), []int64{1, 1}) {
				l.Errorf("the first minor of what is negative definite is positive: %v", info)
			}
		}
	})
}

// L times U is the matrix with the rows exchanged that the pivots name.
func TestLULaws(t *testing.T) {
	eachBatch(t, false, func(l *laws, a Tensor) {
		m, n := a.Shape[1], a.Shape[2]
		k := min(m, n)
		lu, pivots, info := Getrf(a)
		ones := FromFloats(a.DType, []int64{2, k}, slices.Repeat([]float64{1}, int(2*k))...)
		lower := Slice(part(lu, -m, -1), []int64{0, 0, 0}, []int64{2, m, k}, []int64{1, 1, 1})
		lower = Add(lower, Pad(diagonal(ones, 0), FromFloats(a.DType, nil, 0), []int64{0, 0, 0}, []int64{0, m - k, 0}, []int64{0, 0, 0}))
		upper := Slice(part(lu, 0, n), []int64{0, 0, 0}, []int64{2, k, n}, []int64{1, 1, 1})
		order := PivotsToPermutation(Subtract(pivots, FromInts(dtype.I32, nil, 1)), m)
		from := BroadcastInDim(order, []int64{0, 1}, []int64{2, m, m})
		exchange := Convert(Compare(from, Iota(dtype.I32, []int64{2, m, m}, 2), EQ, false), a.DType)
		l.same("L·U", times(lower, upper), times(exchange, a))
		if !slices.Equal(info.Ints(), []int64{0, 0}) {
			l.Errorf("info is %v", info)
		}
	})
}

// A tridiagonal system times its solution is the right side.
func TestTridiagonalSolutions(t *testing.T) {
	eachBatch(t, true, func(l *laws, a Tensor) {
		n := a.Shape[1]
		vector := func(n int64) Tensor { return random(l.r, l.dt, 1, false, 2, n) }
		main, above, below := Add(vector(n), FromFloats(l.dt, nil, 4)), vector(n-1), vector(n-1)
		unused := FromFloats(l.dt, []int64{2, 1}, 9, 9)
		x, info := Gtsv(Concatenate([]Tensor{unused, below}, 1), main, Concatenate([]Tensor{above, unused}, 1), a)
		system := Add(Add(diagonal(main, 0), diagonal(above, 1)), diagonal(below, -1))
		l.same("the system times the solution", times(system, x), a)
		if !slices.Equal(info.Ints(), []int64{0, 0}) {
			l.Errorf("info is %v", info)
		}
	})
}

// The reflectors below R make the orthonormal Q of Q·R = a, as a matrix and as a factor of others.
func TestQRLaws(t *testing.T) {
	eachBatch(t, false, func(l *laws, a Tensor) {
		m, n := a.Shape[1], a.Shape[2]
		if m < n {
			return
		}
		qr, taus := Geqrf(a)
		q := Orgqr(qr, taus)
		l.unitary("Q", q)
		r := Slice(part(qr, 0, n), []int64{0, 0, 0}, []int64{2, n, n}, []int64{1, 1, 1})
		l.same("Q·R", times(q, r), a)
		l.same("Qᴴ·a", Ormqr(qr, taus, a, true, true), part(qr, 0, n))
		l.same("Q·Qᴴ·a", Ormqr(qr, taus, part(qr, 0, n), true, false), a)
		l.same("aᴴ·Q", Ormqr(qr, taus, adjoint(a), false, false), adjoint(part(qr, 0, n)))
		l.same("aᴴ·Q·Qᴴ", Ormqr(qr, taus, adjoint(part(qr, 0, n)), false, true), adjoint(a))
	})
}

// With columns exchanged, Q·R is what was exchanged, the diagonal of R falls, and a fixed column stays in front.
func TestPivotedQRLaws(t *testing.T) {
	eachBatch(t, true, func(l *laws, a Tensor) {
		n := a.Shape[1]
		for _, front := range []bool{false, true} {
			fixed := New(dtype.I32, []int64{2, n})
			if front {
				Elems[int32](fixed)[n-1], Elems[int32](fixed)[2*n-1] = 1, 1
			}
			qr, pivots, taus := Geqp3(a, fixed)
			to := BroadcastInDim(Subtract(pivots, FromInts(dtype.I32, nil, 1)), []int64{0, 2}, a.Shape)
			exchange := Convert(Compare(Iota(dtype.I32, a.Shape, 1), to, EQ, false), a.DType)
			l.same("Q·R", times(Orgqr(qr, taus), part(qr, 0, n)), times(a, exchange))
			sizes := columnSums(Abs(part(qr, 0, 0)))
			for i := range sizes {
				if k := i % int(n); front && k == 0 && pivots.Ints()[i] != n || k > 0 && !(front && k == 1) && sizes[i] > sizes[i-1]*(1+1e-5) {
					l.Errorf("the diagonal of R is %v, pivots %v", sizes, pivots)
				}
			}
		}
	})
}

// columnSums returns the sums of the columns of matrices.
func columnSums(a Tensor) []float64 {
	ones := FromFloats(a.DType, []int64{2, 1, a.Shape[1]}, slices.Repeat([]float64{1}, int(2*a.Shape[1]))...)
	return times(ones, a).Floats()
}

// Reductions to a few diagonals keep what every basis shows alike: traces of powers.
func TestReductionLaws(t *testing.T) {
	eachBatch(t, true, func(l *laws, a Tensor) {
		n := a.Shape[1]
		h, _, info := Gehrd(a, 1, int(n))
		hessenberg := part(h, -1, n)
		l.same("the trace", trace(hessenberg), trace(a))
		l.same("the trace of the square", trace(times(hessenberg, hessenberg)), trace(times(a, a)))
		l.same("the norm", trace(times(hessenberg, adjoint(hessenberg))), trace(times(a, adjoint(a))))
		s := hermitian(a, false)
		for _, lower := range []bool{true, false} {
			_, d, e, _, failed := Sytrd(s, lower)
			three := Add(Add(diagonal(d, 0), diagonal(e, 1)), diagonal(e, -1))
			_, values, _ := Syevd(s, lower)
			_, same, _ := Syevd(three, lower)
			l.same("eigenvalues", OpDivide.Of(same, FromFloats(same.DType, nil, 8)), OpDivide.Of(values, FromFloats(same.DType, nil, 8)))
			if !slices.Equal(append(info.Ints(), failed.Ints()...), []int64{0, 0, 0, 0}) {
				l.Errorf("info is %v and %v", info, failed)
			}
		}
	})
}

func trace(a Tensor) Tensor {
	n := a.Shape[1]
	ones := FromFloats(a.DType, []int64{2, 1, n}, slices.Repeat([]float64{1}, int(2*n))...)
	return times(ones, part(a, 0, 0), adjoint(ones))
}

// Eigenvalues and vectors, singular ones and the Schur form make up the matrix again.
func TestSpectralLaws(t *testing.T) {
	eachBatch(t, true, func(l *laws, a Tensor) {
		s, n := hermitian(a, false), a.Shape[1]
		for _, lower := range []bool{true, false} {
			v, w, _ := Syevd(s, lower)
			l.unitary("V", v)
			l.same("V·w·Vᴴ", times(v, diagonal(Convert(w, a.DType), 0), adjoint(v)), s)
			for i, x := range w.Floats() {
				if i%int(n) > 0 && x < w.Floats()[i-1] {
					l.Errorf("eigenvalues %v do not ascend", w)
				}
			}
		}
		form, z, w, _ := Gees(a)
		l.unitary("Z", z)
		l.same("Z·T·Zᴴ", times(z, form, adjoint(z)), a)
		l.same("the sum of eigenvalues", Convert(trace(diagonal(w, 0)), dtype.C128), Convert(trace(a), dtype.C128))
		w, left, right, _ := Geev(a, true, true)
		full := Convert(a, w.DType)
		right, left = Convert(right, w.DType), Convert(left, w.DType)
		l.same("a·R", times(full, right), times(right, diagonal(w, 0)))
		l.same("Lᴴ·a", times(adjoint(left), full), times(diagonal(w, 0), adjoint(left)))
	})
}

// Singular values and vectors make up the matrix, thin or full; values fall to zero and vectors are orthonormal.
func TestSingularValueLaws(t *testing.T) {
	eachBatch(t, false, func(l *laws, a Tensor) {
		m, n := a.Shape[1], a.Shape[2]
		k := min(m, n)
		for _, want := range []SVDVectors{ThinVectors, AllVectors} {
			s, u, vt, _ := Gesdd(a, want)
			l.unitary("U", u)
			l.unitary("V", adjoint(vt))
			u = Slice(u, []int64{0, 0, 0}, []int64{2, m, k}, []int64{1, 1, 1})
			vt = Slice(vt, []int64{0, 0, 0}, []int64{2, k, n}, []int64{1, 1, 1})
			l.same("U·s·Vᴴ", times(u, diagonal(Convert(s, a.DType), 0), vt), a)
			for i, x := range s.Floats() {
				if x < 0 || i%int(k) > 0 && x > s.Floats()[i-1] {
					l.Errorf("singular values %v do not fall to zero", s)
				}
			}
		}
	})
}

// An updated factor is that of the updated matrix; a symmetric product is the product of a matrix with its own transpose.
func TestSymmetricLaws(t *testing.T) {
	eachBatch(t, true, func(l *laws, a Tensor) {
		if l.dt.Kind() == dtype.Complex {
			return
		}
		n := a.Shape[1]
		number := func(v float64) Tensor { return FromFloats(l.dt, nil, v) }
		want := Add(Multiply(number(2), times(a, adjoint(a))), Multiply(number(3), a))
		l.same("2·a·aᵀ + 3·a", SymmetricProduct(a, a, number(2), number(3), false), want)
		want = Add(Multiply(number(2), times(adjoint(a), a)), Multiply(number(3), a))
		l.same("2·aᵀ·a + 3·a", SymmetricProduct(a, a, number(2), number(3), true), want)

		one := func(x Tensor) Tensor { return BroadcastInDim(x, []int64{1, 2}, []int64{2, n, n}) }
		r := Reshape(Slice(part(a, 0, n), []int64{0, 0, 0}, []int64{1, n, n}, []int64{1, 1, 1}), []int64{n, n})
		w := random(l.r, l.dt, 1, false, n)
		f, _ := CholeskyUpdate(r, w)
		column := BroadcastInDim(w, []int64{1}, []int64{2, n, 1})
		want = Add(times(adjoint(one(r)), one(r)), times(column, adjoint(column)))
		l.same("FᵀF", times(adjoint(one(f)), one(f)), want)
		l.same("the factor below its diagonal", part(one(f), -n, -1), New(l.dt, []int64{2, n, n}))
	})
}

// What is not finite has no spectrum: info says so, and the results are no numbers.
func TestNothingFound(t *testing.T) {
	a := FromFloats(dtype.F64, []int64{1, 2, 2}, 1, math.NaN(), 2, 3)
	_, values, info := Syevd(a, false)
	_, _, schur, failed := Gees(a)
	s, _, _, none := Gesdd(a, AllVectors)
	w, _, _, nothing := Geev(a, false, false)
	for _, x := range []Tensor{values, Real(schur), s, Real(w)} {
		for _, v := range x.Floats() {
			if !math.IsNaN(v) {
				t.Errorf("found %v", x)
			}
		}
	}
	for _, x := range []Tensor{info, failed, none, nothing} {
		if x.Ints()[0] == 0 {
			t.Error("no info of a failure")
		}
	}
}
