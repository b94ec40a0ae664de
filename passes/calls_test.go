package passes_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/passes"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
)

// TestCalls runs the passes about calls on small programs; the arguments of a command are a pipeline. What it prints is
// what Shardy makes of the same programs, which TestCallsAgainstShardy checks.
func TestCalls(t *testing.T) {
	datadriven.RunTest(t, "testdata/calls", func(t *testing.T, d *datadriven.TestData) string {
		out, err := callsCase(t, d)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		return out
	})
}

func callsCase(t *testing.T, d *datadriven.TestData) (string, error) {
	pipeline, err := passes.Table().Parse(pipelineOf(d), "pipeline")
	if err != nil {
		t.Fatal(err)
	}
	return run([]byte(d.Input), pipeline)
}

func pipelineOf(d *datadriven.TestData) string {
	var names []string
	for _, arg := range d.CmdArgs {
		names = append(names, arg.String())
	}
	return strings.Join(names, ",")
}

// TestCallsAgainstShardy runs the programs of TestCalls through real Shardy, in child processes. Those that it rejects
// or crashes on say nothing.
func TestCallsAgainstShardy(t *testing.T) {
	python := os.Getenv("AUTOSHARD_PYTHON")
	if python == "" || os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_PYTHON (a Python with jax) and AUTOSHARD_SHARED are needed to run real Shardy")
	}
	var programs [][2]string
	var outputs []string
	datadriven.RunTest(t, "testdata/calls", func(t *testing.T, d *datadriven.TestData) string {
		programs, outputs = append(programs, [2]string{d.Input, pipelineOf(d)}), append(outputs, d.Expected)
		return d.Expected
	})
	input, err := json.Marshal(programs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, filepath.Join("..", "propagate", "testdata", "shardy.py"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), io.Discard
	answer, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers [][2]*string
	if err := json.Unmarshal(answer, &answers); err != nil || len(answers) != len(programs) {
		t.Fatalf("reading Shardy's %d answers: %v", len(answers), err)
	}
	compared := 0
	for i, a := range answers {
		if a[0] == nil || strings.HasPrefix(outputs[i], "error: ") {
			continue
		}
		compared++
		if diff := cmp.Diff(strings.TrimSpace(*a[0]), strings.TrimSpace(outputs[i])); diff != "" {
			t.Errorf("%s (-Shardy +here):\n%s\nof\n%s", programs[i][1], diff, programs[i][0])
		}
	}
	t.Logf("%d of %d programs compared", compared, len(programs))
}
