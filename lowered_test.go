package autoshard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"autoshard"
)

// Every stage of lowering a model as annotated is a program that others take: the first two Shardy, the program of one device XLA, as
// one that is partitioned already.
func TestStagesAreTakenElsewhere(t *testing.T) {
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED name a Python with jax and the folder with the oracles")
	}
	oracle := filepath.Join(shared, "oracle")
	peers := map[string][]string{
		"reshards":    {filepath.Join(oracle, "shardy.py"), "--pass-pipeline", "sdy-reshard-to-collectives"},
		"collectives": {filepath.Join(oracle, "shardy.py"), "--pass-pipeline", "sdy-close-shardings"},
		"local":       {filepath.Join(oracle, "xla.py"), "--partitioned", "--devices", "8"},
	}
	models := filepath.Join(shared, "models")
	for _, model := range []string{"examples/transformer_train_megatron.mlir", filepath.Join(models, "transformer_train_fsdp_tp.mlir"),
		filepath.Join(models, "shmap_partly_manual.mlir")} {
		plan, err := autoshard.PlanAsAnnotated(t.Context(), readModel(t, model), autoshard.PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		program, err := plan.Lowered(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, stage := range autoshard.Stages() {
			text, err := program.Stage(t.Context(), stage)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), stage+".mlir")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(python, append(peers[stage], file)...).CombinedOutput(); err != nil {
				t.Errorf("%s, %s: %v\n%s", filepath.Base(model), stage, err, out)
			}
		}
	}
}
