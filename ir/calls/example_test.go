package calls_test

import (
	"context"
	"fmt"

	"autoshard/ir/calls"
	"autoshard/ir/mlir"
)

// Two calls of a function get a function of their own each.
func ExampleFlatten() {
	m, err := mlir.Parse(context.Background(), []byte(`
func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @f(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := calls.Flatten(m, 1000); err != nil {
		fmt.Println(err)
		return
	}
	table := calls.NewTable(m)
	for _, call := range calls.All(m) {
		fmt.Println(m.Func(table.Callee(call)).Name)
	}
	// Output:
	// f
	// f_0
}
