package plan_test

import (
	"context"
	"fmt"

	"autoshard/answer"
	"autoshard/ir/mlir"
	"autoshard/plan"
	"autoshard/subaxis"
)

// A product of two matrices on four devices: nothing is annotated, and the plan cuts what makes it fastest.
func ExampleMake() {
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(`func.func @main(%x: tensor<4096x8192xbf16>, %w: tensor<8192x4096xbf16>) -> tensor<4096x4096xbf16> {
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4096x8192xbf16>, tensor<8192x4096xbf16>) -> tensor<4096x4096xbf16>
  return %y : tensor<4096x4096xbf16>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := plan.Make(ctx, &answer.Source{Name: "product", Module: m}, plan.Options{Mesh: []subaxis.Axis{{Name: "x", Size: 4}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range append(p.Inputs, p.Outputs...) {
		fmt.Println(t.Name, t.Type, t.Spec)
	}
	fmt.Println(p.Certificate.Status, len(p.Collectives), "collectives")
	// Output:
	// arg0 bf16[4096,8192] P('x', None)
	// arg1 bf16[8192,4096] P(None, None)
	// out0 bf16[4096,4096] P('x', None)
	// optimal 0 collectives
}
