package plan_test

import (
	"testing"

	"autoshard/answer"
	"autoshard/ir/mlir"
	"autoshard/plan"
	"autoshard/subaxis"
)

// A plan as annotated is the baseline of that name: the user's sharding and what follows from it, at the same price, with no bound. It is
// made whatever memory it takes. What cannot be kept of the user's shardings is said.
func TestAsAnnotated(t *testing.T) {
	const text = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<64x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x6xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x6xf32>) -> tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}`
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "m.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	source := &answer.Source{Name: "product", Module: m}
	p, err := plan.AsAnnotated(t.Context(), source, plan.Options{Memory: 16})
	if err != nil {
		t.Fatal(err)
	}
	searched, err := plan.Make(t.Context(), source, plan.Options{Mesh: []subaxis.Axis{{Name: "x", Size: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	if b := searched.Baselines[2]; b.Name != "annotations only" || b.Estimate != p.Estimate {
		t.Errorf("as annotated the step costs %+v, the baseline %+v", p.Estimate, b)
	}
	if p.Outputs[0].Spec != "P('x', None)" || p.Certificate.Bound != 0 || p.Certificate.Status != "feasible" {
		t.Errorf("the output is %s, the certificate %+v", p.Outputs[0].Spec, p.Certificate)
	}
	if len(p.Findings) != 1 || p.Findings[0].Code != "uneven-sharding" {
		t.Errorf("findings: %+v", p.Findings)
	}
}
