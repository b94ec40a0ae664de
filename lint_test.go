package autoshard_test

import (
	"errors"
	"strings"
	"testing"

	"autoshard"
	"autoshard/internal/diag"
	"autoshard/subaxis"
)

const customModel = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
  %0 = stablehlo.custom_call @f(%a) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
`

// A rule changes the model that it makes, not the one that it is applied to.
func TestWithRules(t *testing.T) {
	model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(customModel))
	if err != nil {
		t.Fatal(err)
	}
	ruled, err := model.WithRules([]string{"f: (i j) -> (i j)"})
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[*autoshard.Model]string{model: "P(None, None)", ruled: "P('x', None)"} {
		p, err := autoshard.Propagate(t.Context(), m, autoshard.PropagateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Outputs[0].Spec; got != want && (want != "P(None, None)" || got != "") {
			t.Errorf("output has %q, want %q", got, want)
		}
	}
	if _, err := model.WithRules([]string{"g: (i) -> (i)"}); !errors.Is(err, diag.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

// Lint applies the rules that are not switched off, refuses a mesh that the model contradicts, and describes every rule.
func TestLint(t *testing.T) {
	model, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(customModel))
	if err != nil {
		t.Fatal(err)
	}
	found, err := model.Lint(t.Context(), autoshard.LintOptions{Disabled: []string{"unsupported-op"}})
	if err != nil || len(found) != 1 || found[0].Code != "custom-op-without-rule" || found[0].Pos.Line != 3 {
		t.Errorf("%+v, %v", found, err)
	}
	_, err = model.Lint(t.Context(), autoshard.LintOptions{Mesh: []subaxis.Axis{{Name: "x", Size: 2}}})
	if err == nil || !strings.Contains(err.Error(), "the model declares the mesh x=4") {
		t.Errorf("another mesh: %v", err)
	}
	for _, r := range autoshard.LintRules() {
		if r.ID == "" || r.Name == "" || r.Text == "" {
			t.Errorf("rule %+v is not described", r)
		}
	}
}
