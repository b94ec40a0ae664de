package modeljson_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/ir/modeljson"
)

// A person writes types of inputs and names of ops; the rest follows.
func ExampleRead() {
	m, err := modeljson.Read(context.Background(), []byte(`{
  "schema": "autoshard.model/v1",
  "name": "layer",
  "inputs": [{"name": "x", "type": "f32[8]"}, {"name": "w", "type": "f32[8]"}],
  "ops": [
    {"op": "einsum", "equation": "i,i->", "operands": ["x", "w"], "results": ["h"]},
    {"op": "tanh", "operands": ["h"], "results": ["y"]}
  ],
  "outputs": [{"value": "y"}]
}`), "layer.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(string(mlir.Print(m, mlir.PrintOptions{})))
	// Output:
	// module @layer {
	//   func.func public @main(%arg0: tensor<8xf32> {autoshard.name = "x"}, %arg1: tensor<8xf32> {autoshard.name = "w"}) -> tensor<f32> {
	//     %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
	//     %1 = stablehlo.tanh %0 : tensor<f32>
	//     return %1 : tensor<f32>
	//   }
	// }
}
