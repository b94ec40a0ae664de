package autoshard_test

import (
	"encoding/json"
	"testing"

	"autoshard"
	"autoshard/cost"
)

// A model and a plan of it have documents about the same values, of which one has steps and the other prices.
func TestReview(t *testing.T) {
	const text = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}`
	model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d, err := autoshard.ReviewPropagation(t.Context(), model, autoshard.PropagateOptions{Filter: autoshard.TraceFilter{Refusals: true}})
	if err != nil {
		t.Fatal(err)
	}
	if d.Plan != nil || d.Propagation == nil || len(d.Propagation.Kind) != 2 {
		t.Errorf("a propagation of two steps has the document %+v", d)
	}
	written, err := json.Marshal(d)
	if err != nil || !autoshard.IsReview(written) || autoshard.IsReview([]byte(text)) {
		t.Errorf("the document is not recognised, or the model is: %v", err)
	}
	p, err := autoshard.PlanAsAnnotated(t.Context(), model, autoshard.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	hw, err := cost.Lookup(p.Hardware)
	if err != nil {
		t.Fatal(err)
	}
	of, err := autoshard.ReviewPlan(t.Context(), p, hw)
	if err != nil {
		t.Fatal(err)
	}
	if of.Propagation != nil || of.Plan == nil || of.Plan.Estimate != p.Estimate || len(of.Values.Op) != len(d.Values.Op) {
		t.Errorf("the plan has the document %+v", of)
	}
}
