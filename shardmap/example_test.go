package shardmap_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

// Each of two devices holds half of the rows, and gathers those of the other before it returns all of them.
func ExampleLower() {
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(`sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %y = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x4xf32>
  %z = sdy.all_gather [{"x"}, {}] %y out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  return %z : tensor<8x4xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	mesh, _ := m.LookupMesh("mesh")
	p, err := shardmap.Lower(ctx, m, mesh)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(mlir.Print(p.Module, mlir.PrintOptions{})))
	for _, c := range p.Collectives {
		fmt.Println(c.Kind, "sends", c.TotalBytes(), "bytes")
	}
	// Output:
	// module {
	//   sdy.mesh @mesh = <["x"=2]>
	//   func.func @main(%arg0: tensor<4x4xf32>) -> tensor<8x4xf32> {
	//     %0 = stablehlo.tanh %arg0 : tensor<4x4xf32>
	//     %1 = "shard_map.all_gather_invariant"(%0) <{axes = #sdy<axis_ref_list{"x"}>, dim = 0 : i64}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
	//     return %1 : tensor<8x4xf32>
	//   }
	// }
	// all_gather sends 128 bytes
}
