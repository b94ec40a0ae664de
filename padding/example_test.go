package padding_test

import (
	"context"
	"fmt"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/padding"
)

// A sum along a dimension of ten elements on four devices: each has three, of which the last device's are two more than there are. What
// they hold is replaced by zeros before it is added.
func Example() {
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(`
sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<10xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
  %c = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.add across dimensions = [0]
    {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
  %1 = sdy.reshard %0 <@mesh, []> : tensor<f32>
  return %1 : tensor<f32>
}`), mlir.Options{})
	if err != nil {
		panic(err)
	}
	mesh, _ := m.LookupMesh("mesh")
	if err := padding.Pad(ctx, m, mesh); err != nil {
		panic(err)
	}
	for op := range m.Ops(m.MainFunc().Body) {
		for _, v := range m.Results(op) {
			fmt.Println(m.OpName(op), m.Shape(v), padding.AtBoundary(m, op))
		}
	}
	padding.Forget(m)
	m.Walk(m.MainFunc().Body, func(op ir.OpID) {
		if padding.AtBoundary(m, op) {
			fmt.Println("not forgotten")
		}
	})
	// Output:
	// stablehlo.constant [] false
	// stablehlo.pad [12] true
	// stablehlo.constant [] false
	// stablehlo.iota [12] false
	// stablehlo.constant [12] false
	// stablehlo.compare [12] false
	// stablehlo.constant [12] false
	// stablehlo.select [12] false
	// stablehlo.reduce [] false
	// sdy.reshard [] false
}
