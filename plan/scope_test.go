package plan_test

import (
	"testing"

	"autoshard/answer"
	"autoshard/plan"
)

// What a bound is about follows from what a plan is: of how many microbatches, with values made again, on a mesh of several.
func TestScope(t *testing.T) {
	batch := []answer.Tensor{{Role: "batch"}}
	again := []plan.Recomputed{{Op: "tanh"}}
	for _, c := range []struct {
		plan plan.Plan
		want string
	}{
		{plan.Plan{}, "that computes nothing twice"},
		{plan.Plan{Inputs: batch}, "of the whole batch that computes nothing twice"},
		{plan.Plan{Meshes: make([]plan.TriedMesh, 2)}, "on this mesh that computes nothing twice"},
		{plan.Plan{Inputs: batch, Microbatches: 4, Certificate: plan.Certificate{Gap: 0.1}, Recomputed: again},
			"in 4 microbatches that saves no time by computing something twice"},
		{plan.Plan{Inputs: batch, Recomputed: again, Certificate: plan.Certificate{Status: "feasible"}},
			"of the whole batch that computes nothing twice"},
		{plan.Plan{Inputs: batch, Options: plan.Request{Without: []string{"recompute-activations"}}}, "of the whole batch"},
		{plan.Plan{Options: plan.Request{Without: []string{"recompute-activations"}}}, ""},
	} {
		if got := c.plan.Scope(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.plan, got, c.want)
		}
	}
}
