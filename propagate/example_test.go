package propagate_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/propagate"
)

// A product whose first operand is cut along "data" and whose second one is cut along "model" is cut along both.
func Example() {
	const program = `
sdy.mesh @mesh = <["data"=4, "model"=2]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
                %w: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}) -> tensor<8x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  return %0 : tensor<8x32xf32>
}`
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(program), mlir.Options{})
	if err == nil {
		err = propagate.Import(ctx, m)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	events, err := propagate.Run(ctx, m, propagate.Options{})
	if err == nil {
		err = propagate.Close(ctx, m)
	}
	main, _ := m.Main()
	fmt.Println(m.FormatSharding(m.Func(main).ResultShardings[0]), err)
	fmt.Println(len(events.Events()), "steps")
	// Output:
	// <@mesh, [{"data"}, {"model"}]> <nil>
	// 4 steps
}
