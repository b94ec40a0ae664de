package microbatch_test

import (
	"context"
	"fmt"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/microbatch"
)

// The sum of squares of eight examples is that of four and four; examples from which their mean is taken need each other.
func ExampleNew() {
	ctx := context.Background()
	for _, body := range []string{
		`%0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>`,
		`%1 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %3 = stablehlo.subtract %x, %2 : tensor<8xf32>
  %0 = stablehlo.dot_general %x, %3, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>`,
	} {
		text := "func.func @main(%x: tensor<8xf32>) -> tensor<f32> {\n  " + body + "\n  return %0 : tensor<f32>\n}"
		m, err := mlir.Parse(ctx, []byte(text), mlir.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		s, err := microbatch.New(ctx, m, []ir.ValueID{m.BlockArgs(m.MainFunc().Body)[0]})
		if err != nil {
			fmt.Println(err)
			continue
		}
		split, err := s.Split(ctx, 2)
		if err != nil {
			fmt.Println(err)
			return
		}
		loop := split.OpsOf(split.MainFunc().Body, ir.OpWhile)[0]
		fmt.Println("of", s.Parts(), "microbatches", microbatch.Count(split), "take turns along dimension 1 of",
			split.Shape(split.Result(loop, 1)))
	}
	// Output:
	// of [2 4 8] microbatches 2 take turns along dimension 1 of [4 2]
	// 4:8: examples are not independent of each other: stablehlo.subtract needs what is made of several of them
}
