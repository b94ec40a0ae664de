package autoshard_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// The programs of testdata/emit are global programs with collectives, on eight devices or six; what is printed are the
// specifications, the mesh and the per-device function of the emitted file. Rewrite with: go test . -run Emit -rewrite
func TestEmitCollectives(t *testing.T) {
	for _, file := range emittedPrograms {
		datadriven.RunTest(t, file, emitCollectives)
	}
}

// emittedPrograms are programs with all kinds of collectives, with ops that fetch of neighbouring blocks, with collective matmuls, and with
// inputs and outputs that are stored padded.
var emittedPrograms = []string{"testdata/emit/collectives", "testdata/emit/neighbours", "testdata/emit/rings", "testdata/emit/padded"}

func emitCollectives(t *testing.T, d *datadriven.TestData) string {
	text, err := lowered(t, &autoshard.Plan{Program: d.Input}).Emit(t.Context(), "jax")
	if err != nil {
		return err.Error() + "\n"
	}
	var out []string
	for i, part := range strings.Split(string(text), "\n\n\n") {
		if i == 0 {
			out = append(out, part[strings.Index(part, "IN_SPECS"):])
		} else if strings.HasPrefix(part, "def make_mesh") || strings.HasPrefix(part, "def per_device") {
			out = append(out, part)
		}
	}
	return strings.Join(out, "\n\n") + "\n"
}

// On JAX the emitted programs give what our devices give.
func TestEmitCollectivesRun(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax")
	}
	dir := t.TempDir()
	var files []string
	var wanted [][]*tensor.Tensor
	prepare := func(t *testing.T, d *datadriven.TestData) string {
		plan := &autoshard.Plan{Program: d.Input}
		text, err := lowered(t, plan).Emit(t.Context(), "jax")
		if err != nil {
			return d.Expected
		}
		in := randomInputs(t, d.Input)
		want, err := lowered(t, plan).Run(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, fmt.Sprintf("p%d.py", len(files)))
		for name, data := range map[string][]byte{file: text, file + ".in.npz": archive(t, "arg", in)} {
			if err := os.WriteFile(name, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		files, wanted = append(files, file), append(wanted, want.Outputs)
		return d.Expected
	}
	for _, file := range emittedPrograms {
		datadriven.RunTest(t, file, prepare)
	}
	runEmitted(t, python, files)
	for i, file := range files {
		if text, err := os.ReadFile(file + ".error"); err == nil {
			t.Error(string(text))
			continue
		}
		data, err := os.ReadFile(file + ".out.npz")
		if err != nil {
			t.Fatal(err)
		}
		got, err := npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
		if err != nil {
			t.Fatal(err)
		}
		for k, want := range wanted[i] {
			for j, v := range want.Floats() {
				if d := got[k].Tensor.Floats()[j] - v; d > 1e-4 || d < -1e-4 {
					t.Fatalf("program %d: element %d of output %d is %g, not %g", i, j, k, got[k].Tensor.Floats()[j], v)
				}
			}
		}
	}
}

// archive returns tensors as the bytes of a .npz file in which their names are numbered.
func archive(t *testing.T, name string, tensors []*tensor.Tensor) []byte {
	t.Helper()
	named := make([]npz.Array, len(tensors))
	for i, x := range tensors {
		named[i] = npz.Array{Name: fmt.Sprintf("%s%d", name, i), Tensor: *x}
	}
	var b bytes.Buffer
	if err := npz.Write(&b, named); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// randomInputs returns arrays of small numbers for a program's arguments.
func randomInputs(t *testing.T, text string) []*tensor.Tensor {
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	var out []*tensor.Tensor
	for _, v := range m.BlockArgs(m.Func(main).Body) {
		values := make([]float64, m.ValueType(v).Elements())
		for i := range values {
			values[i] = float64((i*7+3)%11)/8 - 0.5
		}
		x := tensor.FromFloats(dtype.F32, m.Shape(v), values...)
		out = append(out, &x)
	}
	return out
}
