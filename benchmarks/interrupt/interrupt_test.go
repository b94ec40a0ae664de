package main

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if code, ok := asCommand(); ok {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// A few dozen interruptions of small models are answered rightly. The time to answer is generous, for busy machines: the command
// measures.
func TestInterruptions(t *testing.T) {
	r, err := run(t.Context(), options{trials: 48, seed: 7, only: -1, most: 5 * time.Second}, []job{
		{file: "../../examples/mlp_train.mlir", mesh: "data=4,model=2", steps: 30_000_000},
		{file: "../../examples/transformer_train.mlir", mesh: "data=4,model=2", steps: 10_000_000},
		{file: "../../examples/mlp_train.mlir", mesh: "a=2,b=2,c=2", steps: 30_000_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.failed(); err != nil {
		t.Error(err)
	}
	for _, k := range kinds {
		if r.row(&r.jobs[1], k) == "" {
			t.Errorf("no trial ends by %s", k)
		}
	}
}
