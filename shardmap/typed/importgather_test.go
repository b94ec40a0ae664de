package typed_test

import (
	"strings"
	"testing"

	"autoshard/ir/mlir"
	"autoshard/shardmap/typed"
)

// TestImportOneGatherOfTwoOutputs imports a manual computation of which two outputs are one gather: the types are
// found anew when the first output has made it invariant.
func TestImportOneGatherOfTwoOutputs(t *testing.T) {
	p, err := typed.Parse(`shard_map @twice mesh=(i=4,)
  in_specs=(P('i'),)
  out_specs=(P(), P())
lambda x:f32[2]
  y:f32[8] = all_gather_invariant[axes=(i,), dim=0] x
  return y y
`, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Elaborate(typed.Options{}); err != nil {
		t.Fatal(err)
	}
	back, err := typed.Import(t.Context(), p.Export(), typed.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := back.Elaborate(typed.Options{}); err != nil {
		t.Fatal(err)
	}
}

// A loop that gathers runs equally often on all devices: a predicate that comes from a gather is taken as equal.
func TestImportGatheredPredicate(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`module @m {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg1: tensor<2xf32>) {
      %limit = stablehlo.constant dense<9.0> : tensor<f32>
      %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %1 = stablehlo.while(%it = %arg1) : tensor<2xf32>
      cond {
        %2 = "stablehlo.all_gather"(%it) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
          replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2xf32>) -> tensor<4xf32>
        %3 = stablehlo.reduce(%2 init: %least) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
        %4 = stablehlo.compare LT, %3, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %4 : tensor<i1>
      } do {
        %2 = stablehlo.add %it, %it : tensor<2xf32>
        stablehlo.return %2 : tensor<2xf32>
      }
      sdy.return %1 : tensor<2xf32>
    } : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := typed.Import(t.Context(), m, typed.ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text := p.Format(typed.TextOptions{}); !strings.Contains(text, "all_gather_invariant") {
		t.Errorf("the gather of the predicate leaves it varying:\n%s", text)
	}
}
