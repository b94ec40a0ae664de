package conformance

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
)

// parts returns the elements, complex ones as two numbers.
func parts(x *tensor.Tensor) []float64 {
	if part := x.DType.Part(); part != x.DType {
		x = &tensor.Tensor{DType: part, Shape: []int64{int64(2 * x.Len())}, Data: x.Data}
	}
	return x.Floats()
}

// parseTensors reads outputs: types, and the elements in order, complex ones as two numbers.
func parseTensors(t *testing.T, text string) (list []*tensor.Tensor) {
	t.Helper()
	words := strings.Fields(text)
	for len(words) > 0 {
		typ, dims, ok := dtype.ParseTensor(words[0])
		if !ok {
			t.Fatalf("%q is no type of a tensor", words[0])
		}
		words = words[1:]
		end := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "[") })
		if end < 0 {
			end = len(words)
		}
		list = append(list, parseElements(t, typ, dims, words[:end]))
		words = words[end:]
	}
	return list
}

func parseElements(t *testing.T, typ dtype.Type, dims []int64, words []string) *tensor.Tensor {
	t.Helper()
	x := tensor.New(typ, dims)
	var err error
	switch typ.Kind() {
	case dtype.Float, dtype.Complex:
		values := make([]float64, len(words))
		for k := range words {
			if values[k], err = strconv.ParseFloat(words[k], 64); err != nil {
				t.Fatal(err)
			}
		}
		x.Data = tensor.FromFloats(typ.Part(), []int64{int64(len(values))}, values...).Data
	default:
		values := make([]int64, len(words))
		for k := range words {
			if values[k], err = parseInteger(words[k]); err != nil {
				t.Fatal(err)
			}
		}
		x.Data = tensor.FromInts(typ, []int64{int64(len(values))}, values...).Data
	}
	return &x
}

// parseInteger reads a number of 64 bits with or without a sign.
func parseInteger(word string) (int64, error) {
	if strings.HasPrefix(word, "-") {
		return strconv.ParseInt(word, 10, 64)
	}
	v, err := strconv.ParseUint(word, 10, 64)
	return int64(v), err
}

// compare demands that outputs are what is wanted, in the types that are wanted.
func compare(t *testing.T, got, want []*tensor.Tensor, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d outputs, want %d", len(got), len(want))
	}
	for i := range want {
		if err := differ(got[i], want[i], tolerance); err != nil {
			t.Errorf("output %d: %v", i, err)
		}
	}
}

// differ says how two tensors differ: numbers by more than their type makes of the order of sums, or than a tolerance, others at all.
func differ(got, want *tensor.Tensor, tolerance float64) error {
	if !slices.Equal(got.Shape, want.Shape) {
		return fmt.Errorf("has shape %v, want %v", got.Shape, want.Shape)
	}
	if t := got.DType; t != want.DType && t != inFiles(want.DType) {
		return fmt.Errorf("has elements of type %s, want %s", t, want.DType)
	}
	x := tensor.Convert(*got, want.DType)
	if want.DType.Kind() != dtype.Float && want.DType.Kind() != dtype.Complex {
		a, b := x.Ints(), want.Ints()
		for k := range b {
			if a[k] != b[k] {
				return fmt.Errorf("element %d is %d, want %d", k, a[k], b[k])
			}
		}
		return nil
	}
	limit := max(tolerance, rounding(want.DType.Part()))
	a, b := parts(&x), parts(want)
	for k := range b {
		same := a[k] == b[k] || math.IsNaN(a[k]) && math.IsNaN(b[k])
		if !same && !(math.Abs(a[k]-b[k]) <= limit*max(1, math.Abs(b[k]))) {
			return fmt.Errorf("element %d is %v, want %v", k, a[k], b[k])
		}
	}
	return nil
}

// rounding is what numbers of a type may differ by where sums have another order or functions another polynomial, relative to a number
// and to 1.
func rounding(t dtype.Type) float64 {
	switch {
	case t == dtype.F64:
		return 1e-9
	case t == dtype.F32:
		return 1e-5
	case t == dtype.F16 || t == dtype.BF16: // sums of such numbers round after every term
		return 4 * math.Pow(2, -float64(t.Mantissa()))
	}
	return math.Pow(2, -float64(t.Mantissa()))
}

// inFiles returns the type that NumPy's files have for one that NumPy has not.
func inFiles(t dtype.Type) dtype.Type {
	switch kind := t.Kind(); {
	case kind == dtype.Float && t.Bits() < 32 && t != dtype.F16:
		return dtype.F32
	case kind == dtype.Signed && t.Bits() < 8:
		return dtype.I8
	case kind == dtype.Unsigned && t.Bits() < 8:
		return dtype.UI8
	}
	return t
}

// inType returns a tensor in a type of a program, of which files have another one.
func inType(x *tensor.Tensor, t dtype.Type) *tensor.Tensor {
	y := tensor.Convert(*x, t)
	return &y
}
