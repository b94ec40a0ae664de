package verify

import (
	"math"
	"slices"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"

	"pgregory.net/rapid"
)

// number draws a number that f32 has, now and then one that is not finite.
var number = rapid.Custom(func(t *rapid.T) float64 {
	strange := []float64{math.NaN(), math.Inf(1), math.Inf(-1)}
	if i := rapid.IntRange(0, 20).Draw(t, "kind"); i < len(strange) {
		return strange[i]
	}
	return float64(rapid.IntRange(-8, 8).Draw(t, "eighths")) / 8
})

// apart is how far two numbers lie from each other: infinitely far where one of them alone is no number, or is infinite.
func apart(a, b float64) float64 {
	switch finite := func(v float64) bool { return math.Abs(v) <= math.MaxFloat64 }; {
	case a == b || math.IsNaN(a) && math.IsNaN(b):
		return 0
	case !finite(a) || !finite(b):
		return math.Inf(1)
	}
	return math.Abs(a - b)
}

// Over finds exactly the elements that lie further apart than they may, and shows one that is worst.
func TestOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "elements")
		got, want := rapid.SliceOfN(number, n, n).Draw(t, "got"), rapid.SliceOfN(number, n, n).Draw(t, "want")
		limits := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 0.1, 0.7}), n, n).Draw(t, "limits")
		shape := []int64{int64(n)}
		a, b := tensor.FromFloats(dtype.F32, shape, got...), tensor.FromFloats(dtype.F32, shape, want...)
		wrong, worst := 0, [2]float64{} // as a share of what is allowed, and where that is nothing, by how far it is off
		excess := func(k int) [2]float64 { return [2]float64{apart(got[k], want[k]) / limits[k], apart(got[k], want[k])} }
		for k := range n {
			if apart(got[k], want[k]) > limits[k] {
				wrong++
				worst = slices.MaxFunc([][2]float64{worst, excess(k)}, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
			}
		}
		fault := Over(&a, &b, func(_ float64, k int) float64 { return limits[k] })
		if fault == nil {
			if wrong > 0 {
				t.Fatalf("nothing found, want %d faults", wrong)
			}
			return
		}
		if k := fault.Index[0]; fault.Elements != wrong || excess(int(k)) != worst || fault.Allowed != limits[k] {
			t.Fatalf("found %+v, want %d faults, the worst %g times what is allowed, off by %g", fault, wrong, worst[0], worst[1])
		}
	})
}

// The relative error is the largest difference by the largest magnitude, whatever unit both are in; it is zero for equal tensors,
// and finite for any two.
func TestRelativeError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "elements")
		got, want := rapid.SliceOfN(number, n, n).Draw(t, "got"), rapid.SliceOfN(number, n, n).Draw(t, "want")
		scale := math.Ldexp(1, rapid.IntRange(-9, 9).Draw(t, "scale"))
		scaled := func(x []float64) *tensor.Tensor {
			x = slices.Clone(x)
			for k := range x {
				x[k] *= scale
			}
			out := tensor.FromFloats(dtype.F32, []int64{int64(n)}, x...)
			return &out
		}
		far, largest := 0.0, 0.0
		for k := range n {
			far = max(far, apart(got[k], want[k]))
			if v := math.Abs(want[k]); v <= math.MaxFloat64 {
				largest = max(largest, v)
			}
		}
		if e := Largest(scaled(want)); e != largest*scale {
			t.Fatalf("the largest of %v is %g, want %g", want, e, largest*scale)
		}
		e := RelativeError(scaled(got), scaled(want), 0)
		if far == 0 && e != 0 || far > 0 && largest > 0 && e != min(far/largest, math.MaxFloat64) || math.IsInf(e, 0) || math.IsNaN(e) {
			t.Fatalf("the error of %v against %v is %g, want %g of %g", got, want, e, far, largest)
		}
		if least := RelativeError(scaled(got), scaled(want), 2*largest*scale); e > 0 && e < math.MaxFloat64 && largest > 0 && least != e/2 {
			t.Fatalf("by twice the largest magnitude the error is %g, want half of %g", least, e)
		}
	})
	x, y := tensor.FromFloats(dtype.F32, []int64{2}, 1, 2), tensor.FromFloats(dtype.F32, []int64{3}, 1, 2, 3)
	if e := RelativeError(&x, &y, 0); e != math.MaxFloat64 {
		t.Errorf("the error of two elements against three is %g", e)
	}
}

// Summed is the inverse of rounding: noise of half a unit in the last place of a number tells that number.
func TestSummed(t *testing.T) {
	for of, noise := range map[dtype.Type]float64{dtype.F32: 0x1p-24, dtype.F64: 0x1p-53, dtype.BF16: 0x1p-8, dtype.C64: 0x1p-24} {
		if got := Summed(of, []float64{noise, 3 * noise, math.Inf(1)}); got != 3 {
			t.Errorf("noise of 3 units in %s is that of %g", of, got)
		}
	}
	if got := Summed(dtype.I32, []float64{1}); got != 0 {
		t.Errorf("integers are noisy like %g", got)
	}
}
