package mlirfile_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/ir/mlirfile"
)

// The first bytes of a file say which form of MLIR it has; this one is text.
func ExampleRead() {
	m, export, err := mlirfile.Read(context.Background(), []byte(`func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.tanh %x : tensor<2xf32>
  return %y : tensor<2xf32>
}`), "tanh.mlir")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(mlir.Print(m, mlir.PrintOptions{})))
	fmt.Println("from jax.export:", export != nil)
	// Output:
	// module {
	//   func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
	//     %0 = stablehlo.tanh %arg0 : tensor<2xf32>
	//     return %0 : tensor<2xf32>
	//   }
	// }
	// from jax.export: false
}
