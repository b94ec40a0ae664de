package estimate_test

import (
	"context"
	"fmt"
	"testing"

	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/ir/mlir"
)

// multiplications returns half of the operations of a program's first op.
func multiplications(t testing.TB, text string) float64 {
	m, op := first(t, text)
	return estimate.WorkOf(m, op, shapes(m, m.Operands(op)), shapes(m, m.ResultValues(op)), make([]bool, m.NumValues())).FLOPs / 2
}

func first(t testing.TB, text string) (*ir.Module, ir.OpID) {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{File: "product"})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m, m.FirstOp(m.MainFunc().Body)
}

func shapes(m *ir.Module, values []ir.ValueID) (out [][]int64) {
	for _, v := range values {
		out = append(out, m.Shape(v))
	}
	return out
}

// Products multiply what they have in common as often as there are rows and columns, whatever op they are.
func TestProducts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       float64
	}{
		{"a part of a head", dot("2x8x64x2xf32", "2x8x32x2xf32", "2x8x64x32xf32",
			"batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]"),
			16 * 64 * 32 * 2},
		{"heads together", dot("256x4x64xf32", "4x64x512xf32", "256x512xf32", "contracting_dims = [1, 2] x [0, 1]"),
			256 * 512 * 256},
		{"a vector", dot("8x1x64xf32", "8x64x32xf32", "8x1x32xf32", "batching_dims = [0] x [0], contracting_dims = [2] x [1]"),
			8 * 64 * 32},
		{"a matrix", `func.func @main(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %0 = "stablehlo.dot"(%a, %b) : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}`, 3 * 5 * 7},
		{"a window of two groups", `func.func @main(%a: tensor<2x8x8x6xf32>, %b: tensor<3x3x3x16xf32>) -> tensor<2x6x6x16xf32> {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x8x8x6xf32>, tensor<3x3x3x16xf32>) -> tensor<2x6x6x16xf32>
  return %0 : tensor<2x6x6x16xf32>
}`, 2 * 6 * 6 * 16 * 27},
		{"groups of rows", `func.func @main(%a: tensor<32x16xf32>, %b: tensor<4x16x24xf32>, %c: tensor<4xi64>) -> tensor<32x24xf32> {
  %0 = "chlo.ragged_dot"(%a, %b, %c) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1],
    rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
    : (tensor<32x16xf32>, tensor<4x16x24xf32>, tensor<4xi64>) -> tensor<32x24xf32>
  return %0 : tensor<32x24xf32>
}`, 32 * 16 * 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := multiplications(t, c.text); got != c.want {
				t.Errorf("%v multiplications, want %v", got, c.want)
			}
		})
	}
}

func dot(a, b, result, dims string) string {
	return fmt.Sprintf(`func.func @main(%%a: tensor<%[1]s>, %%b: tensor<%[2]s>) -> tensor<%[3]s> {
  %%0 = stablehlo.dot_general %%a, %%b, %[4]s : (tensor<%[1]s>, tensor<%[2]s>) -> tensor<%[3]s>
  return %%0 : tensor<%[3]s>
}`, a, b, result, dims)
}
