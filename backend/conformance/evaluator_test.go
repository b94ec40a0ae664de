package conformance

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"autoshard/backend/interp"
	"autoshard/internal/testkit"
	"autoshard/internal/testkit/programs"
	"autoshard/ir/mlir"
)

var (
	evaluated     = flag.Int("evaluator.programs", 300, "how many random programs the evaluator of StableHLO runs")
	evaluatedSeed = flag.Int("evaluator.seed", 0, "seed of the first of them, which the others follow; 0: as testkit.Seed says")
)

// The interpreter gives of random programs what the evaluator of StableHLO in jaxlib gives.
func TestEvaluator(t *testing.T) {
	t.Parallel()
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" {
		t.Skip("AUTOSHARD_PYTHON is not set: it names a Python with jaxlib")
	}
	seed := *evaluatedSeed
	if seed == 0 {
		seed = int(testkit.Seed(t))
	}
	t.Logf("-evaluator.seed=%d", seed)
	draw := rapid.Custom(drawProgram)
	dir := t.TempDir()
	var drawn []*source
	for i := range *evaluated {
		s := draw.Example(seed + i)
		s.name = fmt.Sprint("seed", seed+i)
		writeProgram(t, s.text, s.inputs, filepath.Join(dir, s.name))
		drawn = append(drawn, s)
	}
	out, err := exec.Command(python, filepath.Join("testdata", "evaluator.py"), dir).Output()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
	for _, s := range drawn {
		outputs := outputsOf(t, s, filepath.Join(dir, s.name+".out.npz"))
		for i := range outputs {
			if d := deviation(outputs[i], s.want[i]); !(d <= 1e-4) {
				t.Errorf("%s: output %d is %v, the evaluator gives %v:\n%s", s.name, i, s.want[i], outputs[i], s.text)
			}
		}
	}
}

// drawProgram draws a program with inputs and what the interpreter gives.
func drawProgram(t *rapid.T) *source {
	m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: 8, Rank: 3, Sizes: []int64{1, 2, 3, 4, 6}, Indices: true, Windows: true, Loops: true,
		AllResults: true})
	s := &source{text: string(mlir.Print(m, mlir.PrintOptions{})), inputs: programs.Inputs(t, m)}
	for _, id := range m.MainFunc().ResultTypes {
		s.types = append(s.types, m.TypeOf(id))
	}
	in, err := interp.New(m, interp.Options{}) // windows partly outside count element by element, as in the specification
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	if s.want, err = in.Run(t.Context(), main, s.inputs); err != nil {
		t.Fatalf("%v\n%s", err, s.text)
	}
	return s
}
