package emit_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap/emit"
)

var all = flag.Bool("all", false, "run all self-checking programs, not a sample")

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

// programs returns the self-checking programs by name.
func programs(t *testing.T) map[string][]byte {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the conformance programs")
	}
	f, err := os.Open(filepath.Join(shared, "conformance", "stablehlo_dev.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if base, ok := strings.CutSuffix(filepath.Base(h.Name), ".mlir"); ok {
			out[base] = data
		}
	}
}

// returnChecks makes main return what its checks compare, in pairs, in place of its results. It returns the tolerance of
// each check, 0 where none is given.
func returnChecks(m *ir.Module) (tolerances []float64) {
	main, _ := m.Main()
	f := m.Func(main)
	end := m.LastOp(f.Body)
	var values []ir.ValueID
	for op := range m.Ops(f.Body) {
		name := m.OpName(op)
		if m.Kind(op) == ir.OpCustomCall {
			name = m.OpAttrs(op).Str("call_target_name")
		}
		if !strings.HasPrefix(name, "check.expect") || strings.HasSuffix(name, "serialized_eq") {
			continue
		}
		tolerance := 0.0
		if a, ok := m.Attr(op, "tolerance").(ir.FloatAttr); ok {
			tolerance = dtype.Decode(m.TypeOf(a.Type).DType, a.Bits)
		}
		tolerances = append(tolerances, tolerance)
		values = append(values, m.Operand(op, 0))
		if m.NumOperands(op) == 2 {
			values = append(values, m.Operand(op, 1))
			continue
		}
		d := m.Attr(op, "value").(*ir.Dense)
		values = append(values, m.BuilderBefore(end).Op1(ir.OpConstant, d.Type, ir.MakeAttrs(ir.NamedAttr{Name: "value", Value: d})))
	}
	m.BuilderBefore(end).Op(ir.OpReturn, nil, nil, values...)
	m.Erase(end)
	f.ResultTypes, f.ResultAttrs, f.ResultShardings = nil, make([]ir.Attrs, len(values)), make([]ir.ShardingID, len(values))
	for _, v := range values {
		f.ResultTypes = append(f.ResultTypes, m.Type(v))
	}
	return tolerances
}

// Every self-checking program for one device becomes a Python file that gives what the program expects of itself.
// All of them: go test ./shardmap/emit -run SelfChecks -all
func TestSelfChecks(t *testing.T) {
	python, sources := peer(t), programs(t)
	var names []string
	for name := range sources {
		names = append(names, name)
	}
	slices.Sort(names)
	dir := t.TempDir()
	var files []string
	types, tolerances := map[string][]ir.Type{}, map[string][]float64{}
	for i, name := range names {
		if !*all && i%12 != 0 {
			continue
		}
		m, err := mlir.Parse(t.Context(), sources[name], mlir.Options{File: name + ".mlir"})
		if err != nil {
			t.Fatal(err)
		}
		limits := returnChecks(m)
		if len(limits) == 0 {
			t.Logf("%s: no check in main", name)
			continue
		}
		text, err := emit.Python(t.Context(), &emit.Program{Title: name, Whole: m})
		if err != nil {
			if !errors.Is(err, diag.ErrUnsupported) {
				t.Errorf("%s: %v", name, err)
			} else {
				t.Logf("%s: %v", name, err)
			}
			continue
		}
		file := filepath.Join(dir, name+".py")
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		files, tolerances[file] = append(files, file), limits
		main, _ := m.Main()
		for _, id := range m.Func(main).ResultTypes {
			types[file] = append(types[file], *m.TypeOf(id))
		}
	}
	runPython(t, python, files)
	passed := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		if t.Run(name, func(t *testing.T) {
			got := outputs(t, file)
			for i := 0; i+1 < len(got); i += 2 {
				if err := agree(&got[i].Tensor, &got[i+1].Tensor, types[file][i].DType, tolerances[file][i/2]); err != nil {
					t.Errorf("check %d: %v", i/2, err)
				}
			}
		}) {
			passed++
		}
	}
	t.Logf("%d of %d programs pass", passed, len(files))
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
