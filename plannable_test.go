package autoshard_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

const onMesh = "sdy.mesh @mesh = <[\"data\"=4, \"model\"=2]>\n"

func read(t *testing.T, text string) *autoshard.Model {
	t.Helper()
	m, err := autoshard.ReadModel(t.Context(), "test.mlir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// What a plan cannot hold is refused, with its place.
func TestUnplannable(t *testing.T) {
	for name, text := range map[string]string{
		"outside of a manual computation": onMesh +
			`func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}) -> tensor<8xf32> {
  %0 = sdy.all_gather [{"data"}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}`,
		"a region of 2 blocks": onMesh + `func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8xf32>
  "cf.br"()[^bb1] : () -> ()
^bb1:
  %1 = stablehlo.negate %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}`,
		"cannot be one": onMesh + `sdy.mesh @other = <["x"=16]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}]>}, %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.add %arg0, %arg1 : tensor<8xf32>
  return %0 : tensor<8xf32>
}`,
	} {
		o := options(t)
		o.Mesh = nil
		_, err := autoshard.MakePlan(context.Background(), read(t, text), o)
		if !errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// What is placed on one device is whole on each: all devices run one program. The plan says so, value by value, and computes what one
// device would.
func TestSingleDevice(t *testing.T) {
	const text = onMesh + `sdy.mesh @one = <[], device_ids=[%d]>
func.func @main(%%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %%arg1: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@one, []>}) -> (tensor<8x8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, []>}) {
  %%0 = stablehlo.dot_general %%arg0, %%arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %%1 = sdy.sharding_constraint %%0 <@mesh, [{}, {"model"}]> : tensor<8x8xf32>
  %%2 = stablehlo.tanh %%1 : tensor<8x8xf32>
  %%zero = stablehlo.constant dense<0.0> : tensor<f32>
  %%3 = stablehlo.reduce(%%2 init: %%zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %%2, %%3 : tensor<8x8xf32>, tensor<8xf32>
}`
	o := options(t)
	o.Mesh = nil
	p := makePlan(t, read(t, fmt.Sprintf(text, 3)), o)
	var said []string
	for _, f := range p.Findings {
		if f.Code == string(lint.SingleDevice) {
			said = append(said, f.Value)
		}
	}
	if got, want := strings.Join(said, " "), "arg1 out1 %0"; got != want {
		t.Errorf("said of %s, want %s", got, want)
	}
	if block := p.Outputs[1].LocalType; block != "f32[8]" {
		t.Errorf("a device holds %s of out1, want all of it", block)
	}
	inputs := make([]*tensor.Tensor, 2)
	for i := range inputs {
		values := make([]float64, 64)
		for j := range values {
			values[j] = float64(j%7) / 8
		}
		x := tensor.FromFloats(dtype.F32, []int64{8, 8}, values...)
		inputs[i] = &x
	}
	if _, err := lowered(t, p).Verify(t.Context(), inputs, nil, autoshard.Tolerance{}); err != nil {
		t.Error(err)
	}
	_, err := autoshard.MakePlan(t.Context(), read(t, fmt.Sprintf(text, 8)), o)
	if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), "is placed on device 8, by mesh @one") {
		t.Errorf("a device that the mesh does not have: got %v", err)
	}
}

// A mesh that no sharding uses does not stand in the way, and a branch that is not taken moves no bytes.
func TestBranchesMoveWhatTheyRun(t *testing.T) {
	m := read(t, onMesh+`sdy.mesh @unused = <["x"=8]>
func.func @main(%arg0: tensor<i32>, %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>}) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
  %0 = "stablehlo.case"(%arg0) ({
    %1 = stablehlo.tanh %arg1 : tensor<8x16xf32>
    stablehlo.return %1 : tensor<8x16xf32>
  }, {
    %1 = stablehlo.negate %arg1 : tensor<8x16xf32>
    stablehlo.return %1 : tensor<8x16xf32>
  }) : (tensor<i32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}`)
	o := options(t)
	o.Mesh = nil
	p := makePlan(t, m, o)
	if len(p.Collectives) == 0 {
		t.Fatal("the plan moves nothing; the test wants it to")
	}
	values := make([]float64, 128)
	for i := range values {
		values[i] = float64(i)
	}
	branch, x := tensor.FromInts(dtype.I32, nil, 1), tensor.FromFloats(dtype.F32, []int64{8, 16}, values...)
	if _, err := lowered(t, p).Verify(context.Background(), []*tensor.Tensor{&branch, &x}, nil, autoshard.Tolerance{}); err != nil {
		t.Error(err)
	}
}

// A model whose shardings are over several meshes of the same devices is one over their common mesh wherever a mesh is asked for, and what
// runs says so.
func TestCommonMesh(t *testing.T) {
	const other = `sdy.mesh @other = <["x"=8]>
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"data", "model"}]>] out_shardings=[<@mesh, [{"data", "model"}]>] manual_axes={"data", "model"} (%a: tensor<1xf32>) {
    %2 = stablehlo.tanh %a : tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@other, [{"x"}]>] out_shardings=[<@other, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xf32>) {
    %2 = stablehlo.negate %a : tensor<1xf32>
    sdy.return %2 : tensor<1xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}`
	m := read(t, onMesh+other)
	p, err := autoshard.MakePlan(t.Context(), m, autoshard.PlanOptions{Devices: 8})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Mesh) != 2 || p.Mesh[0].Name != "data" || p.Mesh[1].Name != "model" {
		t.Errorf("the plan is over %v", p.Mesh)
	}
	mesh := []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}
	if _, err := m.Lint(t.Context(), autoshard.LintOptions{Mesh: mesh}); err != nil {
		t.Error(err)
	}
	run, err := autoshard.ReadProgram(t.Context(), "model.mlir", []byte(onMesh+other))
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(run.Notes, "\n"); !strings.Contains(notes, "over @mesh (data=4,model=2), where x of @other is (data, model)") {
		t.Errorf("%q is said about the program", notes)
	}
}
