package plan_test

import (
	"testing"

	"autoshard/answer"
	"autoshard/plan"
)

// What a bound is about follows from what a plan is: of how many microbatches, with values made again, on a mesh of several, with memory
// that rules out a baseline.
func TestScope(t *testing.T) {
	const gib = 1 << 30
	batch := []answer.Tensor{{Role: "batch"}}
	lacking := plan.Baseline{Name: "replicated"}
	lacking.Estimate.PeakBytes = 2 * gib
	fitting := plan.Baseline{Name: "replicated", Fits: true}
	again := []plan.Recomputed{{Op: "tanh"}}
	for _, c := range []struct {
		plan plan.Plan
		want string
	}{
		{plan.Plan{Inputs: batch, Baselines: []plan.Baseline{fitting}}, ""},
		{plan.Plan{Baselines: []plan.Baseline{fitting}, Meshes: make([]plan.TriedMesh, 2)}, "on this mesh"},
		{plan.Plan{Inputs: batch, Baselines: []plan.Baseline{lacking}}, "of the whole batch that computes nothing twice"},
		{plan.Plan{Baselines: []plan.Baseline{lacking}, Meshes: make([]plan.TriedMesh, 2)}, "on this mesh that computes nothing twice"},
		{plan.Plan{Inputs: batch, Baselines: []plan.Baseline{lacking}, Recomputed: again, Certificate: plan.Certificate{Gap: 0.1},
			Microbatches: 4}, "in 4 microbatches that saves no time by computing something twice"},
		{plan.Plan{Inputs: batch, Baselines: []plan.Baseline{lacking}, Recomputed: again, Certificate: plan.Certificate{Status: "feasible"}},
			"of the whole batch that computes nothing twice"},
		{plan.Plan{Inputs: batch, Baselines: []plan.Baseline{lacking}, Options: plan.Request{Without: []string{"recompute-activations"}}},
			"of the whole batch"},
	} {
		c.plan.Memory = gib
		if got := c.plan.Scope(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.plan, got, c.want)
		}
	}
}
