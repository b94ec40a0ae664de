package modelexplorer_test

import (
	"context"
	"fmt"

	"autoshard"
)

// How the values of a model lie, for Model Explorer: by function and by node, which are arguments and numbered operations.
func Example() {
	const text = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}`
	ctx := context.Background()
	model, err := autoshard.ReadModel(ctx, "m.mlir", []byte(text))
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := autoshard.PropagationNodeData(ctx, model, autoshard.PropagateOptions{}, autoshard.NodeSharding)
	if err != nil {
		fmt.Println(err)
		return
	}
	results := d.Graphs["main"].Results
	fmt.Println(results["arg0"].Value, results["0"].Value)
	// Output: P('x') P('x')
}
