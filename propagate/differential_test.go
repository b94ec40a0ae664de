package propagate_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"

	"github.com/google/go-cmp/cmp"
)

// propagation is the pipeline that differential tests run here and there.
const propagation = "sdy-lift-inlined-meshes,sdy-remove-size-one-axes,sdy-constant-or-scalar-splitter," +
	"sdy-manual-axes-cleanup,sdy-add-data-flow-edges,sdy-apply-sharding-constraints,sdy-sharding-group-import," +
	"sdy-user-priority-propagate"

// closing ends what propagation began.
const closing = ",sdy-constant-or-scalar-merger,sdy-sink-data-flow-edges,sdy-remove-sharding-groups," +
	"sdy-sharding-constraint-to-reshard,sdy-update-non-divisible-input-output-shardings," +
	"sdy-remove-sub-axes-in-input-output-shardings,sdy-close-shardings"

// shardy runs real Shardy on [text, pipeline] pairs and returns [output or nil, error].
func shardy(t *testing.T, programs [][2]string) [][2]*string {
	t.Helper()
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" || os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_PYTHON (a Python with jax) and AUTOSHARD_SHARED are needed to run real Shardy")
	}
	input, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("testdata", "shardy.py"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), io.Discard
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("running Shardy: %v", err)
	}
	var answers [][2]*string
	if err := json.Unmarshal(output, &answers); err != nil || len(answers) != len(programs) {
		t.Fatalf("reading Shardy's %d answers: %v", len(answers), err)
	}
	return answers
}

// compare runs programs through both and reports every difference.
func compare(t *testing.T, names []string, programs [][2]string) {
	t.Helper()
	compared := 0
	for i, answer := range shardy(t, programs) {
		got, err := runPipeline(programs[i][0], programs[i][1])
		switch {
		case answer[0] == nil:
			continue // Shardy crashed, or rejects what its own pass made
		case err != nil:
			t.Errorf("%s: %v", names[i], err)
			continue
		}
		compared++
		if diff := cmp.Diff(strings.TrimSpace(*answer[0]), strings.TrimSpace(got)); diff != "" {
			t.Errorf("%s (-Shardy +here):\n%s\nof\n%s", names[i], clip(diff), clip(programs[i][0]))
		}
	}
	t.Logf("%d of %d programs compared", compared, len(programs))
	if compared < len(programs)*3/4 {
		t.Errorf("Shardy gave an answer for %d of %d programs only", compared, len(programs))
	}
}

func clip(s string) string {
	if len(s) > 6000 {
		return s[:6000] + "..."
	}
	return s
}

// TestRandomAgainstShardy compares 300 random programs with real Shardy, before and after closing.
func TestRandomAgainstShardy(t *testing.T) {
	var names []string
	var programs [][2]string
	for seed := range int64(300) {
		pipeline := propagation
		switch seed % 4 {
		case 1:
			pipeline += closing
		case 2:
			pipeline = strings.Replace(pipeline, "user-priority", "basic", 1)
		case 3:
			pipeline = strings.Replace(pipeline, "user-priority", "aggressive", 1)
		}
		names = append(names, fmt.Sprint("seed ", seed))
		programs = append(programs, [2]string{randomProgram(seed), pipeline})
	}
	compare(t, names, programs)
}

// TestRulesAgainstShardy compares the rules of all ops of random programs.
func TestRulesAgainstShardy(t *testing.T) {
	var names []string
	var programs [][2]string
	for seed := int64(1000); seed < 1150; seed++ {
		pipeline := "sdy-populate-op-sharding-rules"
		if seed%3 == 0 {
			pipeline += "{conservative-propagation=true}"
		}
		names, programs = append(names, fmt.Sprint("seed ", seed)), append(programs, [2]string{randomProgram(seed), pipeline})
	}
	compare(t, names, programs)
}

// TestModelsAgainstShardy compares the exported models, calls inlined, with real Shardy.
func TestModelsAgainstShardy(t *testing.T) {
	var names []string
	var programs [][2]string
	for _, file := range modelFiles(t) {
		m := readModel(t, file)
		text := string(mlir.Print(m, mlir.PrintOptions{}))
		names = append(names, filepath.Base(file))
		programs = append(programs, [2]string{text, propagation})
	}
	compare(t, names, programs)
}

// maxModelBytes leaves out the models that would take most of the time of a test.
const maxModelBytes = 4 << 20

func modelFiles(t testing.TB) []string {
	t.Helper()
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the directory with exported models")
	}
	files, err := filepath.Glob(filepath.Join(shared, "models", "*.mlir*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no models: %v", err)
	}
	var small []string
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() < maxModelBytes && !strings.HasSuffix(f, ".gz") {
			small = append(small, f)
		}
	}
	return small
}

// readModel reads a model and inlines its calls.
func readModel(t testing.TB, file string) *ir.Module {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	m, err := mlir.Parse(data, mlir.Options{File: filepath.Base(file)})
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.InlineCalls(m); err != nil {
		t.Fatal(err)
	}
	return m
}
