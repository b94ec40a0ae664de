package autoshard_test

import (
	"os"
	"strings"
	"testing"

	"autoshard"
	"autoshard/cost"
)

// A plan that is read back is the same plan, and works out as it says; one of another model is not.
func TestPlanFiles(t *testing.T) {
	plan := makePlan(t, readModel(t, "examples/mlp_train.mlir"), options(t))
	back, err := autoshard.ReadPlan(t.Context(), "plan.json", plan.JSON())
	if err != nil {
		t.Fatal(err)
	}
	if d := autoshard.DiffPlans(plan, back); !d.Same {
		t.Errorf("the plan that is read back differs: %+v", d)
	}
	hw, err := cost.Lookup(back.Hardware)
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile("examples/mlp_train.mlir")
	if err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]bool{autoshard.HashText(src): true, autoshard.HashText(nil): false} {
		audit, err := back.Check(t.Context(), autoshard.PlanEvidence{Hardware: &hw, Model: model})
		if err != nil || audit.Passed != want {
			t.Errorf("of the model %s: %+v, %v", model, audit, err)
		}
	}
	other := makePlan(t, readModel(t, "examples/mlp.json"), options(t))
	if d := autoshard.DiffPlans(plan, other); d.Same || len(d.Values) == 0 {
		t.Errorf("the plan of another model is the same: %+v", d)
	}
}

// Texts of pins and of what is forbidden become options, which the plan keeps and says.
func TestSteering(t *testing.T) {
	pin, err := autoshard.ParsePin("arg1=P(None, 'model')")
	if err != nil {
		t.Fatal(err)
	}
	forbid, err := autoshard.ParseForbid("arg3: model")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t)
	o.Pins, o.Forbidden = []autoshard.Pin{pin}, []autoshard.Forbid{forbid}
	plan := makePlan(t, readModel(t, "examples/mlp_train.mlir"), o)
	if plan.Inputs[1].Spec != "P(None, 'model')" || strings.Contains(plan.Inputs[3].Spec, "model") {
		t.Errorf("arg1 is %s, arg3 %s", plan.Inputs[1].Spec, plan.Inputs[3].Spec)
	}
	if d := plan.Options; d.Pins[0] != pin || d.Forbidden[0].Value != "arg3" {
		t.Errorf("the plan was asked for %+v", d)
	}
}
