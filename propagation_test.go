package autoshard_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autoshard"
)

// Priorities propagate in two rounds, the batch first; the model axis is refused where the batch has it, and the
// trace says so.
func TestPrioritiesPropagateInRounds(t *testing.T) {
	m := readModel(t, "examples/transformer_train_megatron_priorities.mlir")
	p, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{MaxPriority: -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Trace.Rounds) != 2 || p.Trace.Rounds[0].UserPriority != 0 || p.Trace.Rounds[1].UserPriority != 1 {
		t.Fatalf("the trace has %d rounds, want those of priorities 0 and 1 in order", len(p.Trace.Rounds))
	}
	if first := p.Trace.Rounds[1].Levels[0].Steps[0]; first.Kind != "activate" || !strings.Contains(first.Axes, "model") {
		t.Errorf("the second round starts with %s, not with the model axis", first.String())
	}
	conflicts := 0
	for _, r := range p.Trace.Rounds {
		for _, l := range r.Levels {
			for _, s := range l.Steps {
				if s.Kind == "refusal" && s.Against != "" && s.Other != "" {
					conflicts++
				}
			}
		}
	}
	if conflicts == 0 {
		t.Error("no conflict is explained")
	}
}

// A limit on the priority leaves later rounds out.
func TestPropagateUpToPriority(t *testing.T) {
	m := readModel(t, "examples/transformer_train_megatron_priorities.mlir")
	p, err := autoshard.Propagate(context.Background(), m, autoshard.PropagateOptions{MaxPriority: 0})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(p.Trace.Rounds); n != 1 {
		t.Errorf("%d rounds ran, want 1", n)
	}
}

// The annotated form of a plan compiles in real XLA, which computes on eight devices what JAX recorded.
func TestAnnotatedPlanRunsOnXLA(t *testing.T) {
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED name a Python with jax and the folder with the oracle")
	}
	for _, c := range []struct {
		model, arrays string
		memory        int64
	}{
		{"transformer_train.mlir", "transformer_train", 500_000},
		{"transformer_train_megatron.mlir", "transformer_train", 0},
		{"mlp_train.mlir", "mlp_train", 50_000},
		{"mlp.json", "mlp", 0},
	} {
		t.Run(c.model, func(t *testing.T) {
			o := options(t)
			o.Memory = c.memory
			text, err := makePlan(t, readModel(t, "examples/"+c.model), o).Annotated()
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "plan.mlir")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(python, filepath.Join(shared, "oracle", "xla.py"), "--devices", "8", "--rtol", "1e-3",
				"--inputs", "examples/"+c.arrays+".in.npz", "--expect", "examples/"+c.arrays+".out.npz", file).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}
