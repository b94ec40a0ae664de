package collectives_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// Zeros are known behind what moves them, and of linear ops the operand that they add up with.
func TestLinear(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`
func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %twice = stablehlo.multiply %two, %a : tensor<4xf32>
  %t = stablehlo.tanh %a : tensor<4xf32>
  return %zeros, %twice, %t : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := m.Operands(m.LastOp(m.MainFunc().Body))
	if !collectives.IsZeros(m, out[0]) || collectives.IsZeros(m, out[1]) {
		t.Error("zeros that are broadcast are zeros, and nothing else is")
	}
	if operand, ok := collectives.Linear(m, m.DefiningOp(out[1])); operand != 1 || !ok {
		t.Errorf("operand %d of a multiple, %t", operand, ok)
	}
	if _, ok := collectives.Linear(m, m.DefiningOp(out[2])); ok {
		t.Error("a tanh adds up")
	}
}

// A product in a loop is reduced after the loop, with the product that is added to the sum there; multiples of one
// with those of another; what something else reads is not late, nor is what a constant is divided by.
func TestLateReductions(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`
func.func @main(%a: tensor<8x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4x4xf32>
  %r:2 = stablehlo.while(%i = %zero, %sum = %zeros) : tensor<i32>, tensor<4x4xf32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<4x4xf32>) -> tensor<16xf32>
    %2 = stablehlo.reshape %1 : (tensor<16xf32>) -> tensor<4x4xf32>
    %3 = stablehlo.add %sum, %2 : tensor<4x4xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %3 : tensor<i32>, tensor<4x4xf32>
  }
  %4 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %5 = stablehlo.add %r#1, %4 : tensor<4x4xf32>
  %6 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %7 = stablehlo.add %5, %6 : tensor<4x4xf32>
  %c = stablehlo.constant dense<8.0> : tensor<f32>
  %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %9 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %10 = stablehlo.divide %9, %8 : tensor<4x4xf32>
  %11 = stablehlo.multiply %8, %10 : tensor<4x4xf32>
  %12 = stablehlo.add %6, %11 : tensor<4x4xf32>
  %13 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %14 = stablehlo.divide %8, %13 : tensor<4x4xf32>
  %15 = stablehlo.add %6, %14 : tensor<4x4xf32>
  return %7, %6, %12, %15 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	late := collectives.LateReductions(m)
	products := m.OpsWhere(m.MainFunc().Body, func(k ir.Kind) bool { return k == ir.OpDotGeneral })
	sum, multiples := m.Operand(m.LastOp(m.MainFunc().Body), 0), m.Operand(m.LastOp(m.MainFunc().Body), 2)
	for i, want := range []collectives.Late{{Sum: sum, Trips: 5}, {Sum: sum, Trips: 1, Blocks: true}, {Trips: 1, Blocks: true},
		{Sum: multiples, Trips: 1}, {Trips: 1, Blocks: true}} {
		if got := late(m.Result(products[i], 0)); got != want {
			t.Errorf("product %d: %+v, want %+v", i, got, want)
		}
	}
}
