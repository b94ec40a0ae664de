// Package minplus has the inner loops of the search: products of a vector and a matrix in which sums take the place of products, and the
// least takes the place of the sum.
//
//	minplus.Columns(out, []float64{0, 1}, []float32{5, 6, 3, 9}) // out = [4 6]: min(0+5, 1+3), min(0+6, 1+9)
//	minplus.Rows(out, []float64{0, 1}, []float32{5, 6, 3, 9})    // out = [5 3]: min(0+5, 1+6), min(0+3, 1+9)
//
// Every loop is written plainly, in Go, and for processors with AVX2 in assembly, which works on four numbers at a time. Both give the
// same bits: each sum is rounded once, and the least of numbers is the same in any order.
package minplus

import "math"

// block is how many numbers of 64 bits a vector has.
const block = 4

// Columns computes out[b] = min over a of h[a] + m[a][b], where a row of m is as long as out, +Inf without rows. No number is negative,
// -0 or NaN.
func Columns[T float32 | float64](out, h []float64, m []T) {
	k, done := len(out), 0
	if n := k / block; wide && n > 0 && len(h) > 0 {
		m = m[:len(h)*k]
		columns(out, h, m, n)
		done = n * block
	}
	if done < k {
		plainColumns(out, h, m, done)
	}
}

// plainColumns is Columns in Go, from a column on, four rows at a time. The bits of numbers that are not negative order as the numbers do:
// comparing them as integers compiles to conditional moves, which beat the branches and the NaN checks of comparing floating-point numbers.
func plainColumns[T float32 | float64](out, h []float64, m []T, from int) {
	k := len(out)
	out = out[from:]
	for b := range out {
		out[b] = math.Inf(1)
	}
	row := func(a int) []T { return m[a*k+from : (a+1)*k][:len(out)] }
	a := 0
	for ; a+4 <= len(h); a += 4 {
		h0, h1, h2, h3 := h[a], h[a+1], h[a+2], h[a+3]
		r0, r1, r2, r3 := row(a), row(a+1), row(a+2), row(a+3)
		for b, o := range out {
			v := min(bitsOf(float64(r0[b])+h0), bitsOf(float64(r1[b])+h1))
			w := min(bitsOf(float64(r2[b])+h2), bitsOf(float64(r3[b])+h3))
			out[b] = floatOf(min(bitsOf(o), v, w))
		}
	}
	for ; a < len(h); a++ {
		row, v := row(a), h[a]
		for b, o := range out {
			out[b] = floatOf(min(bitsOf(o), bitsOf(float64(row[b])+v)))
		}
	}
}

// Rows computes out[a] = min over b of h[b] + m[a][b], where a row of m is as long as h, +Inf where it is empty. Numbers are as those of
// Columns.
func Rows[T float32 | float64](out, h []float64, m []T) {
	k, done := len(h), 0
	if n := k / block; wide && n > 0 && len(out) > 0 {
		m = m[:len(out)*k]
		rows(out, h, m, n)
		if done = n * block; done == k {
			return
		}
	} else {
		for a := range out {
			out[a] = math.Inf(1)
		}
	}
	plainRows(out, h, m, done)
}

// plainRows is Rows in Go, of the columns from one on, where out has the least of those before it, four rows at a time.
func plainRows[T float32 | float64](out, h []float64, m []T, from int) {
	k := len(h)
	h = h[from:]
	row := func(a int) []T { return m[a*k+from : (a+1)*k][:len(h)] }
	a := 0
	for ; a+4 <= len(out); a += 4 {
		r0, r1, r2, r3 := row(a), row(a+1), row(a+2), row(a+3)
		o0, o1, o2, o3 := bitsOf(out[a]), bitsOf(out[a+1]), bitsOf(out[a+2]), bitsOf(out[a+3])
		for b, v := range h {
			o0, o1 = min(o0, bitsOf(float64(r0[b])+v)), min(o1, bitsOf(float64(r1[b])+v))
			o2, o3 = min(o2, bitsOf(float64(r2[b])+v)), min(o3, bitsOf(float64(r3[b])+v))
		}
		out[a], out[a+1], out[a+2], out[a+3] = floatOf(o0), floatOf(o1), floatOf(o2), floatOf(o3)
	}
	for ; a < len(out); a++ {
		o := bitsOf(out[a])
		for b, c := range row(a) {
			o = min(o, bitsOf(float64(c)+h[b]))
		}
		out[a] = floatOf(o)
	}
}

// Sums finds for every column of a matrix the first row c of least half[c] + rows[c][column] and that sum, where that is below the least
// that is there; best has the row then. A row is as long as least. Sums beyond 64 bits wrap round.
func Sums(least []int64, best []int32, half, rows []int64) {
	k, done := len(least), 0
	best = best[:k]
	if n := k / block; wide && n > 0 && len(half) > 0 {
		rows = rows[:len(half)*k]
		sumsAVX(&least[0], &best[0], &half[0], &rows[0], len(half), n, k*8)
		done = n * block
	}
	if done < k {
		plainSums(least, best, half, rows, done)
	}
}

// plainSums is Sums in Go, from a column on, four rows at a time.
func plainSums(least []int64, best []int32, half, rows []int64, from int) {
	k, c := len(least), 0
	least, best = least[from:], best[from:]
	row := func(c int) []int64 { return rows[c*k+from : (c+1)*k][:len(least)] }
	for ; c+4 <= len(half); c += 4 {
		h0, h1, h2, h3 := half[c], half[c+1], half[c+2], half[c+3]
		r0, r1, r2, r3 := row(c), row(c+1), row(c+2), row(c+3)
		for b, old := range least {
			s0, s1, s2, s3 := r0[b]+h0, r1[b]+h1, r2[b]+h2, r3[b]+h3
			s := min(s0, s1, s2, s3)
			if s >= old {
				continue
			}
			least[b] = s
			switch s {
			case s0:
				best[b] = int32(c)
			case s1:
				best[b] = int32(c + 1)
			case s2:
				best[b] = int32(c + 2)
			default:
				best[b] = int32(c + 3)
			}
		}
	}
	for ; c < len(half); c++ {
		for b, cost := range row(c) {
			if s := cost + half[c]; s < least[b] {
				least[b], best[b] = s, int32(c)
			}
		}
	}
}

// Through takes for every number the sum of another one and a step where that is less, and reports whether any was. Sums beyond 64 bits
// wrap round.
func Through(least, others []int64, step int64) (less bool) {
	k, done := len(least), 0
	others = others[:k]
	if n := k / block; wide && n > 0 {
		less = throughAVX(&least[0], &others[0], step, n)
		done = n * block
	}
	if done < k {
		less = plainThrough(least[done:], others[done:], step) || less
	}
	return less
}

// plainThrough is Through in Go.
func plainThrough(least, others []int64, step int64) (less bool) {
	others = others[:len(least)]
	for i, old := range least {
		if sum := others[i] + step; sum < old {
			least[i], less = sum, true
		}
	}
	return less
}

func floatOf(bits int64) float64 { return math.Float64frombits(uint64(bits)) }

func bitsOf(v float64) int64 { return int64(math.Float64bits(v)) }
