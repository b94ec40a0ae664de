package jax_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard"
	"autoshard/backend/jax"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/npz"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/subaxis"

	"autoshard/report"
)

// example reads a file of the examples.
func example(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func arrays(t *testing.T, name string) []*tensor.Tensor {
	t.Helper()
	data := example(t, name)
	found, err := npz.Read(bytes.NewReader(data), int64(len(data)), npz.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*tensor.Tensor, len(found))
	for i := range found {
		out[i] = &found[i].Tensor
	}
	return out
}

var all = flag.Bool("all", false, "run larger plans too, in one, two and four processes")

// Emitted programs that communicate give the recorded outputs in two processes with four devices each.
// More of them: go test ./backend/jax -run Plans -all
func TestPlans(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jax that runs the emitted files")
	}
	hardware, err := cost.Lookup("tpu-v5e")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		model, data string
		memory      int64 // less than the replicated program needs
		tolerance   float64
		long        bool
	}{
		{"mlp.json", "mlp", 24 << 10, 1e-4, false},
		{"mlp_train.mlir", "mlp_train", 40 << 10, 1e-4, false},
		{"transformer_train_megatron.mlir", "transformer_train", 0, 1e-3, true},
	} {
		if test.long && !*all {
			continue
		}
		model, err := autoshard.ReadModel(t.Context(), test.model, example(t, test.model))
		if err != nil {
			t.Fatal(err)
		}
		o := autoshard.PlanOptions{Hardware: hardware, Memory: test.memory, Steps: 2_000_000}
		if !strings.Contains(test.model, "megatron") {
			o.Mesh = []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}
		}
		plan, err := autoshard.MakePlan(t.Context(), model, o)
		if err != nil {
			t.Fatal(err)
		}
		program, err := plan.Lowered(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := program.Emit(t.Context(), "jax")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("lax.psum")) {
			t.Errorf("%s: the plan does not communicate", test.model)
		}
		inputs, expected := arrays(t, test.data+".in.npz"), arrays(t, test.data+".out.npz")
		for _, processes := range []int{1, 2, 4} {
			if processes != 2 && !*all {
				continue
			}
			found, err := jax.Run(t.Context(), text, inputs, jax.Options{Python: python, Devices: 8, Processes: processes, Env: os.Environ()})
			if err != nil {
				diag.Render(os.Stderr, err, nil)
				t.Fatal(err)
			}
			result := &autoshard.RunResult{Uncounted: true}
			for i := range found {
				result.Outputs = append(result.Outputs, &found[i].Tensor)
			}
			check, err := program.Compare(t.Context(), result, inputs, expected, autoshard.Tolerance{Rel: test.tolerance})
			if err != nil {
				t.Fatalf("%s: %v", test.model, err)
			}
			t.Logf("%s of %d processes: %s", test.model, processes, report.Check(check))
		}
	}
}
