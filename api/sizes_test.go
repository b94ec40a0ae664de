package api

import (
	"strings"
	"testing"

	"connectrpc.com/connect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// A program of dynamic sizes is planned and propagated for those of the request; without them the answer asks for them.
func TestSizes(t *testing.T) {
	const text = `func.func @main(%arg0: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}`
	c := client(t, start(t, Options{}, nil))
	plan, err := c.Plan(t.Context(), &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: text}, Mesh: mesh("x", 4),
		Sizes: []string{"arg0[0]=64"}})
	if err != nil || plan.Plan.Inputs[0].Type != "f32[64,4]" {
		t.Errorf("%v, %v", plan, err)
	}
	found, err := c.Propagate(t.Context(), &autoshardv1.PropagateRequest{Source: &autoshardv1.PropagateRequest_Text{Text: text},
		Mesh:  mesh("x", 4),
		Sizes: []string{"arg0[0]=64"}})
	if err != nil || found.Inputs[0].Type != "f32[64,4]" {
		t.Errorf("%v, %v", found, err)
	}
	_, err = c.Plan(t.Context(), &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: text}, Mesh: mesh("x", 4)})
	if connect.CodeOf(err) != connect.CodeInvalidArgument || !strings.Contains(err.Error(), "arg0[0]") {
		t.Errorf("without sizes: %v", err)
	}
	_, err = c.Plan(t.Context(), &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: text}, Mesh: mesh("x", 4),
		Sizes: []string{"arg0[0]=64"}, Platform: "tpu"})
	if connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("a platform that does not exist: %v", err)
	}
}
