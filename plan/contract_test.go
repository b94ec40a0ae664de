package plan_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/ir/mlir"
	"autoshard/plan"
	"autoshard/subaxis"
)

// recordedPlan plans two products with a constraint between them, on a mesh of which a dimension of four takes a part alone.
func recordedPlan(t *testing.T) *plan.Plan {
	t.Helper()
	src := []byte(`sdy.mesh @mesh = <["x"=8, "y"=4]>
func.func @main(%x: tensor<64x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x":(1)4}]>, tf.aliasing_output = 0 : i32},
    %w: tensor<4x4xf32>) -> tensor<64x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<64x4xf32> loc("model.py":7:1)
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<64x4xf32>, tensor<4x4xf32>) -> tensor<64x4xf32>
  return %2 : tensor<64x4xf32>
}`)
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: "products.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	source := &answer.Source{Name: "products", Given: answer.Given{File: "products.mlir"}, Hash: answer.Hash(src), Module: m}
	p, err := plan.Make(t.Context(), source, plan.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A plan holds what JAX needs to apply it: the mesh on which no spec names a part of an axis, constraints with their lines, donation.
func TestRecord(t *testing.T) {
	p := recordedPlan(t)
	if want := []subaxis.Axis{{Name: "x_0", Size: 4}, {Name: "x_1", Size: 2}, {Name: "y", Size: 4}}; !slices.Equal(p.RefinedMesh, want) {
		t.Errorf("the refined mesh is %v, want %v", p.RefinedMesh, want)
	}
	if x := p.Inputs[0]; x.Spec != "P('y', 'x':(1)4)" || x.RefinedSpec != "P('y', 'x_0')" || !x.Donated || p.Inputs[1].Donated {
		t.Errorf("the first input is %+v", x)
	}
	want := plan.Constraint{Type: "f32[64,4]", Sharding: `<@mesh, [{"x"}, {}]>`, Spec: "P('x', None)", RefinedSpec: "P(('x_0', 'x_1'))",
		Source: "model.py:7"}
	if len(p.Constraints) != 1 || p.Constraints[0] != want {
		t.Errorf("constraints are %+v, want %+v", p.Constraints, want)
	}
	if p.Options.Seed != 3 || p.Options.Model.File != "products.mlir" {
		t.Errorf("options are %+v", p.Options)
	}
	if l := p.Timeline; l.Seconds <= 0 || l.Seconds > p.Estimate.Seconds || len(l.Busy) == 0 {
		t.Errorf("the timeline is %+v, one op after the other takes %g", l, p.Estimate.Seconds)
	}
}

// Fields of later versions are left out and named; another number of the format is refused, whatever else is in the file.
func TestVersions(t *testing.T) {
	src := recordedPlan(t).JSON()
	later := bytes.Replace(src, []byte(`"estimate": {`), []byte(`"joules": 3, "estimate": {"joules": [1, {"x": 2}],`), 1)
	p, err := plan.Read(t.Context(), "plan.json", later)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"joules", "estimate.joules"}; !slices.Equal(p.Unknown, want) {
		t.Errorf("unknown fields are %q, want %q", p.Unknown, want)
	}
	if p.Unknown = nil; !bytes.Equal(p.JSON(), src) {
		t.Error("the rest of the plan is another one")
	}
	next := bytes.Replace(src, []byte(plan.Schema), []byte("autoshard.plan/v2"), 1)
	next = bytes.Replace(next, []byte(`"memoryLimit": `), []byte(`"memoryLimit": "much", "was": `), 1)
	_, err = plan.Read(t.Context(), "plan.json", next)
	want := "plan.json:2:13: the plan is of format autoshard.plan/v2, and this version reads autoshard.plan/v1"
	if !errors.Is(err, diag.ErrInvalid) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A hash does not depend on fields that are there and empty, as those that a later version has added, and depends on every value.
func TestHashesOfLaterVersions(t *testing.T) {
	type now struct {
		A int      `json:"a"`
		L []string `json:"l"`
	}
	type later struct {
		Z map[string]int `json:"z"`
		L []string       `json:"l"`
		A int            `json:"a"`
		B *now           `json:"b"`
	}
	if a, b := plan.HashOf(now{1, []string{"x", ""}}), plan.HashOf(later{A: 1, L: []string{"x", ""}, B: &now{}}); a != b {
		t.Errorf("with empty fields the hash is %s, not %s", b, a)
	}
	seen := map[string]bool{}
	for _, x := range []now{{}, {A: 1}, {A: 10}, {L: []string{"1"}}, {L: []string{""}}, {L: []string{"", ""}}, {A: 1, L: []string{"1"}}} {
		if h := plan.HashOf(x); seen[h] {
			t.Errorf("%+v has the hash of another value", x)
		} else {
			seen[h] = true
		}
	}
}
