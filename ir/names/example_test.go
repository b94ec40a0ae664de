package names_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/ir/names"
)

// Arguments are called as their locations or attributes say, or numbered.
func ExampleArgs() {
	m, err := mlir.Parse(context.Background(), []byte(`
func.func @main(%arg0: tensor<4xf32> loc("p['layers'][0]['wq']"), %arg1: tensor<4xf32>, %arg2: tensor<4xf32> {jax.arg_info = "x"}) -> tensor<4xf32> {
  return %arg1 : tensor<4xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	main, _ := m.Main()
	args := names.Args(m, main)
	for _, name := range args.Names {
		fmt.Println(name)
	}
	fmt.Println(names.Segments(args.Names[0]))
	// Output:
	// p['layers'][0]['wq']
	// arg1
	// x
	// [p ['layers'] [0] ['wq']]
}
