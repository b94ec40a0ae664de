package remat_test

import (
	"context"
	"fmt"

	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir/mlir"
	"autoshard/remat"
	"autoshard/subaxis"
)

// The hyperbolic tangent of x is read last, and x is held in any case: where memory is short, it is computed once more.
func ExampleDevice_Choose() {
	err := func() error {
		ctx := context.Background()
		m, err := mlir.Parse(ctx, []byte(`func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %a = stablehlo.tanh %x : tensor<1024xf32>
  %b = stablehlo.reverse %a, dims = [0] : tensor<1024xf32>
  %c = stablehlo.reverse %b, dims = [0] : tensor<1024xf32>
  %d = stablehlo.reverse %c, dims = [0] : tensor<1024xf32>
  %e = stablehlo.add %d, %a : tensor<1024xf32>
  return %e : tensor<1024xf32>
}`), mlir.Options{})
		if err != nil {
			return err
		}
		model, err := estimate.New(cost.Hardware{}.OrDefault(), subaxis.Mesh{})
		if err != nil {
			return err
		}
		choice, err := remat.NewDevice(m, 0, model, nil).Choose(ctx, 12<<10)
		if err != nil {
			return err
		}
		choice.Apply(m)
		fmt.Print(string(mlir.Print(m, mlir.PrintOptions{})))
		return nil
	}()
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// module {
	//   func.func @main(%arg0: tensor<1024xf32>) -> tensor<1024xf32> {
	//     %0 = stablehlo.tanh %arg0 : tensor<1024xf32>
	//     %1 = stablehlo.reverse %0, dims = [0] : tensor<1024xf32>
	//     %2 = stablehlo.reverse %1, dims = [0] : tensor<1024xf32>
	//     %3 = stablehlo.reverse %2, dims = [0] : tensor<1024xf32>
	//     %4:2 = stablehlo.optimization_barrier %arg0, %3 : tensor<1024xf32>, tensor<1024xf32>
	//     %5 = stablehlo.tanh %4#0 {autoshard.recomputed} : tensor<1024xf32>
	//     %6 = stablehlo.add %3, %5 : tensor<1024xf32>
	//     return %6 : tensor<1024xf32>
	//   }
	// }
}
