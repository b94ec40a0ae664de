package main

import (
	"math"
	"os"
	"testing"

	"autoshard/benchmarks/experts"
	"autoshard/cost"
)

// known are the plans in whose program a device sends more than in XLA's, with how many times as much. One that has been mended must be
// taken out.
var known = map[string]float64{}

// In the programs of the experts' plans of the small models no device sends more than in those that XLA makes of them.
func TestBytesBesideXLA(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models")
	}
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	models, err := experts.Shared()
	if err != nil {
		t.Fatal(err)
	}
	peer, err := readRecords()
	if err != nil {
		t.Fatal(err)
	}
	for i := range models {
		if m := &models[i]; m.Inputs != "" {
			t.Run(m.Name, func(t *testing.T) {
				t.Parallel()
				rows, err := compare(t.Context(), m, peer, hw)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range rows {
					check(t, &r)
				}
			})
		}
	}
}

// check compares the ratio of a row with the one that is known.
func check(t *testing.T, r *row) {
	t.Helper()
	const digits = 1e-3 // of the list, and of what a scalar more or less makes
	got, want := 0.0, known[r.model+" "+r.plan]
	if r.above() {
		got = r.ratio()
	}
	switch {
	case math.Abs(got-want) <= digits:
	case got == 0:
		t.Errorf("%s %s is mended: it does not belong into the list any more", r.model, r.plan)
	default:
		t.Errorf("%s %s: a device sends %.3f times what it sends in XLA's program, mostly in %s; the list says %.3f", r.model, r.plan, got,
			r.reason(), want)
	}
}
