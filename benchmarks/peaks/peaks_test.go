package main

import (
	"math"
	"os"
	"testing"

	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/ratios"
	"autoshard/cost"
)

// Of programs in loops, of which most of the memory is what loops carry and stack up, the peak is said within a twentieth of what the
// virtual devices hold.
func TestPeaksOfLoops(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models")
	}
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	models, err := experts.Matching("lstm_train|transformer_train_scan")
	if err != nil {
		t.Fatal(err)
	}
	for i := range models {
		for p := range models[i].Plans {
			r, _, err := measure(t.Context(), &models[i], &models[i].Plans[p], hw)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(ratio(r.said, r.held)-1) > 0.05 {
				t.Errorf("%s, %s: %d bytes are said, %d held", r.model, r.plan, r.said, r.held)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	var of ratios.Ratios
	for _, x := range []float64{0.5, 1, 2} {
		of.Add(x, "")
	}
	const want = "geometric mean 1.000, 58.7 % away from one in geometric mean, 0.500 to 2.000; 1 of 3 within 5 %, 1 more than 2 % below one"
	if got := spread(&of); got != want {
		t.Errorf("%s, not %s", got, want)
	}
}
