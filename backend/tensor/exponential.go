package tensor

import (
	"math"

	"autoshard/backend/tensor/vector"
	"autoshard/ir/dtype"
)

// small says whether elements are floats that f32 holds.
func small(x Tensor) bool { return x.DType.Kind() == dtype.Float && x.DType != dtype.F64 }

// ofExponentials computes a function of floats up to 32 bits, and rounds it once: last, of the element and e to the power of what first
// makes of it.
func ofExponentials(x Tensor, first func(v float32) float32, last func(v float32, e float64) float64) Tensor {
	out := newUnset(x.DType, x.Shape)
	n := out.Len()
	var values, powers [blockSize]float32
	var results [blockSize]float64
	for lo := 0; lo < n; lo += blockSize {
		size := min(blockSize, n-lo)
		part := values[:size]
		widen(part, x, lo)
		for i, v := range part {
			powers[i] = first(v)
		}
		vector.Exp(results[:size], powers[:size])
		for i, v := range part {
			results[i] = last(v, results[i])
		}
		narrow(out, lo, results[:size])
	}
	return out
}

// abs32 returns the magnitude.
func abs32(v float32) float32 { return math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) }

// tanhOf returns the hyperbolic tangent of v, of which e is e to the power of minus two times the magnitude: (1-e) / (1+e), or, near zero,
// where that loses digits, the first terms of its series. The relative error is below 2e-11.
func tanhOf(v float32, e float64) float64 {
	x := float64(v)
	if abs := math.Abs(x); abs < 0.02 {
		square := x * x
		return x * (1 - square*(1.0/3-square*(2.0/15)))
	}
	return math.Copysign((1-e)/(1+e), x)
}
