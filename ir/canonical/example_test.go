package canonical_test

import (
	"context"
	"fmt"

	"autoshard/ir/canonical"
	"autoshard/ir/mlir"
)

// What is gathered and cut again is the value itself. The gather has no use any more.
func ExampleRun() {
	m, err := mlir.Parse(context.Background(), []byte(`
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
  %1 = sdy.all_slice [{"x"}, {}] %0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>
  return %1 : tensor<16x8xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	canonical.Run(m, canonical.Options{})
	fmt.Print(string(mlir.Print(m, mlir.PrintOptions{})))
	// Output:
	// module {
	//   sdy.mesh @mesh = <["x"=2]>
	//   func.func @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<16x8xf32> {
	//     %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>
	//     return %arg0 : tensor<16x8xf32>
	//   }
	// }
}
