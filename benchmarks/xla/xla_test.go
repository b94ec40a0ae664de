package main

import (
	"os"
	"slices"
	"testing"

	"autoshard/benchmarks/experts"
	"autoshard/cost"
)

// XLA compiles the annotated programs of plans of three small models, computes what was recorded, and sends what the plans say, but for
// what it does otherwise with any program.
func TestAnnotatedPlansInXLA(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" || os.Getenv("AUTOSHARD_PYTHON") == "" {
		t.Skip("AUTOSHARD_SHARED and AUTOSHARD_PYTHON name the folder with the models and a Python with jax")
	}
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	models, err := experts.Shared()
	if err != nil {
		t.Fatal(err)
	}
	j, err := newJudge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	p := planner{hardware: hw, budget: 1 << 40, dir: t.TempDir()}
	for _, name := range []string{"mlp_fwd", "mlp_train", "window_decode"} {
		m := &models[slices.IndexFunc(models, func(m experts.Model) bool { return m.Name == name })]
		rows, err := p.rows(t.Context(), m, j)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) < 4 {
			t.Errorf("%s has %d rows", name, len(rows))
		}
		for _, r := range rows {
			if !r.judged() || r.wrong() || r.made.Sent > 1.1*r.asCPU() {
				t.Error(r.line())
			}
		}
	}
}

// A program that XLA refuses is said to be refused, and the next one is judged.
func TestRefused(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" || os.Getenv("AUTOSHARD_PYTHON") == "" {
		t.Skip("AUTOSHARD_SHARED and AUTOSHARD_PYTHON name the folder with the models and a Python with jax")
	}
	j, err := newJudge(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	file := t.TempDir() + "/none.mlir"
	if err := os.WriteFile(file, []byte("func.func @main() {"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		m, err := j.ask(request{File: file, Devices: devices})
		if err != nil || m.Failed == "" {
			t.Errorf("%+v, %v", m, err)
		}
	}
}
