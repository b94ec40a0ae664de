package interp_test

import (
	"context"
	"fmt"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
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

// odd has regions that return what is not theirs - constants, values around them, an argument - and results that share data.
const odd = `func.func @main(%x: tensor<4xf32>, %k: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %seven = stablehlo.constant dense<7.0> : tensor<f32>
  %around = stablehlo.add %k, %k : tensor<f32>
  %a = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %c = stablehlo.constant dense<3.0> : tensor<f32>
      stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      stablehlo.return %around : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %c:2 = "stablehlo.reduce"(%x, %x, %zero, %zero) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<f32>, %s: tensor<f32>):
      %t = stablehlo.subtract %r, %p : tensor<f32>
      stablehlo.return %t, %t : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %d = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>):
      stablehlo.return %seven : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %e = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
    ^bb0(%p: tensor<f32>):
      stablehlo.return %p : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %s:2 = chlo.scan(%x) inits (%zero) dimension=0  {
    ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
      stablehlo.return %input, %around : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  %s2 = stablehlo.add %s#1, %s#1 : tensor<f32>
  %s3 = stablehlo.add %s2, %s2 : tensor<f32>
  %a1 = stablehlo.add %a, %a : tensor<f32>
  %a2 = stablehlo.add %a1, %s3 : tensor<f32>
  %b2 = stablehlo.add %b, %around : tensor<f32>
  %c2 = stablehlo.add %c#0, %c#1 : tensor<f32>
  %d2 = stablehlo.add %d, %e : tensor<4xf32>
  return %a2, %b2, %c2, %d2, %e : tensor<f32>, tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
`

// What regions return belongs to nobody else: constants, and values around them, stay as they are from run to run.
func TestRegionsReturnWhatIsNotTheirs(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(odd), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := interp.New(m, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := memory.Watch(255)
	for range 3 {
		x, k := f32Of(1, 2, 4, 8)[0], tensor.FromFloats(dtype.F32, nil, 5)
		out, err := in.Run(context.Background(), ir.FuncID(1), []*tensor.Tensor{x, &k})
		if err != nil {
			t.Fatal(err)
		}
		want := "[46] [20] [10] [8 9 11 15] [1 2 4 8]"
		if got := fmt.Sprint(out[0].Floats(), out[1].Floats(), out[2].Floats(), out[3].Floats(), out[4].Floats()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if err := w.Stop(); err != nil {
		t.Error(err)
	}
}

// f32Of returns the only argument of a function: a vector.
func f32Of(values ...float64) []*tensor.Tensor {
	x := tensor.FromFloats(dtype.F32, []int64{int64(len(values))}, values...)
	return []*tensor.Tensor{&x}
}
