package gspmd_test

import (
	"context"
	"fmt"

	"autoshard/ir/gspmd"
	"autoshard/ir/mlir"
)

// Of eight devices, each has a quarter of the rows of the input, and an eighth of those of the result: axes of four and two say both.
func Example() {
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(`
func.func @main(%arg0: tensor<32x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}) -> tensor<32x8xf32> {
  %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[8,1]<=[8]}"} : (tensor<32x8xf32>) -> tensor<32x8xf32>
  return %0 : tensor<32x8xf32>
}`), mlir.Options{})
	if err != nil {
		panic(err)
	}
	said, err := gspmd.Import(ctx, m, nil)
	fmt.Println(said, err)
	fmt.Printf("%s", mlir.Print(m, mlir.PrintOptions{}))
	// Output:
	// the model's shardings are those of GSPMD, where axes have no names: they are over @mesh (axis_0=4, axis_1=2); --mesh gives names <nil>
	// module {
	//   sdy.mesh @mesh = <["axis_0"=4, "axis_1"=2]>
	//   func.func @main(%arg0: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {}]>}) -> tensor<32x8xf32> {
	//     %0 = sdy.sharding_constraint %arg0 <@mesh, [{"axis_0", "axis_1"}, {}]> : tensor<32x8xf32>
	//     return %0 : tensor<32x8xf32>
	//   }
	// }
}
