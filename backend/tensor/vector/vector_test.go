package vector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// numbers returns random numbers, among them zeros of both signs, infinities and NaN.
func numbers(r *rand.Rand, n int) []float32 {
	inf := float32(math.Inf(1))
	special := []float32{0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), math.MaxFloat32, 1e-42}
	out := make([]float32, n)
	for i := range out {
		if out[i] = float32(r.NormFloat64()); r.IntN(4) == 0 {
			out[i] = special[r.IntN(len(special))]
		}
	}
	return out
}

// same says whether two numbers have the same bits, or are both NaN.
func same(a, b float32) bool {
	return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
}

// The vectors of the processor give the bits of the plain loops, for all lengths, operands that are one number, and special numbers.
func TestFloat32IsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		for op := Add; op <= Minimum; op++ {
			for _, length := range [][2]int{{n, n}, {1, n}, {n, 1}} {
				x, y := numbers(r, length[0]), numbers(r, length[1])
				if n == 0 {
					x, y = nil, nil
				}
				got, want := make([]float32, n), make([]float32, n)
				op.Float32(got, x, y)
				op.plain(want, x, y)
				for i := range got {
					if !same(got[i], want[i]) {
						t.Fatalf("op %d, length %v: element %d is %v, want %v of %v and %v", op, length, i, got[i], want[i], x, y)
					}
				}
			}
		}
	}
}

// Integers and choices are those of the plain loops, for all lengths and operands that are one number.
func TestInt32IsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) []uint32 {
		out := make([]uint32, n)
		for i := range out {
			out[i] = r.Uint32() >> (r.IntN(2) * r.IntN(32))
		}
		return out
	}
	for n := 1; n < 70; n++ {
		for _, length := range [][2]int{{n, n}, {1, n}, {n, 1}} {
			x, y, which := draw(length[0]), draw(length[1]), make([]byte, n)
			got, want := make([]uint32, n), make([]uint32, n)
			for op := IntAdd; op <= ShiftRightArithmetic; op++ {
				op.Int32(got, x, y)
				op.plain(want, x, y)
				if !slices.Equal(got, want) {
					t.Fatalf("op %d of %v and %v is %v, want %v", op, x, y, got, want)
				}
			}
			for i := range which {
				which[i] = byte(r.IntN(2))
				if want[i] = y[min(i, length[1]-1)]; which[i] == 1 {
					want[i] = x[min(i, length[0]-1)]
				}
			}
			if Choose(got, which, x, y); !slices.Equal(got, want) {
				t.Fatalf("of %v and %v, %v are %v, want %v", x, y, which, got, want)
			}
		}
	}
}

// Numbers are rounded as conversions do.
func TestNarrow(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		x, got := make([]float64, n), make([]float32, n)
		for i := range x {
			x[i] = math.Ldexp(r.NormFloat64(), r.IntN(400)-200)
		}
		Narrow(got, x)
		for i := range x {
			if got[i] != float32(x[i]) {
				t.Fatalf("%v became %v", x[i], got[i])
			}
		}
	}
}

// The largest and the smallest elements are found as by plain loops.
func TestFold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 70; n++ {
		for _, op := range []Op{Maximum, Minimum} {
			x := numbers(r, n)
			if got, want := op.Fold(x), op.foldPlain(x[0], x[1:]); !same(got, want) {
				t.Fatalf("op %d of %v is %v, want %v", op, x, got, want)
			}
		}
	}
}

// Exponentials have the bits of the plain loop, and the error that is documented, over all magnitudes.
func TestExp(t *testing.T) {
	inf := float32(math.Inf(1))
	x := []float32{0, -0.5, float32(math.NaN()), inf, -inf, 88.72284, 88.7229, -103.9721, -103.973, 1e30, -1e30}
	r := rand.New(rand.NewPCG(1, 2))
	for len(x) < 100_005 {
		x = append(x, float32((r.Float64()*200-105)*math.Exp2(-30*r.Float64()*r.Float64())))
	}
	got, want := make([]float64, len(x)), make([]float64, len(x))
	Exp(got, x)
	expPlain(want, x)
	for i, v := range x {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) && got[i] == got[i] {
			t.Fatalf("the exponential of %v is %v, want %v", v, got[i], want[i])
		}
		exact := math.Exp(float64(v))
		switch {
		case exact != exact, v < -200, v > 200:
			if rounded := float32(exact); !same(float32(got[i]), rounded) {
				t.Fatalf("the exponential of %v is %v, want %v", v, float32(got[i]), rounded)
			}
		case math.Abs(got[i]/exact-1) > 4e-13:
			t.Fatalf("the exponential of %v is %v, off by %g", v, got[i], got[i]/exact-1)
		}
	}
}

// Sums are those of plain loops in the order that is documented.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		x, sums := numbers(r, n), make([]float64, n)
		for i := range x {
			if x[i]-x[i] != 0 {
				x[i] = 1e30
			}
			sums[i] = r.NormFloat64()
		}
		var s [8]float64
		for i, v := range x {
			if i < n/8*8 {
				s[i%8] += float64(v)
			}
		}
		for i := n / 8 * 8; i < n; i++ {
			s[i%8] += float64(x[i])
		}
		if got, want := Sum(x), ((s[0]+s[4])+(s[2]+s[6]))+((s[1]+s[5])+(s[3]+s[7])); got != want {
			t.Fatalf("the sum of %v is %v, want %v", x, got, want)
		}
		before := append([]float64(nil), sums...)
		AddTo(sums, x)
		for i := range sums {
			if sums[i] != before[i]+float64(x[i]) {
				t.Fatalf("%v and %v are %v", before[i], x[i], sums[i])
			}
		}
	}
}

// Products of matrices have the bits of the plain loops, for all layouts and sizes around those of tiles.
func TestMatmulIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		m, k, n := r.IntN(30), r.IntN(20), r.IntN(40)
		testMatmul(t, r, m, k, n, func() float32 { return numbers(r, 1)[0] })
		testMatmul(t, r, m, k, n, r.NormFloat64)
		testMatmul(t, r, m, k, n, func() int32 { return int32(r.Uint32()) })
	}
	testMatmul(t, r, 100, 70, 300, r.NormFloat64)
}

func testMatmul[T number](t *testing.T, r *rand.Rand, m, k, n int, draw func() T) {
	matrix := func(rows, cols int) Matrix[T] {
		x := Matrix[T]{Data: make([]T, rows*cols), Row: cols, Column: 1}
		if r.IntN(2) == 0 {
			x.Row, x.Column = 1, rows
		}
		for i := range x.Data {
			x.Data[i] = draw()
		}
		return x
	}
	a, b := matrix(m, k), matrix(k, n)
	got, want := make([]T, m*n), make([]T, m*n)
	Matmul(got, a, b, m, k, n)
	plainMatmul(want, a, b, m, k, n)
	for i := range got {
		if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%d x %d x %d, element %d is %v, want %v", m, k, n, i, got[i], want[i])
		}
	}
}

func BenchmarkMatmul(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{32, 128, 512} {
		x := Matrix[float32]{Data: make([]float32, n*n), Row: n, Column: 1}
		for i := range x.Data {
			x.Data[i] = float32(r.NormFloat64())
		}
		c := make([]float32, n*n)
		for _, layout := range []string{"nn", "nt", "tn"} {
			p, q := x, x
			if layout[0] == 't' {
				p.Row, p.Column = 1, n
			}
			if layout[1] == 't' {
				q.Row, q.Column = 1, n
			}
			b.Run(fmt.Sprint(layout, n), func(b *testing.B) {
				for b.Loop() {
					Matmul(c, p, q, n, n, n)
				}
				b.ReportMetric(2*float64(n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

func BenchmarkExp(b *testing.B) {
	x, y := make([]float32, 4096), make([]float64, 4096)
	for b.Loop() {
		Exp(y, x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/element")
}

func BenchmarkFloat32(b *testing.B) {
	x, y := make([]float32, 4096), make([]float32, 4096)
	for name, op := range map[string]Op{"add": Add, "maximum": Maximum, "divide": Divide} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				op.Float32(x, x, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/element")
		})
	}
}
