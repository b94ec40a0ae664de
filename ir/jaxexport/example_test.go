package jaxexport_test

import (
	"context"
	"fmt"

	"autoshard/ir/bytecode"
	"autoshard/ir/jaxexport"
	"autoshard/ir/mlir"
	"autoshard/ir/vhlo"
)

// What a file says of a function of one array and a dictionary of two beside the program itself, of which it does not take
// the first.
func Example() {
	m, err := mlir.Parse(context.Background(), []byte(`func.func @main(%b: tensor<2xf32>, %w: tensor<2xf32>) -> tensor<2xf32> {
  %y = stablehlo.add %b, %w : tensor<2xf32>
  return %y : tensor<2xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	artifact, err := bytecode.WriteArtifact(m, vhlo.Newest)
	if err != nil {
		fmt.Println(err)
		return
	}
	leaf := &jaxexport.Tree{Kind: jaxexport.Leaf}
	params := &jaxexport.Tree{Kind: jaxexport.Dict, Names: []string{"b", "w"}, Children: []*jaxexport.Tree{leaf, leaf}}
	args := &jaxexport.Tree{Kind: jaxexport.Tuple, Children: []*jaxexport.Tree{leaf, params}}
	data := jaxexport.Write(&jaxexport.Exported{
		FunctionName: "apply", Platforms: []string{"tpu"}, KeptInputs: []uint16{1, 2}, Devices: 1, OutTree: leaf,
		InTree: &jaxexport.Tree{Kind: jaxexport.Tuple, Children: []*jaxexport.Tree{args, {Kind: jaxexport.Dict}}},
	}, artifact)
	e, err := jaxexport.Read(data, "apply.jaxexport")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, k := range e.KeptInputs {
		fmt.Println(e.FunctionName, "takes", e.InTree.InputNames()[k], "on", e.Platforms)
	}
	// Output:
	// apply takes args[1]['b'] on [tpu]
	// apply takes args[1]['w'] on [tpu]
}
