package specialize_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/specialize"
)

// A program for any number of rows becomes one for four.
func ExampleRun() {
	m, err := mlir.Parse(context.Background(), []byte(`
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = stablehlo.tanh %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(specialize.Needed(m))
	if _, err := specialize.Run(context.Background(), m, specialize.Options{Sizes: []specialize.Size{{Name: "arg0[0]",
		Value: 4}}}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(mlir.Print(m, mlir.PrintOptions{})))
	// Output:
	// true
	// module {
	//   func.func @main(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32> {
	//     %0 = stablehlo.tanh %arg0 : tensor<4x3xf32>
	//     return %0 : tensor<4x3xf32>
	//   }
	// }
}
