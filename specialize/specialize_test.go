package specialize_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/specialize"
)

func parse(t testing.TB, text string) *ir.Module {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "test.mlir"})
	if err == nil {
		err = ir.Verify(t.Context(), m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

// Every dynamic op becomes its static form, with the sizes that its operands say.
func TestDynamicOps(t *testing.T) {
	m := parse(t, `
func.func @main(%x: tensor<?x4xf32>, %i: tensor<2xi32>, %k: tensor<3x4x5xf32>) -> (tensor<?xf32>, tensor<?x4xf32>, tensor<?x3xi32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<2x?xf32>, tensor<?x?x5xf32>, tensor<?x4xf32>, tensor<?xf32>) {
  %c1 = stablehlo.constant dense<1> : tensor<1xi32>
  %c4 = stablehlo.constant dense<4> : tensor<1xi32>
  %c3 = stablehlo.constant dense<3> : tensor<1xi32>
  %zeros = stablehlo.constant dense<0> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %pad = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %all = stablehlo.multiply %n1, %c4 : tensor<1xi32>
  %shape = stablehlo.concatenate %n1, %c4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_reshape %x, %all : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %zero, %shape, dims = [] {known_expanding_dimensions = array<i64>} : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %wide = stablehlo.concatenate %n1, %c3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = stablehlo.dynamic_iota %wide, dim = 1 : (tensor<2xi32>) -> tensor<?x3xi32>
  %high = stablehlo.concatenate %n1, %c1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %padded = stablehlo.dynamic_pad %x, %zero, %ones, %zeros, %zeros : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %4 = stablehlo.real_dynamic_slice %x, %zeros, %shape, %ones : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %bound = stablehlo.subtract %shape, %shape : tensor<2xi32>
  %at = stablehlo.clamp %zeros, %i, %bound : tensor<2xi32>
  %end = stablehlo.add %at, %shape : tensor<2xi32>
  %5 = stablehlo.real_dynamic_slice %x, %at, %end, %ones : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %rows = stablehlo.concatenate %c1, %c4, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %idx = stablehlo.reshape %i : (tensor<2xi32>) -> tensor<2x1xi32>
  %6 = "stablehlo.dynamic_gather"(%x, %idx, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<?x4xf32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x?xf32>
  %bx = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %bs = stablehlo.concatenate %bx, %c1, %c4, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
  %bi = stablehlo.dynamic_reshape %x, %bs : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
  %7 = "stablehlo.dynamic_conv"(%bi, %k, %pad) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<?x?x4xf32>, tensor<3x4x5xf32>, tensor<1x2xi32>) -> tensor<?x?x5xf32>
  %8 = stablehlo.dynamic_update_slice %x, %1, %n, %n : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<?x4xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x4xf32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1, %2, %4, %5, %6, %7, %8, %9 : tensor<?xf32>, tensor<?x4xf32>, tensor<?x3xi32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<2x?xf32>, tensor<?x?x5xf32>, tensor<?x4xf32>, tensor<?xf32>
}`)
	if _, err := specialize.Run(t.Context(), m, specialize.Options{Sizes: []specialize.Size{{Name: "arg0[0]", Value: 6}}}); err != nil {
		t.Fatal(err)
	}
	text := string(mlir.Print(m, mlir.PrintOptions{}))
	for _, want := range []string{
		"stablehlo.reshape %arg0 : (tensor<6x4xf32>) -> tensor<24xf32>",
		"stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x4xf32>",
		"stablehlo.iota dim = 1 : tensor<6x3xi32>",
		"stablehlo.slice %arg0 [0:6, 0:4]",
		"sizes = [6, 4] : (tensor<6x4xf32>, tensor<i32>, tensor<i32>) -> tensor<6x4xf32>",
		"slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>",
		"pad = [[1, 1]]",
		"-> tensor<6x1x5xf32>",
		"-> tensor<6xf32>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "?") || strings.Contains(text, "dynamic_reshape") || t.Failed() {
		t.Error(text)
	}
}

// A loop whose trip count is a size has a constant one afterwards, and a choice by size is made.
func TestControl(t *testing.T) {
	m := parse(t, `
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %c = %x) : tensor<i32>, tensor<?xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %d = stablehlo.tanh %c : tensor<?xf32>
    stablehlo.return %j, %d : tensor<i32>, tensor<?xf32>
  }
  %big = stablehlo.compare GT, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
  %1 = "stablehlo.if"(%big) ({
    stablehlo.return %f : tensor<f32>
  }, {
    %g = stablehlo.negate %f : tensor<f32>
    stablehlo.return %g : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0#1, %1 : tensor<?xf32>, tensor<f32>
}`)
	if _, err := specialize.Run(t.Context(), m, specialize.Options{Sizes: []specialize.Size{{Name: "arg0[0]", Value: 5}}}); err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	m.Walk(m.Func(main).Body, func(op ir.OpID) {
		if m.Kind(op) == ir.OpWhile {
			if n, ok := ir.TripCount(m, op); !ok || n != 5 {
				t.Errorf("the loop runs %d times, %v", n, ok)
			}
		}
	})
	text := string(mlir.Print(m, mlir.PrintOptions{}))
	if strings.Contains(text, "stablehlo.if") || strings.Contains(text, "negate") || strings.Contains(text, "?") {
		t.Error(text)
	}
}

// What cannot be static is located, and says why.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		op, want string
		class    error
		size     int64
	}{
		{"%0 = stablehlo.dynamic_reshape %x, %i : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>", "depends on data", diag.ErrUnsupported,
			3},
		{"%0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<?x4xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>",
			"contracting", diag.ErrInvalid, 3},
		{`%0:2 = stablehlo.custom_call @some(%x) : (tensor<?x4xf32>) -> (tensor<?xf32>, tensor<2xf32>)`, "not known for this op",
			diag.ErrUnsupported, 3},
		{`%0 = stablehlo.custom_call @some(%x, %i) {indices_of_shape_operands = dense<0> : tensor<1xi64>} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x?xf32>`,
			"must be its last operands", diag.ErrInvalid, 3},
		{"%0 = stablehlo.slice %x [0:5, 0:4] : (tensor<?x4xf32>) -> tensor<5x4xf32>", "limit", diag.ErrInvalid, 3},
	} {
		m := parse(t, "func.func @main(%x: tensor<?x4xf32>, %y: tensor<5x4xf32>, %i: tensor<2xi32>) {\n  "+c.op+"\n  return\n}")
		_, err := specialize.Run(t.Context(), m, specialize.Options{Sizes: []specialize.Size{{Name: "arg0[0]", Value: c.size}}})
		d := diag.Diagnostics(err)
		if !errors.Is(err, c.class) || len(d) == 0 || d[0].Pos.Line != 2 || !strings.Contains(d[0].Message, c.want) {
			t.Errorf("%s: %v, want %q", c.op, err, c.want)
		}
	}
}

// A dimension that is an affine or rounded expression of a variable is found from it, whatever the numbers.
func TestSolve(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		factor, offset := rapid.Int64Range(1, 9).Draw(r, "factor"), rapid.Int64Range(0, 9).Draw(r, "offset")
		b := rapid.Int64Range(1, 100_000).Draw(r, "b")
		m := parse(t, `
func.func public @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %f = stablehlo.constant dense<`+text(factor)+`> : tensor<i32>
  %o = stablehlo.constant dense<`+text(offset)+`> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %1 = stablehlo.subtract %0, %o : tensor<i32>
  %2 = stablehlo.divide %1, %f : tensor<i32>
  %3 = stablehlo.remainder %1, %f : tensor<i32>
  %4 = stablehlo.compare EQ, %3, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%4, %3) {error_message = "remainder {0}"} : (tensor<i1>, tensor<i32>) -> ()
  %5 = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %6 = stablehlo.divide %2, %f : tensor<i32>
  %7 = stablehlo.compare EQ, %5, %6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%7, %5, %6) {error_message = "{0} is not {1}"} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
  %8 = call @wrapped(%2, %x) : (tensor<i32>, tensor<?xf32>) -> tensor<f32>
  return %8 : tensor<f32>
}
func.func private @wrapped(%b: tensor<i32> {jax.global_constant = "b"}, %x: tensor<?xf32>) -> tensor<f32> {
  %0 = stablehlo.convert %b : (tensor<i32>) -> tensor<f32>
  return %0 : tensor<f32>
}`)
		_, err := specialize.Run(t.Context(), m, specialize.Options{Sizes: []specialize.Size{{Name: "b", Value: b}}})
		if err != nil {
			r.Fatal(err)
		}
		main, _ := m.Main()
		args := m.BlockArgs(m.Func(main).Body)
		got := [][]int64{m.Shape(args[0]), m.Shape(args[1])}
		if want := [][]int64{{factor*b + offset}, {b / factor}}; !cmp.Equal(got, want) {
			r.Fatalf("sizes %v, want %v", got, want)
		}
	})
}
