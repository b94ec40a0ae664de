package conformance

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// What testdata says of outputs is what XLA gives on eight virtual devices. It is written by: go test ./backend/conformance -run Recorded
// -rewrite
func TestRecorded(t *testing.T) {
	t.Parallel()
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED are not set: they name a Python with jax and the folder of the oracle")
	}
	dir := t.TempDir()
	all := slices.DeleteFunc(sources(t), func(s *source) bool { return s.derived })
	for _, s := range all {
		writeProgram(t, unsharded(t, s), s.inputs, filepath.Join(dir, s.name))
	}
	out, err := exec.Command(python, filepath.Join("testdata", "xla.py"), filepath.Join(shared, "oracle"), dir).Output()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	recorded := map[string][]*tensor.Tensor{}
	for _, s := range all {
		recorded[s.name] = outputsOf(t, s, filepath.Join(dir, s.name+".out.npz"))
	}
	if flag.Lookup("rewrite").Value.String() != "true" {
		for _, s := range all {
			t.Run(s.name, func(t *testing.T) { compare(t, recorded[s.name], s.want, 0) })
		}
		return
	}
	datadriven.Walk(t, "testdata/programs", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if outputs := recorded[d.CmdArgs[0].Key]; outputs != nil {
				return formatTensors(outputs)
			}
			return d.Expected
		})
	})
}

// writeProgram writes a program and its inputs.
func writeProgram(t *testing.T, text string, inputs []*tensor.Tensor, path string) {
	t.Helper()
	var named []npz.Array
	for i, x := range inputs {
		named = append(named, npz.Array{Name: fmt.Sprint("arg", i), Tensor: *x})
	}
	var packed bytes.Buffer
	if err := npz.Write(&packed, named); err != nil {
		t.Fatal(err)
	}
	for suffix, data := range map[string][]byte{".mlir": []byte(text), ".in.npz": packed.Bytes()} {
		if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// unsharded returns the text of a program without shardings, which XLA computes whole on every device; that of a manual computation as it
// is.
func unsharded(t *testing.T, s *source) string {
	t.Helper()
	if s.differs {
		return s.text
	}
	m, err := mlir.Parse(t.Context(), []byte(s.text), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := m.MainFunc()
	for i, v := range m.BlockArgs(f.Body) {
		m.SetSharding(v, 0)
		f.ArgAttrs[i] = f.ArgAttrs[i].Without(ir.AliasAttr).Without(ir.DonorAttr)
	}
	return string(mlir.Print(m, mlir.PrintOptions{}))
}

// outputsOf reads the outputs of a program in its own types.
func outputsOf(t *testing.T, s *source, file string) (outputs []*tensor.Tensor) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Error(err)
		return nil
	}
	found, err := npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	for i, typ := range s.types {
		x := tensor.Convert(found[i].Tensor, typ.DType)
		outputs = append(outputs, &x)
	}
	return outputs
}

// perLine is how many elements a line of testdata has.
const perLine = 24

// formatTensors writes tensors as testdata has them: types, and the elements in order.
func formatTensors(list []*tensor.Tensor) string {
	var b strings.Builder
	for _, x := range list {
		b.WriteString(dtype.Format(x.DType, x.Shape))
		for k, v := range elements(x) {
			if k > 0 && k%perLine == 0 {
				b.WriteString("\n ")
			}
			b.WriteString(" " + v)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// elements returns the elements as text, complex ones as two numbers.
func elements(x *tensor.Tensor) (out []string) {
	switch x.DType.Kind() {
	case dtype.Float, dtype.Complex:
		bits := 32
		if x.DType == dtype.F64 || x.DType == dtype.C128 {
			bits = 64
		}
		for _, v := range parts(x) {
			out = append(out, strconv.FormatFloat(v, 'g', -1, bits))
		}
	case dtype.Unsigned:
		for _, v := range x.Ints() {
			out = append(out, strconv.FormatUint(uint64(v), 10))
		}
	default:
		for _, v := range x.Ints() {
			out = append(out, strconv.FormatInt(v, 10))
		}
	}
	return out
}
