package arrays

import (
	"bytes"
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

// Random inputs exist for all types, are the same for the same seed, and stay in their ranges.
func TestRandom(t *testing.T) {
	for dt := dtype.I1; dt <= dtype.C128; dt++ {
		name := dt.String() + "[3,5]"
		tensors := []autoshard.Tensor{{Type: name}, {Type: name}}
		a, err := random(tensors, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, _ := random(tensors, 1)
		if !a[0].Equal(*b[0]) || a[0].DType != dt || a[0].Len() != 15 {
			t.Errorf("%s: the same seed gives %v and %v", name, a[0], b[0])
		}
		if dt.Bits() > 8 && a[0].Equal(*a[1]) {
			t.Errorf("%s: both inputs are %v", name, a[0])
		}
		for _, v := range a[0].Floats() {
			if !(v >= 0 && v <= 3) {
				t.Errorf("%s holds %v", name, v)
			}
		}
	}
}

func TestRandomLimits(t *testing.T) {
	for text, want := range map[string]error{"f32[1000000,1000000]": diag.ErrTooLarge, "!stablehlo.token": diag.ErrUnsupported,
		"f32[99999999999999999999]": diag.ErrUnsupported, "i8[9223372036854775807,9]": diag.ErrTooLarge} {
		_, err := random([]autoshard.Tensor{{Type: text}}, 0)
		if diag.ExitCode(err) != diag.ExitCode(want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

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
		got, err := Find(t.Context(), streams, &config.Config{Seed: 9, RTol: -1}, program("f32[2]", "f32[2]"), filepath.Join(dir, model))
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
	got, err := Find(t.Context(), streams, c, program("bf16[2]", "f32[2]"), "")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]float64{1.5, -2}, got.Inputs[0].Floats()); d != "" || got.Inputs[0].DType != dtype.BF16 {
		t.Errorf("%v %s", got.Inputs[0], d)
	}
	for _, want := range []string{"i32[2]", "f32[3]", "f32[2,1]"} {
		_, err := Find(t.Context(), streams, c, program(want, "f32[2]"), "")
		if diag.ExitCode(err) != diag.ExitInvalid || !strings.Contains(err.Error(), "type is f32[2], must be "+want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
