package interp

import (
	"errors"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// An operand of fewer dimensions has those that broadcast_dimensions says, also where the trailing ones would fit.
func TestBroadcastDimensions(t *testing.T) {
	x, y := tensor.FromInts(dtype.I32, []int64{2, 2}, 1, 2, 3, 4), tensor.FromInts(dtype.I32, []int64{2}, 10, 20)
	for attrs, want := range map[string][]int64{
		"": {11, 22, 13, 24}, "{broadcast_dimensions = array<i64: 1>}": {11, 22, 13, 24},
		"{broadcast_dimensions = array<i64: 0>}": {11, 12, 23, 24},
	} {
		got, err := runText(t, `func.func @main(%x: tensor<2x2xi32>, %y: tensor<2xi32>) -> tensor<2x2xi32> {
  %0 = chlo.broadcast_add %y, %x `+attrs+` : (tensor<2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}`, &x, &y)
		if err != nil || !got.Equal(tensor.FromInts(dtype.I32, []int64{2, 2}, want...)) {
			t.Errorf("%s gives %v %v, want %v", attrs, got, err, want)
		}
	}
}

// What verification lets pass although nothing is defined for its elements is an error, not a panic.
func TestElementsWithoutMeaning(t *testing.T) {
	x := tensor.New(dtype.C64, nil)
	i := tensor.New(dtype.I32, nil)
	for _, c := range []struct {
		text string
		x    *tensor.Tensor
	}{
		{"stablehlo.remainder %x, %x : tensor<complex<f32>>", &x},
		{"chlo.bessel_i1e %x : tensor<complex<f32>> -> tensor<complex<f32>>", &x},
		{"chlo.broadcast_remainder %x, %x : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>", &x},
		{"chlo.broadcast_atan2 %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>", &i},
	} {
		typ := "tensor<" + c.x.DType.String() + ">"
		_, err := runText(t, "func.func @main(%x: "+typ+") -> "+typ+" {\n  %0 = "+c.text+"\n  return %0 : "+typ+"\n}", c.x)
		if !errors.Is(err, diag.ErrUnsupported) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// runText runs a program with one result.
func runText(t *testing.T, text string, args ...*tensor.Tensor) (tensor.Tensor, error) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	results, err := in.Run(t.Context(), main, args)
	if err != nil {
		return tensor.Tensor{}, err
	}
	return *results[0], nil
}
