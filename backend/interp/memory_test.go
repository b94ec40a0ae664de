package interp_test

import (
	"context"
	"fmt"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// emptyValues has values without elements under two shapes, which share what memory they have, and others of few bytes behind them.
const emptyValues = `func.func @main(%x: tensor<3xf32>) -> (tensor<f32>, tensor<f32>) {
  %a = stablehlo.slice %x [0:0] : (tensor<3xf32>) -> tensor<0xf32>
  %b = stablehlo.reshape %a : (tensor<0xf32>) -> tensor<0x4xf32>
  %c = stablehlo.slice %x [1:2] : (tensor<3xf32>) -> tensor<1xf32>
  %d = stablehlo.reshape %c : (tensor<1xf32>) -> tensor<f32>
  %e = stablehlo.add %d, %d : tensor<f32>
  %f = stablehlo.slice %x [2:3] : (tensor<3xf32>) -> tensor<1xf32>
  %g = stablehlo.reshape %f : (tensor<1xf32>) -> tensor<f32>
  %h = stablehlo.add %g, %g : tensor<f32>
  %i = stablehlo.subtract %h, %e : tensor<f32>
  return %e, %i : tensor<f32>, tensor<f32>
}
`

// Memory is given back once, also that of values without elements, of which two may share it: what is made later does not lie in one place.
// Results of earlier runs stay as they are.
func TestMemoryIsGivenBackOnce(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(emptyValues), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := interp.New(m, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for k := range 50 {
		x := f32Of(float64(k), 2, 5)
		out, err := in.Run(context.Background(), ir.FuncID(1), x)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprint(out[0].Floats(), out[1].Floats(), x[0].Floats()))
		if want := fmt.Sprintf("[4] [6] [%d 2 5]", k); all[k] != want {
			t.Fatalf("run %d gives %s, want %s", k, all[k], want)
		}
	}
}

// f32Of returns the only argument of a function: a vector.
func f32Of(values ...float64) []*tensor.Tensor {
	x := tensor.FromFloats(dtype.F32, []int64{int64(len(values))}, values...)
	return []*tensor.Tensor{&x}
}
