package report_test

import (
	"context"
	"fmt"

	"autoshard/answer"
	"autoshard/explain"
	"autoshard/ir/mlir"
	"autoshard/report"
)

// What propagation gives the inputs and outputs of a product, whose rows the user cuts.
func ExamplePropagation() {
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(`sdy.mesh @mesh = <["data"=2]>
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := explain.Propagate(ctx, &answer.Source{Name: "product", Module: m}, explain.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report.Propagation(p, false))
	// Output:
	// input  type      sharding           block     per device
	// arg0   f32[4,8]  P('data', None) *  f32[2,8]        64 B
	// arg1   f32[8,6]  -                  f32[8,6]       192 B
	// * the user's sharding
	//
	// output  type      sharding         block     per device
	// out0    f32[4,6]  P('data', None)  f32[2,6]        48 B
}
