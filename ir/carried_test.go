package ir_test

import (
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

// Constants that a loop only carries along are made where they are read: in the condition, in the body, in a loop inside, behind the loop.
// What the loop changes, what differs from element to element, what has a sharding and what comes from outside stays.
func TestSinkConstants(t *testing.T) {
	const before = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %cst = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %cst, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<f32>) -> tensor<4xf32>
  %cst_1 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %2:7 = stablehlo.while(%i = %c_0, %n = %c, %w = %arg0, %two = %0, %cut = %1, %table = %cst_1, %step = %arg1) : tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
    cond {
      %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %3:3 = stablehlo.while(%k = %i, %v = %w, %again = %two) : tensor<i32>, tensor<4xf32>, tensor<4xf32>
        cond {
          %4 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %4 : tensor<i1>
        } do {
          %4 = stablehlo.add %v, %again : tensor<4xf32>
          %5 = stablehlo.add %4, %cut : tensor<4xf32>
          %6 = stablehlo.add %5, %table : tensor<4xf32>
          %7 = stablehlo.add %k, %step : tensor<i32>
          stablehlo.return %7, %6, %again : tensor<i32>, tensor<4xf32>, tensor<4xf32>
        }
      %8 = stablehlo.add %i, %step : tensor<i32>
      stablehlo.return %8, %n, %3#1, %two, %cut, %table, %step : tensor<i32>, tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
    }
  return %2#2, %2#3 : tensor<4xf32>, tensor<4xf32>
}`
	const after = `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %c_0 = stablehlo.constant dense<0> : tensor<i32>
  %cst = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %cst, dims = [] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<f32>) -> tensor<4xf32>
  %cst_1 = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %2:5 = stablehlo.while(%i = %c_0, %w = %arg0, %cut = %1, %table = %cst_1, %step = %arg1) : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %3 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %two = stablehlo.constant dense<2.0> : tensor<f32>
      %wide = stablehlo.broadcast_in_dim %two, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %n = stablehlo.constant dense<3> : tensor<i32>
      %3:2 = stablehlo.while(%k = %i, %v = %w) : tensor<i32>, tensor<4xf32>
        cond {
          %4 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %4 : tensor<i1>
        } do {
          %again = stablehlo.constant dense<2.0> : tensor<f32>
          %all = stablehlo.broadcast_in_dim %again, dims = [] : (tensor<f32>) -> tensor<4xf32>
          %4 = stablehlo.add %v, %all : tensor<4xf32>
          %5 = stablehlo.add %4, %cut : tensor<4xf32>
          %6 = stablehlo.add %5, %table : tensor<4xf32>
          %7 = stablehlo.add %k, %step : tensor<i32>
          stablehlo.return %7, %6 : tensor<i32>, tensor<4xf32>
        }
      %8 = stablehlo.add %i, %step : tensor<i32>
      stablehlo.return %8, %3#1, %cut, %table, %step : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
    }
  return %2#1, %0 : tensor<4xf32>, tensor<4xf32>
}`
	m := read(t, before)
	ir.SinkConstants(m)
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if got, want := written(t, m), written(t, read(t, after)); got != want {
		t.Errorf("constants inside the loops make it\n%s\nwant\n%s", got, want)
	}
}

// A loop that carries nothing else keeps its constants.
func TestSinkAllConstants(t *testing.T) {
	m := read(t, `func.func @main() -> tensor<i1> {
  %c = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.while(%go = %c) : tensor<i1>
    cond {
      stablehlo.return %go : tensor<i1>
    } do {
      stablehlo.return %go : tensor<i1>
    }
  return %0 : tensor<i1>
}`)
	before := written(t, m)
	ir.SinkConstants(m)
	if got := written(t, m); got != before {
		t.Errorf("it became\n%s", got)
	}
}

// Of constants those of equal elements are told from others, and from other ops.
func TestIsSplat(t *testing.T) {
	m := read(t, `func.func @main() -> (tensor<4xf32>, tensor<2xi32>, tensor<2xi32>) {
  %0 = stablehlo.constant dense<2.0> : tensor<4xf32>
  %1 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %2 = stablehlo.iota dim = 0 : tensor<2xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<2xi32>, tensor<2xi32>
}`)
	var splats []bool
	for op := range m.Ops(m.MainFunc().Body) {
		splats = append(splats, m.IsSplat(op))
	}
	if want := []bool{true, false, false, false}; !slices.Equal(splats, want) {
		t.Errorf("%v, want %v", splats, want)
	}
}

// What a loop writes into without anybody who reads it is not written any more.
func TestDropCarried(t *testing.T) {
	m := read(t, `func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<i32> {
  %0:2 = stablehlo.while(%k = %i, %v = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.tanh %v : tensor<4xf32>
      stablehlo.return %k, %1 : tensor<i32>, tensor<4xf32>
    }
  return %0#0 : tensor<i32>
}`)
	loop := m.DropCarried(m.OpsOf(m.Body(), ir.OpWhile)[0], []int{1})
	if n, ops := m.NumResults(loop), len(m.OpsOf(m.Body(), ir.OpTanh)); n != 1 || ops != 0 {
		t.Errorf("the loop has %d results and %d ops that write", n, ops)
	}
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Error(err)
	}
}

func read(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "carried.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func written(t *testing.T, m *ir.Module) string {
	t.Helper()
	text, err := mlir.Write(t.Context(), m, mlir.PrintOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
