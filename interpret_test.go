package autoshard_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// doubled gives back its second argument and the first element of its first twice.
const doubled = `func.func @main(%p: tuple<tensor<2xf32>, tensor<i32>>, %t: !stablehlo.token, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.get_tuple_element %p[0] : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  %1 = stablehlo.slice %0 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
  %3 = stablehlo.add %2, %2 : tensor<f32>
  return %x, %3 : tensor<f32>, tensor<f32>
}`

// An interpreter takes the elements of tuples one by one and no tokens, and compares what it gives with what is expected.
func TestInterpreter(t *testing.T) {
	model, err := autoshard.ReadModel(t.Context(), "doubled.mlir", []byte(doubled))
	if err != nil {
		t.Fatal(err)
	}
	in, err := model.Interpreter()
	if err != nil {
		t.Fatal(err)
	}
	types := ""
	for _, p := range slices.Concat(in.Inputs, in.Outputs) {
		types += " " + p.Type
	}
	if types != " f32[2] i32[] f32[] f32[] f32[]" {
		t.Errorf("inputs and outputs are%s", types)
	}
	pair, one, x := tensor.FromFloats(dtype.F32, []int64{2}, 3, 4), tensor.FromInts(dtype.I32, nil, 1), tensor.FromFloats(dtype.F32, nil, 5)
	inputs := []*tensor.Tensor{&pair, &one, &x}
	result, err := in.Run(t.Context(), inputs, autoshard.RunOptions{})
	if err != nil || result.Outputs[0].String() != "f32[] 5" || result.Outputs[1].String() != "f32[] 6" {
		t.Fatalf("%v, %v", result, err)
	}
	six, tolerance := tensor.FromFloats(dtype.F32, nil, 6), autoshard.Tolerance{Rel: 1e-6}
	if check, err := in.Compare(t.Context(), result, inputs, []*tensor.Tensor{&x, &six}, tolerance); err != nil || !check.Passed {
		t.Errorf("%v", err)
	}
	check, err := in.Compare(t.Context(), result, inputs, []*tensor.Tensor{&six, &six}, tolerance)
	if !errors.Is(err, autoshard.ErrFinding) || check.Outputs[0].Passed || !check.Outputs[1].Passed {
		t.Errorf("%v", err)
	}
	if _, err := in.Run(t.Context(), inputs[:2], autoshard.RunOptions{}); !errors.Is(err, autoshard.ErrInvalid) {
		t.Errorf("without the last input: %v", err)
	}
}

// A check that does not hold is an error with the place of the check and the first element that differs.
func TestInterpreterLocatesChecks(t *testing.T) {
	model, err := autoshard.ReadModel(t.Context(), "wrong.mlir", []byte(`func.func @main() {
  %0 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_eq_const %0, dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_eq_const %0, dense<[1, 5, 4]> : tensor<3xi32>
  return
}`))
	if err != nil {
		t.Fatal(err)
	}
	in, err := model.Interpreter()
	if err != nil {
		t.Fatal(err)
	}
	_, err = in.Run(t.Context(), nil, autoshard.RunOptions{})
	found := diag.Diagnostics(err)
	if !errors.Is(err, autoshard.ErrFinding) || len(found) != 1 || found[0].Pos.Line != 4 ||
		!strings.Contains(found[0].Message, "2 of 3 elements differ, first at [1]: 2 and 5") {
		t.Errorf("got %v", err)
	}
	two, err := autoshard.ReadModel(t.Context(), "two.mlir", []byte("func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Interpreter(); !errors.Is(err, autoshard.ErrInvalid) || !strings.Contains(err.Error(), "two.mlir") {
		t.Errorf("of two functions: %v", err)
	}
}
