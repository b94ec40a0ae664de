package minplus

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// numbers returns random numbers that are not negative, among them zeros, infinities and equal ones.
func numbers[T float32 | float64](r *rand.Rand, n int) []T {
	out := make([]T, n)
	for i := range out {
		switch r.IntN(8) {
		case 0:
		case 1:
			out[i] = T(math.Inf(1))
		case 2:
			out[i] = T(r.IntN(4))
		default:
			out[i] = T(r.ExpFloat64())
		}
	}
	return out
}

// shapes calls test with matrices of all small shapes.
func shapes(test func(rows, columns int)) {
	for rows := range 14 {
		for columns := range 40 {
			test(rows, columns)
		}
	}
}

// checkProducts compares both products with plain ones.
func checkProducts[T float32 | float64](t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	shapes(func(rows, columns int) {
		m := numbers[T](r, rows*columns)
		got, want := make([]float64, columns), make([]float64, columns)
		h := numbers[float64](r, rows)
		Columns(got, h, m)
		plainColumns(want, h, m, 0)
		if !slices.Equal(got, want) {
			t.Fatalf("columns of %d x %d: got %v, want %v of %v and %v", rows, columns, got, want, h, m)
		}
		got, want = make([]float64, rows), slices.Repeat([]float64{math.Inf(1)}, rows)
		h = numbers[float64](r, columns)
		Rows(got, h, m)
		plainRows(want, h, m, 0)
		if !slices.Equal(got, want) {
			t.Fatalf("rows of %d x %d: got %v, want %v of %v and %v", rows, columns, got, want, h, m)
		}
	})
}

// The vectors of the processor give what the plain loops give, for all shapes.
func TestProductsArePlain(t *testing.T) {
	checkProducts[float32](t)
	checkProducts[float64](t)
}

// So do they for sums of integers, with the first of equal rows, what is there before, and what is infinite (search.Inf).
func TestSumsArePlain(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	costs := func(n int) []int64 {
		out := make([]int64, n)
		for i := range out {
			if out[i] = r.Int64N(6); r.IntN(5) == 0 {
				out[i] = math.MaxInt64 / 4
			}
		}
		return out
	}
	shapes(func(rows, columns int) {
		half, m, least := costs(rows), costs(rows*columns), costs(columns)
		best := make([]int32, columns)
		for i := range best {
			best[i] = -int32(r.IntN(9))
		}
		otherLeast, otherBest := slices.Clone(least), slices.Clone(best)
		Sums(least, best, half, m)
		plainSums(otherLeast, otherBest, half, m, 0)
		if !slices.Equal(least, otherLeast) || !slices.Equal(best, otherBest) {
			t.Fatalf("%d x %d: got %v by %v, want %v by %v of %v and %v", rows, columns, least, best, otherLeast, otherBest, half, m)
		}
	})
}

// So do they for ways through others, and where nothing is less.
func TestThroughIsPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for n := range 70 {
		for _, step := range []int64{0, 1, 5} {
			least, others := make([]int64, n), make([]int64, n)
			for i := range least {
				least[i], others[i] = r.Int64N(20), 20+r.Int64N(20)*int64(n%2)
			}
			if n > 0 {
				least[r.IntN(n)] = math.MaxInt64 / 2
			}
			want := slices.Clone(least)
			less := plainThrough(want, others, step)
			if got := Through(least, others, step); got != less || !slices.Equal(least, want) {
				t.Fatalf("%d numbers: got %v (%v), want %v (%v)", n, least, got, want, less)
			}
		}
	}
}

// What vectors save, per matrix of 96 x 96.
func BenchmarkProducts(b *testing.B) {
	const n = 96
	r := rand.New(rand.NewPCG(7, 8))
	out, h, m := make([]float64, n), numbers[float64](r, n), numbers[float32](r, n*n)
	least, best, half, rows := make([]int64, n), make([]int32, n), make([]int64, n), make([]int64, n*n)
	for name, work := range map[string]func(){
		"columns":       func() { Columns(out, h, m) },
		"columns/plain": func() { plainColumns(out, h, m, 0) },
		"rows":          func() { Rows(out, h, m) },
		"rows/plain":    func() { plainRows(out, h, m, 0) },
		"sums":          func() { Sums(least, best, half, rows) },
		"sums/plain":    func() { plainSums(least, best, half, rows, 0) },
		"through":       func() { Through(least, half, 1) },
		"through/plain": func() { plainThrough(least, half, 1) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				work()
			}
		})
	}
}
