package main

import (
	"os"
	"strings"
	"testing"

	"autoshard/benchmarks/experts"
)

// A small model is timed here, with its plans, and on XLA and the evaluator; the report has a row for each.
func TestMeasure(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" || os.Getenv("AUTOSHARD_PYTHON") == "" {
		t.Skip("AUTOSHARD_SHARED and AUTOSHARD_PYTHON name the folder with the models and a Python with jax")
	}
	models, err := experts.Matching("mlp_fwd")
	if err != nil {
		t.Fatal(err)
	}
	m := &models[0]
	r := row{model: m.Name}
	if r.here, err = measureHere(t.Context(), m, options{rounds: 1, plans: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.askPeers(t.Context(), m, options{rounds: 1, evaluator: true}); err != nil {
		t.Fatal(err)
	}
	if r.here.Step.Seconds <= 0 || r.xla.Seconds <= 0 || r.evaluator.Seconds <= r.here.Step.Seconds || len(r.here.Plans) == 0 {
		t.Errorf("measured %+v", r)
	}
	for _, p := range r.here.Plans {
		if p.Work < 0.99 || p.Step.Seconds <= 0 {
			t.Errorf("plan %+v", p)
		}
	}
	text := report([]row{r}, options{rounds: 1})
	if !strings.Contains(text, "\n| mlp_fwd | ") || !strings.Contains(text, "by unsharded") {
		t.Error(text)
	}
}
