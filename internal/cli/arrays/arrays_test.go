package arrays

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/ir/dtype"
)

var streams = cmdline.New(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{})

func write(t *testing.T, file string, named ...npz.Array) {
	t.Helper()
	var b bytes.Buffer
	if err := npz.Write(&b, named); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func program(in, out string) *autoshard.Program {
	return &autoshard.Program{Inputs: []autoshard.Tensor{{Type: in}}, Outputs: []autoshard.Tensor{{Type: out}}}
}

// What is recorded beside a model is found: by the manifest first, then by name.
func TestBeside(t *testing.T) {
	dir := t.TempDir()
	x := tensor.FromFloats(dtype.F32, []int64{2}, 1, 2)
	for _, name := range []string{"a.in.npz", "b.in.npz"} {
		write(t, filepath.Join(dir, name), npz.Array{Name: "arg0", Tensor: x})
	}
	for _, name := range []string{"a.out.npz", "b.out.npz", "lonely.out.npz"} {
		write(t, filepath.Join(dir, name), npz.Array{Name: "out0", Tensor: x})
	}
	manifest := `[{"file": "m.mlir", "inputs_file": "a.in.npz", "expected_file": "a.out.npz", "tolerance": 0.25, "about": "x"}]`
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	for model, want := range map[string]Data{
		"m.mlir":      {Tolerance: autoshard.Tolerance{Rel: 0.25}, Source: "DIR/a.in.npz, expected outputs DIR/a.out.npz, tolerance 0.25"},
		"m.mlir.gz":   {Tolerance: autoshard.Tolerance{Rel: 0.25}, Source: "DIR/a.in.npz, expected outputs DIR/a.out.npz, tolerance 0.25"},
		"b.mlir":      {Tolerance: autoshard.Tolerance{Rel: 1e-4}, Source: "DIR/b.in.npz, expected outputs DIR/b.out.npz, tolerance 0.0001"},
		"lonely.mlir": {Tolerance: autoshard.Tolerance{Rel: 1e-4}, Source: "random, of seed 9"},
	} {
		got, err := Find(t.Context(), streams, &config.Config{Seed: 9, RTol: -1}, Of(program("f32[2]", "f32[2]")), filepath.Join(dir, model))
		if err != nil {
			t.Fatal(err)
		}
		if source := strings.ReplaceAll(got.Source, dir, "DIR"); source != want.Source || got.Tolerance != want.Tolerance {
			t.Errorf("%s: %q, tolerance %v", model, source, got.Tolerance)
		}
	}
}

// NumPy has no bf16 and no i4: arrays are converted, but nothing else is.
func TestConversion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "in.npz")
	write(t, file, npz.Array{Name: "arg0", Tensor: tensor.FromFloats(dtype.F32, []int64{2}, 1.5, -2)})
	c := &config.Config{Inputs: file, RTol: -1}
	got, err := Find(t.Context(), streams, c, Of(program("bf16[2]", "f32[2]")), "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float64{1.5, -2}, got.Inputs[0].Floats()); d != "" || got.Inputs[0].DType != dtype.BF16 {
		t.Errorf("%v %s", got.Inputs[0], d)
	}
	for _, want := range []string{"i32[2]", "f32[3]", "f32[2,1]"} {
		_, err := Find(t.Context(), streams, c, Of(program(want, "f32[2]")), "")
		if diag.ExitCode(err) != diag.ExitInvalid || !strings.Contains(err.Error(), "type is f32[2], must be "+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Arrays come from a file with one array, from safetensors, and from all of these that a directory has, by the program's own names, too.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	x, y := tensor.FromFloats(dtype.F32, []int64{2}, 1, 2), tensor.FromFloats(dtype.F32, []int64{1}, 3)
	save := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var one bytes.Buffer
	if err := npz.WriteNpy(&one, x); err != nil {
		t.Fatal(err)
	}
	save("params['w'].npy", one.Bytes())
	header := `{"arg1": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}`
	save("rest.safetensors", append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header+string(y.Data)...))
	save("README.md", []byte("not arrays"))

	both := Ports{Inputs: []autoshard.Tensor{{Name: "params['w']", Type: "f32[2]"}, {Name: "x", Type: "f32[1]"}}}
	alone := Ports{Inputs: both.Inputs[:1]}
	for file, ports := range map[string]Ports{".": both, "params['w'].npy": alone} {
		got, err := Find(t.Context(), streams, &config.Config{Inputs: filepath.Join(dir, file), RTol: -1}, ports, "")
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []tensor.Tensor{x, y}[:len(ports.Inputs)] {
			if !got.Inputs[i].Equal(want) {
				t.Errorf("%s: input %d is %v", file, i, got.Inputs[i])
			}
		}
	}
	_, err := Find(t.Context(), streams, &config.Config{Inputs: filepath.Join(dir, "rest.safetensors"), RTol: -1}, both, "")
	if diag.ExitCode(err) != diag.ExitInvalid || !strings.Contains(err.Error(), "array `arg0` is missing") {
		t.Errorf("half of the inputs: %v", err)
	}
}
