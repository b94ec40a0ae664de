package autoshard_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// The annotated form of a plan compiles in real XLA, with loops too, which computes on eight devices what JAX recorded and
// keeps the plan: it sends hardly more than predicted.
func TestAnnotatedPlanRunsOnXLA(t *testing.T) {
	python, shared := os.Getenv("AUTOSHARD_PYTHON"), os.Getenv("AUTOSHARD_SHARED")
	if python == "" || shared == "" {
		t.Skip("AUTOSHARD_PYTHON and AUTOSHARD_SHARED name a Python with jax and the folder with the oracle")
	}
	scan := filepath.Join(shared, "models", "transformer_train_scan")
	for _, c := range []struct {
		model, arrays string
		memory        int64
	}{
		{"examples/transformer_train.mlir", "examples/transformer_train", 500_000},
		{"examples/transformer_train_megatron.mlir", "examples/transformer_train", 0},
		{"examples/mlp_train.mlir", "examples/mlp_train", 50_000},
		{"examples/mlp.json", "examples/mlp", 0},
		{scan + ".mlir", scan, 500_000},
	} {
		t.Run(filepath.Base(c.model), func(t *testing.T) {
			o := options(t)
			o.Memory = c.memory
			plan := makePlan(t, readModel(t, c.model), o)
			text, err := plan.Annotated(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "plan.mlir")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(python, filepath.Join(shared, "oracle", "xla.py"), "--devices", "8", "--rtol", "1e-3",
				"--inputs", c.arrays+".in.npz", "--expect", c.arrays+".out.npz", file).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			sent, err := strconv.ParseFloat(sentPattern.FindStringSubmatch(string(out) + " sent_bytes_per_device -1")[1], 64)
			if predicted := float64(plan.Estimate.SentBytes) / 8; err != nil || sent < 0 || sent > mostOverPrediction*predicted {
				t.Errorf("XLA sends %.0f bytes a device, predicted are %.0f", sent, predicted)
			}
		})
	}
}

var sentPattern = regexp.MustCompile(`sent_bytes_per_device (-?\d+)`)

// mostOverPrediction is how many times the predicted bytes XLA may send: it makes an all-reduce of what a plan
// reduce-scatters, which on the CPU it does not merge.
const mostOverPrediction = 1.6
