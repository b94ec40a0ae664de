package passes_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/ir/pass"
	"autoshard/passes"
)

func Example() {
	const program = `
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %x : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}`
	pipeline, err := passes.Table().Parse("sdy-basic-propagate,sdy-close-shardings", "pipeline")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(program), mlir.Options{})
	if err == nil {
		_, err = pipeline.Run(ctx, m, pass.Hooks{})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	main, _ := m.Main()
	fmt.Println(m.FormatSharding(m.Func(main).ResultShardings[0]))
	// Output: <@mesh, [{"x"}, {}]>
}
