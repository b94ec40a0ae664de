package ratios_test

import (
	"fmt"
	"math"
	"testing"

	"autoshard/benchmarks/ratios"
)

func ExampleRatios() {
	var times ratios.Ratios
	times.Add(2, "mlp_train")
	times.Add(0.5, "gpt_train")
	fmt.Println(times.Text(2))
	fmt.Println(times.Away(), times.Least(), times.Count(func(x float64) bool { return x > 1 }))
	// Output:
	// 1.00 over 2, at most 2.00 (mlp_train)
	// 2 0.5 1
}

// The mean of powers of two is the power that is the mean of their exponents.
func TestMean(t *testing.T) {
	var r ratios.Ratios
	for _, x := range []float64{0.25, 4, 8, 2} {
		r.Add(x, "here")
	}
	if got := r.Mean(); math.Abs(got-2) > 1e-12 {
		t.Errorf("mean %g", got)
	}
	if got := r.Away(); math.Abs(got-4) > 1e-12 {
		t.Errorf("away by %g", got)
	}
	if most, where := r.Most(); most != 8 || where != "here" || r.Len() != 4 {
		t.Errorf("%g at %q is the most of %d", most, where, r.Len())
	}
}

// Where nothing was measured nothing is said to be away.
func TestNone(t *testing.T) {
	var r ratios.Ratios
	if got := r.Text(3); got != "1.000 over 0, at most 0.00 ()" || r.Away() != 1 || r.Least() != 0 {
		t.Errorf("%s, away by %g", got, r.Away())
	}
}
