package autoshard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"autoshard"
	"autoshard/cost"
)

// A plan is held to limits at lines of its model; what a baseline knows is not new, also when it was written to a file and read.
func TestLimits(t *testing.T) {
	const text = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %arg1: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("w")) -> tensor<16x32xf32> {
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}`
	model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	p, err := autoshard.MakePlan(t.Context(), model, autoshard.PlanOptions{Hardware: hw})
	if err != nil {
		t.Fatal(err)
	}
	limit, err := autoshard.ParseLimit("no-replicate > 1kB")
	if err != nil {
		t.Fatal(err)
	}
	found := autoshard.CheckLimits(p, model, []autoshard.Limit{limit})
	if len(found) != 1 || found[0].Pos.Line != 2 || found[0].Pos.File != "m.mlir" || !strings.Contains(found[0].Message, "input w") {
		t.Fatalf("found %+v", found)
	}
	if rules := autoshard.LimitRules(); rules[1].ID != found[0].Code {
		t.Errorf("rules %+v", rules)
	}
	written, err := json.Marshal(autoshard.NewKnown(found))
	if err != nil {
		t.Fatal(err)
	}
	known, err := autoshard.ReadKnown("known.json", written)
	if err != nil || len(known.New(found)) != 0 || len(known.New(append(found, found...))) != 1 {
		t.Errorf("%v: %+v", err, known)
	}
}
