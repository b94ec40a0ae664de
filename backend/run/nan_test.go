package run_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

// An op that makes NaN of numbers is found, with the first element; one that passes NaN on, and a constant, are not.
func TestNoNaNs(t *testing.T) {
	nan := math.NaN()
	numbers, some := tensor.FromFloats(dtype.F32, []int64{2, 2}, 1, 2, 3, 4), tensor.FromFloats(dtype.F32, []int64{2, 2}, 1, nan, nan, 4)
	part := tensor.Complex(numbers, some)
	for _, c := range []struct {
		operands []tensor.Tensor
		result   tensor.Tensor
		want     string
	}{
		{[]tensor.Tensor{numbers}, numbers, ""},
		{[]tensor.Tensor{numbers, some}, some, ""},
		{nil, some, ""},
		{[]tensor.Tensor{numbers}, tensor.FromInts(dtype.I32, nil, 1), ""},
		{[]tensor.Tensor{numbers}, some, "2 of 4 elements of f32[2,2] are NaN, the first at [0, 1]"},
		{[]tensor.Tensor{numbers}, part, "2 of 4 elements of complex<f32>[2,2] are NaN, the first at [0, 1]"},
	} {
		err := run.NoNaNs(nil, 0, &interp.Step{Operands: c.operands, Results: []tensor.Tensor{c.result}})
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, diag.ErrFinding) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v of %v: %v, want %q", c.result, c.operands, err, c.want)
		}
	}
	err := run.NoNaNInputs([]*tensor.Tensor{&numbers, &some})
	if !errors.Is(err, diag.ErrInvalid) || !strings.Contains(err.Error(), "input 1: 2 of 4") {
		t.Errorf("inputs: %v", err)
	}
}
