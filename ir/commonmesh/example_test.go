package commonmesh_test

import (
	"context"
	"fmt"
	"strings"

	"autoshard/ir/commonmesh"
	"autoshard/ir/mlir"
)

// An input is cut along a mesh of two axes, what becomes of it along one of three: all is said over that of three.
func Example() {
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte(`
sdy.mesh @grid = <["a"=4, "b"=2]>
sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@grid, [{"a"}]>}) -> tensor<8xf32> {
  %0 = sdy.sharding_constraint %arg0 <@cube, [{"z"}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}`), mlir.Options{})
	if err != nil {
		panic(err)
	}
	renamed, _, err := commonmesh.Unify(m)
	fmt.Println(strings.Join(renamed, "; "), err)
	fmt.Printf("%s", mlir.Print(m, mlir.PrintOptions{}))
	// Output:
	// a of @grid is (x, y); b of @grid is z <nil>
	// module {
	//   sdy.mesh @cube = <["x"=2, "y"=2, "z"=2]>
	//   func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@cube, [{"x", "y"}]>}) -> tensor<8xf32> {
	//     %0 = sdy.sharding_constraint %arg0 <@cube, [{"z"}]> : tensor<8xf32>
	//     return %0 : tensor<8xf32>
	//   }
	// }
}
