package mlir_test

import (
	"context"
	"errors"
	"fmt"

	"autoshard/internal/diag"
	"autoshard/ir/mlir"
)

// Print writes what MLIR itself would print, whatever names and forms the text had.
func ExamplePrint() {
	m, err := mlir.Parse(context.Background(), []byte(`
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %sum = "stablehlo.add"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %sum : tensor<2xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(mlir.Print(m, mlir.PrintOptions{})))
	// Output:
	// module {
	//   func.func @main(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>) -> tensor<2xf32> {
	//     %0 = stablehlo.add %arg0, %arg1 : tensor<2xf32>
	//     return %0 : tensor<2xf32>
	//   }
	// }
}

// Errors are located and have a code.
func ExampleParse() {
	_, err := mlir.Parse(context.Background(), []byte(`func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %z : tensor<2xf32>
}`), mlir.Options{File: "return.mlir"})
	var e *diag.Error
	if errors.As(err, &e) {
		for _, d := range e.Diagnostics {
			fmt.Println(d.Pos, d.Code, d.Message)
		}
	}
	// Output: return.mlir:2:10 AS1003 use of undeclared SSA value name '%z'
}
