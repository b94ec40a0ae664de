package bytecode_test

import (
	"context"
	"fmt"

	"autoshard/ir/bytecode"
	"autoshard/ir/mlir"
)

// A program keeps its text on the way through bytecode.
func Example() {
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(`func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.tanh %x : tensor<2xf32>
  return %y : tensor<2xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := bytecode.Write(m, bytecode.WriteOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := bytecode.Read(ctx, data, bytecode.Options{File: "tanh.mlirbc"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("bytecode:", bytecode.Is(data))
	fmt.Print(string(mlir.Print(again, mlir.PrintOptions{})))
	// Output:
	// bytecode: true
	// module {
	//   func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
	//     %0 = stablehlo.tanh %arg0 : tensor<2xf32>
	//     return %0 : tensor<2xf32>
	//   }
	// }
}
