package interp_test

import (
	"context"
	"fmt"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// A function is compiled once and runs on any number of inputs.
func Example() {
	m, err := mlir.Parse(context.Background(), []byte(`
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = stablehlo.multiply %x, %x : tensor<3xf32>
  return %y : tensor<3xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := interp.New(m, interp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	main, _ := m.Main()
	x := tensor.FromFloats(dtype.F32, []int64{3}, 1, 2, 3)
	results, err := in.Run(context.Background(), main, []*tensor.Tensor{&x})
	fmt.Println(results[0], err)
	// Output: f32[3] [1, 4, 9] <nil>
}
