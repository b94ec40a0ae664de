package shardmap_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

// Nobody computes what stands at the boundary of a padded program: inputs and outputs are stored so.
func TestBoundary(t *testing.T) {
	const text = `
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %unused: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %c, low = [0], high = [2], interior = [0]
    {autoshard.boundary, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<6xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %2 = stablehlo.slice %1 [0:6] {autoshard.boundary, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
    : (tensor<8xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}`
	lowered := func(text string) (*shardmap.Program, error) {
		m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mesh, _ := m.LookupMesh("mesh")
		return shardmap.Lower(t.Context(), m, mesh)
	}
	p, err := lowered(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{8, 4} {
		if got := p.Inputs[i].Stored(); !slices.Equal(got, []int64{want}) {
			t.Errorf("input %d is stored as %d, want %d", i, got, want)
		}
	}
	if out := &p.Outputs[0]; !slices.Equal(out.Stored(), []int64{8}) || !slices.Equal(out.Dims, []int64{6}) {
		t.Errorf("the output has %d elements and is stored as %d", out.Dims, out.Stored())
	}
	if ops := p.Module.OpsWhere(p.Module.Func(p.Main).Body, func(k ir.Kind) bool { return !k.IsTerminator() }); len(ops) != 1 {
		t.Errorf("%d ops are left: %s", len(ops), mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	for _, unsaid := range []string{"%1 [0:6] {autoshard.boundary, ", "    {autoshard.boundary, "} {
		short := strings.Replace(text, unsaid, strings.Replace(unsaid, "autoshard.boundary, ", "", 1), 1)
		_, err := lowered(short)
		if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), "has size 6, which 4 blocks do not divide") {
			t.Errorf("without %q: %v", unsaid, err)
		}
	}
}
