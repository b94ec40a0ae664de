package estimate_test

import (
	"slices"
	"testing"

	"autoshard/cost"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

const written = `sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<64x256xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>]
      manual_axes={"x", "y"} (%l: tensor<32x16xf32>) {
    %1 = "stablehlo.all_reduce"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%s: tensor<f32>, %t: tensor<f32>):
      %4 = stablehlo.add %s, %t : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<32x16xf32>) -> tensor<32x16xf32>
    %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
      source_target_pairs = dense<[[0, 1], [1, 2], [2, 0]]> : tensor<3x2xi64>}> : (tensor<32x16xf32>) -> tensor<32x16xf32>
    %3 = "stablehlo.all_gather"(%2) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>,
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}>
      : (tensor<32x16xf32>) -> tensor<32x64xf32>
    sdy.return %3 : tensor<32x64xf32>
  } : (tensor<64x64xf32>) -> tensor<64x256xf32>
  return %0 : tensor<64x256xf32>
}`

// What the user wrote in a manual computation costs before the program is lowered what it costs afterwards.
func TestWritten(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(written), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	md := model(t, torus(1e13, 1e9, 1e-6, cost.WrapFull))
	mesh, _ := m.LookupMesh("mesh")
	var prices []int64
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if ps := md.Written(m, op); ps != 0 {
			prices = append(prices, ps)
		}
	})
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err != nil {
		t.Fatal(err)
	}
	if step, err := md.Program(t.Context(), p); err != nil || len(prices) != 3 || !slices.Equal(prices, step.Collectives) {
		t.Fatalf("collectives cost %d ps, those of the program %d, %v", prices, step.Collectives, err)
	}
}
