package review_test

import (
	"context"
	"fmt"

	"autoshard"
)

// The document of a propagation has every step in columns of numbers, and texts once.
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
	d, err := autoshard.ReviewPropagation(ctx, model, autoshard.PropagateOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := d.Propagation
	for i := range p.Kind {
		fmt.Println(d.Strings[d.Values.Name[p.From[i]]], "to", d.Strings[d.Values.Name[p.To[i]]], d.Axes[p.Axes[i]])
	}
	// Output:
	// %arg0 to %0 [{0 1 2}]
	// %0 to result 0 [{0 1 2}]
}
