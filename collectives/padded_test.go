package collectives_test

import (
	"slices"
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// Axes that do not divide a dimension stay where the op that makes it can pad it, no other op needs it evenly, and blocks become smaller;
// inputs keep them anyway.
func TestPadded(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`
sdy.mesh @mesh = <["x"=4]>
func.func @main(%a: tensor<6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
                %b: tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<6xf32> {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<6xf32>
  %1 = stablehlo.negate %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<2xf32>
  %even = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<6xf32>
  %2 = "stablehlo.sort"(%even) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %less = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<6xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mesh, _ := m.LookupMesh("mesh")
	if err := collectives.Settle(t.Context(), m, mesh); err != nil {
		t.Fatal(err)
	}
	values := slices.Clone(m.BlockArgs(m.MainFunc().Body))
	for op := range m.Ops(m.MainFunc().Body) {
		values = append(values, m.ResultValues(op)...)
	}
	for i, want := range []struct {
		padded bool
		cut    string
	}{{true, `[{"x"}]`}, {true, `[{"x"}]`}, {true, `[{"x"}]`}, {true, `[{"x":(1)2}]`}, {true, `[{"x":(1)2}]`}, {false, `[{"x":(1)2}]`}} {
		v := values[i]
		if got := collectives.Padded(m, v, 0); got != want.padded {
			t.Errorf("value %d may be padded: %t", i, got)
		}
		if got := m.FormatSharding(m.Sharding(v)); got != "<@mesh, "+want.cut+">" {
			t.Errorf("value %d is cut %s, want %s", i, got, want.cut)
		}
	}
	if v := values[5]; m.Kind(m.DefiningOp(v)) != ir.OpSort {
		t.Error("the last value is not sorted")
	}
}
