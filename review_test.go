package autoshard_test

import (
	"encoding/json"
	"errors"
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

// Node data are about a model as its file has it, whatever sizes were given to it, and of no other model.
func TestNodeData(t *testing.T) {
	const text = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<?x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<?x4xf32> {
  %0 = func.call @f(%arg0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
func.func private @f(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}`
	read := func(text string) *autoshard.Model {
		model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
	model := read(text)
	sized, err := model.WithSizes(t.Context(), []string{"arg0[0]=8"}, "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := autoshard.PropagationNodeData(t.Context(), sized, autoshard.PropagateOptions{}, autoshard.NodeMemory)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range [][2]string{{"main", "arg0"}, {"main", "0"}, {"f", "arg0"}, {"f", "0"}} {
		if got := d.Graphs[node[0]].Results[node[1]].Value; got != int64(4*4*4) {
			t.Errorf("node %s of @%s takes %v bytes of a device", node[1], node[0], got)
		}
	}
	p, err := autoshard.PlanAsAnnotated(t.Context(), sized, autoshard.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d, err = autoshard.PlanNodeData(t.Context(), model, p, cost.Hardware{}, autoshard.NodeSharding); err != nil {
		t.Fatal(err)
	}
	if got := d.Graphs["f"].Results["0"].Value; got != "P('x', None)" {
		t.Errorf("the plan has the node data %v", d.Graphs)
	}
	other := read(text + "\n")
	if _, err = autoshard.PlanNodeData(t.Context(), other, p, cost.Hardware{}, autoshard.NodeSharding); !errors.Is(err, autoshard.ErrInvalid) {
		t.Errorf("another model: %v", err)
	}
}
