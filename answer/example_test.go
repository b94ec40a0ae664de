package answer_test

import (
	"context"
	"fmt"

	"autoshard/answer"
	"autoshard/ir/mlir"
)

// An input that two of four devices cut, in the words of an answer.
func ExampleTensors() {
	m, err := mlir.Parse(context.Background(), []byte(`sdy.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data":(1)2}, {}]>}) -> tensor<8x16xf32> {
  return %x : tensor<8x16xf32>
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	inputs, _ := answer.Tensors(m, answer.Written(m, m))
	for _, t := range inputs {
		fmt.Println(t.Name, t.Type, "in blocks of", t.LocalType, "along", t.Axes, "- as the user wrote:", t.User)
	}
	// Output: arg0 f32[8,16] in blocks of f32[4,16] along [data:(1)2] - as the user wrote: true
}
