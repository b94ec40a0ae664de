package main

import (
	"os"
	"testing"

	"autoshard/benchmarks/experts"
)

// For a small model on eight devices and for Llama 3 8B on 64, the mesh that is chosen is, within a thousandth, as good as every mesh tried
// by hand.
func TestChosenMeshes(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models")
	}
	for _, q := range []request{{"mlp_train", "cpu", 8, 50_000}, requests[0]} {
		known, err := experts.Matching("^" + q.model + "$")
		if err != nil || len(known) != 1 {
			t.Fatal(q.model, len(known), err)
		}
		r, err := measure(t.Context(), &q, &known[0])
		if err != nil {
			t.Fatal(err)
		}
		if r.tried == 0 || r.chosen.Estimate.Seconds > r.fastest.Estimate.Seconds*1.001 {
			t.Error(r.line())
		}
	}
}
