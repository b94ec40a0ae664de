package vector

import "math"

// The logarithm of 2 in two parts, of which the first has zeros behind it, so that products with small integers are exact.
const (
	ln2High = 0.6931471803691238
	ln2Low  = 1.9082149292705877e-10
)

// Exp fills dst with e to the power x, with a relative error below 4e-13: far less than what rounding to float32 allows. What is beyond
// 200 counts as that: the result, and one by it, is too large or too small for a float32 in any case.
func Exp(dst []float64, x []float32) {
	x = x[:len(dst)]
	done := 0
	if n := len(dst) / lanes; wide && n > 0 {
		expAVX(&dst[0], &x[0], n)
		done = n * lanes
	}
	expPlain(dst[done:], x[done:])
}

// expPlain is Exp in Go: x is n·ln 2 + r, with |r| at most half of ln 2, and e^r is a polynomial, the first terms of its series.
func expPlain(dst []float64, x []float32) {
	for i, v := range x {
		r := float64(v)
		if r > 200 {
			r = 200
		} else if r < -200 {
			r = -200
		}
		n := math.RoundToEven(r * math.Log2E)
		r = r - float64(n*ln2High)
		r = r - float64(n*ln2Low)
		p := 1.0 / 3628800
		for _, c := range series {
			p = float64(p*r) + c
		}
		dst[i] = p * math.Float64frombits(uint64(int64(n)+1023)<<52)
	}
}

// series are the coefficients of e^r from r^9 down.
var series = [...]float64{1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1}
