package explain_test

import (
	"cmp"
	"context"
	"fmt"

	"autoshard/answer"
	"autoshard/explain"
	"autoshard/ir/mlir"
)

// Both operands of a product want its result cut along "data"; its columns win, and their axes are traced back to the user's.
func ExampleExplain() {
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(layer), mlir.Options{File: "layer.mlir"})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := explain.Explain(ctx, &answer.Source{Name: "layer", Module: m}, explain.Question{Value: "out0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range x.Dims {
		fmt.Printf("%s[%d] along %s\n", x.Value, d.Dim, cmp.Or(d.Axes, "nothing"))
		for _, l := range d.Links {
			fmt.Println(" ", l.String())
		}
	}
	// Output:
	// result 0[0] along nothing
	// result 0[1] along "data"
	//   "data" is given at %arg1[1], as annotated at argument 1
	//   "data" moves from %arg1[1] to %0[1] through %0 = stablehlo.dot_general [user priority 0, op priority 2]
	//   "data" moves from %0[1] to %1[1] through %1 = stablehlo.tanh [user priority 0, op priority 2]
	//   "data" moves from %1[1] to result 0[1] through the function's result [user priority 0, op priority 2]
}
