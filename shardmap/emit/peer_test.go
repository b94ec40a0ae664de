package emit_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/ir/dtype"
)

// peer returns the Python with jax, or skips the test.
func peer(t *testing.T) string {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax that runs the emitted files")
	}
	return python
}

// runPython runs emitted files in one process. Each file's outputs, or what went wrong, lie beside it afterwards.
func runPython(t *testing.T, python string, files []string) {
	t.Helper()
	script, err := filepath.Abs("testdata/run.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{script}, files...)...)
	cmd.Env = append(os.Environ(), "JAX_PLATFORMS=cpu")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// outputs reads what a file gave.
func outputs(t *testing.T, file string) []npz.Array {
	t.Helper()
	if text, err := os.ReadFile(file + ".error"); err == nil {
		if strings.Contains(string(text), "need a newer JAX") {
			t.Skip("the JAX at AUTOSHARD_PYTHON is too old for this program")
		}
		t.Fatal(string(text))
	}
	data, err := os.ReadFile(file + ".out.npz")
	if err != nil {
		t.Fatal(err)
	}
	arrays, err := npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	return arrays
}

// agree compares two tensors: numbers within what the element type allows, or the tolerance, others exactly.
func agree(got, want *tensor.Tensor, t dtype.Type, tolerance float64) error {
	if !slices.Equal(got.Shape, want.Shape) || got.DType != want.DType {
		return fmt.Errorf("%s%v is not %s%v", got.DType, got.Shape, want.DType, want.Shape)
	}
	limit := 0.0
	switch {
	case t.Kind() == dtype.Float && t.Mantissa() < 7:
		limit = math.Pow(2, -float64(t.Mantissa()))
	case t == dtype.F64 || t == dtype.C128:
		limit = 1e-9
	case t == dtype.F32 || t == dtype.C64:
		limit = 1e-4
	case t.Kind() == dtype.Float:
		limit = 2e-2
	}
	limit = max(limit, tolerance)
	a, b := parts(got), parts(want)
	for k := range b {
		same := a[k] == b[k] || math.IsNaN(a[k]) && math.IsNaN(b[k])
		if !same && !(math.Abs(a[k]-b[k]) <= limit*max(1, math.Abs(b[k]))) {
			return fmt.Errorf("element %d is %v, not %v", k, a[k], b[k])
		}
	}
	return nil
}

// parts returns the elements, complex ones as two numbers.
func parts(x *tensor.Tensor) []float64 {
	switch x.DType {
	case dtype.C64:
		x = &tensor.Tensor{DType: dtype.F32, Shape: []int64{int64(2 * x.Len())}, Data: x.Data}
	case dtype.C128:
		x = &tensor.Tensor{DType: dtype.F64, Shape: []int64{int64(2 * x.Len())}, Data: x.Data}
	}
	return x.Floats()
}

// narrow converts a tensor to the type that files have it in.
func narrow(x *tensor.Tensor) *tensor.Tensor {
	t := x.DType
	switch {
	case t.Kind() == dtype.Float && t.Bits() < 32 && t != dtype.F16:
		t = dtype.F32
	case t.Kind() == dtype.Signed && t.Bits() < 8:
		t = dtype.I8
	case t.Kind() == dtype.Unsigned && t.Bits() < 8:
		t = dtype.UI8
	}
	y := tensor.Convert(*x, t)
	return &y
}
