package fusion_test

import (
	"context"
	"fmt"

	"autoshard/ir/fusion"
	"autoshard/ir/mlir"
)

// Of a rectifier only what it is made of and its result are held: the mask is computed where it is read.
func Example() {
	m, err := mlir.Parse(context.Background(), []byte(`func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
  %mask = stablehlo.compare GT, %x, %zero : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %out = stablehlo.select %mask, %y, %zero : tensor<8xi1>, tensor<8xf32>
  return %out : tensor<8xf32>
}`), mlir.Options{})
	if err != nil {
		panic(err)
	}
	nowhere := fusion.Of(m).OnTheFly()
	for op := range m.Ops(m.MainFunc().Body) {
		if m.NumResults(op) == 1 {
			fmt.Println(m.OpName(op), nowhere[m.Result(op, 0)])
		}
	}
	// Output:
	// stablehlo.constant false
	// stablehlo.compare true
	// stablehlo.select false
}
