package collectives_test

import (
	"fmt"
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// Zeros are known behind what moves them, and of linear ops the operand that they add up with: what is moved among zeros, or times
// a constant or an input.
func TestLinear(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`
func.func @main(%a: tensor<4xf32>, %i: tensor<i32>, %p: tensor<4xi1>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0 = stablehlo.tanh %a : tensor<4xf32>
  %1 = stablehlo.multiply %two, %0 : tensor<4xf32>
  %2 = stablehlo.multiply %1, %a : tensor<4xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<4xf32>
  %4 = stablehlo.divide %2, %a : tensor<4xf32>
  %5 = stablehlo.select %p, %zeros, %4 : tensor<4xi1>, tensor<4xf32>
  %6 = stablehlo.select %p, %5, %zeros : tensor<4xi1>, tensor<4xf32>
  %7 = stablehlo.select %p, %5, %two : tensor<4xi1>, tensor<4xf32>
  %8 = stablehlo.dynamic_slice %7, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
  %9 = stablehlo.dynamic_update_slice %zeros, %8, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  %10 = stablehlo.dynamic_update_slice %9, %8, %i : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
  %11 = stablehlo.pad %8, %zero, low = [1], high = [1], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %zeros : tensor<4xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const no = -1
	want := []int{no, 1, 0, no, 0, 2, 1, no, 0, 1, no, 0}
	for op := range m.Ops(m.MainFunc().Body) {
		switch m.Kind(op) {
		case ir.OpConstant, ir.OpBroadcastInDim:
			continue
		case ir.OpReturn:
			if !collectives.IsZeros(m, m.Operand(op, 0)) || collectives.IsZeros(m, m.BlockArgs(m.MainFunc().Body)[0]) {
				t.Error("zeros that are broadcast are zeros, and nothing else is")
			}
			continue
		}
		operand, ok := collectives.Linear(m, op)
		if !ok {
			operand = no
		}
		if operand != want[0] {
			t.Errorf("%s adds up with operand %d, want %d", m.Kind(op), operand, want[0])
		}
		want = want[1:]
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
		{Sum: multiples, Trips: 1, Blocks: true}, {Trips: 1, Blocks: true}} {
		if got := late(m.Result(products[i], 0)); got != want {
			t.Errorf("product %d: %+v, want %+v", i, got, want)
		}
	}
}

// Halves of a matrix are not reduced later as the matrix that they are put together to, unless it is smaller than all that is added to it.
func TestLateHalves(t *testing.T) {
	const function = `
func.func @main(%%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %%zero = stablehlo.constant dense<0.0> : tensor<f32>
  %%0 = stablehlo.dot_general %%a, %%a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %%1 = stablehlo.pad %%0, %%zero, low = [4, 0], high = [0, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %%2 = stablehlo.dot_general %%a, %%a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %%3 = stablehlo.pad %%2, %%zero, low = [0, 0], high = [4, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %%4 = stablehlo.add %%1, %%3 : tensor<8x4xf32>
  %%5 = stablehlo.dot_general %%a, %%a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %%6 = stablehlo.pad %%5, %%zero, low = [2, 0], high = [2, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %%7 = stablehlo.add %%4, %%6 : tensor<8x4xf32>
  return %%%d : tensor<8x4xf32>
}`
	for result, want := range map[int]bool{4: false, 7: true} {
		m, err := mlir.Parse(t.Context(), fmt.Appendf(nil, function, result), mlir.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ir.EraseDead(m)
		sum, late := m.Operand(m.LastOp(m.MainFunc().Body), 0), collectives.LateReductions(m)
		for _, product := range m.OpsOf(m.MainFunc().Body, ir.OpDotGeneral) {
			if got := late(m.Result(product, 0)); want != (got.Sum == sum) {
				t.Errorf("%%%d: %+v", result, got)
			}
		}
	}
}

// A loop may begin with a part of what is cut, which is partial itself: each device has what it has of it, and zeros.
func TestLateAfterPart(t *testing.T) {
	m, err := mlir.Parse(t.Context(), []byte(`
func.func @main(%a: tensor<8x4xf32>, %table: tensor<16x4xf32>, %at: tensor<i32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %begin = stablehlo.dynamic_slice %table, %at, %zero, sizes = [4, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  %r:2 = stablehlo.while(%i = %zero, %sum = %begin) : tensor<i32>, tensor<4x4xf32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.add %sum, %0 : tensor<4x4xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %1 : tensor<i32>, tensor<4x4xf32>
  }
  return %r#1 : tensor<4x4xf32>
}`), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	product := m.OpsOf(m.MainFunc().Body, ir.OpDotGeneral)[0]
	want := collectives.Late{Sum: m.Operand(m.LastOp(m.MainFunc().Body), 0), Trips: 5, Blocks: true}
	if got := collectives.LateReductions(m)(m.Result(product, 0)); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
