package tensor

import (
	"math"
	"sync"

	"autoshard/backend/tensor/vector"
	"autoshard/ir/dtype"
)

// small says whether elements are floats that f32 holds.
func small(x Tensor) bool { return x.DType.Kind() == dtype.Float && x.DType != dtype.F64 }

// ofExponentials computes a function of floats up to 32 bits, and rounds it once: last makes it of the elements and e to the power of what
// first makes of them, a block at a time. What is in powers and in results at first are the elements and the exponentials.
func ofExponentials(x Tensor, first func(powers, values []float32), last func(results []float64, values []float32)) Tensor {
	out := newUnset(x.DType, x.Shape)
	n := out.Len()
	s := exponentialScratches.Get().(*exponentialScratch)
	defer exponentialScratches.Put(s)
	for lo := 0; lo < n; lo += blockSize {
		size := min(blockSize, n-lo)
		values, powers, results := s.values[:size], s.powers[:size], s.results[:size]
		widen(values, x, lo)
		copy(powers, values)
		first(powers, values)
		vector.Exp(results, powers)
		last(results, values)
		if x.DType == dtype.F32 {
			vector.Narrow(Elems[float32](out)[lo:lo+size], results)
			continue
		}
		narrow(out, lo, results)
	}
	return out
}

// exponentialScratch is what a block needs.
type exponentialScratch struct {
	values, powers [blockSize]float32
	results        [blockSize]float64
}

var exponentialScratches = sync.Pool{New: func() any { return new(exponentialScratch) }}

func negated(powers, values []float32) { vector.Multiply.Float32(powers, values, []float32{-1}) }

// logisticOf returns 1 / (1 + e), of e to the power of the negated elements.
func logisticOf(results []float64, _ []float32) {
	for i, e := range results {
		results[i] = 1 / (1 + e)
	}
}

// twiceNegated returns minus two times the magnitudes.
func twiceNegated(powers, values []float32) {
	for i, v := range values {
		powers[i] = -2 * math.Float32frombits(math.Float32bits(v)&^(1<<31))
	}
}

// tanhOf returns the hyperbolic tangents of elements, of e to the power of minus two times their magnitudes: (1-e) / (1+e), or, near zero,
// where that loses digits, the first terms of the series. The relative error is below 2e-11.
func tanhOf(results []float64, values []float32) {
	for i, e := range results {
		x := float64(values[i])
		if abs := math.Abs(x); abs < 0.02 {
			square := x * x // conversions keep products from being fused with differences
			results[i] = x * (1 - float64(square*(1.0/3-float64(square*(2.0/15)))))
			continue
		}
		results[i] = math.Copysign((1-e)/(1+e), x)
	}
}
