package passes_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/pass"
	"autoshard/passes"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// run returns what a pipeline makes of a program.
func run(text []byte, pipeline *pass.Pipeline) (string, error) {
	m, err := mlir.Parse(context.Background(), text, mlir.Options{})
	if err != nil {
		return "", err
	}
	m.LocateByText()
	if err := ir.Verify(context.Background(), m); err != nil {
		return "", err
	}
	if _, err := pipeline.Run(context.Background(), m, pass.Hooks{}); err != nil {
		return "", err
	}
	return string(mlir.Print(m, mlir.PrintOptions{})), nil
}

// TestShardyVectors compares all passes with what Shardy made of the same programs, byte for byte.
func TestShardyVectors(t *testing.T) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the directory with Shardy's vectors")
	}
	files, err := filepath.Glob(filepath.Join(shared, "conformance", "shardy", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	ran := 0
	missing := map[string]int{}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		vector := map[string]string{}
		for _, f := range archive.Files {
			vector[f.Name] = string(f.Data)
		}
		pipeline, err := passes.Table().Parse(strings.TrimSpace(vector["pipeline"]), "pipeline")
		if err != nil {
			missing[err.Error()]++
			continue
		}
		ran++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { judge(t, vector, pipeline) })
	}
	for message, n := range missing {
		t.Logf("%d vectors not run: %s", n, message)
	}
	t.Logf("%d vectors run", ran)
}

// judge compares what a pipeline gives with what Shardy gave.
func judge(t *testing.T, vector map[string]string, pipeline *pass.Pipeline) {
	got, err := run([]byte(vector["input.mlir"]), pipeline)
	want, accepted := vector["expected.mlir"]
	switch {
	case !accepted && err == nil:
		t.Errorf("accepted, but it must be rejected:\n%s", vector["diagnostics.txt"])
	case !accepted:
		checkPlace(t, err, vector["diagnostics.txt"])
	case err != nil:
		t.Error(err)
	default:
		if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pipeline, diff)
		}
	}
}

// checkPlace demands that an error is at the line of one of Shardy's errors, unless one of those has none.
func checkPlace(t *testing.T, err error, diagnostics string) {
	t.Helper()
	var want, got []int
	for line := range strings.Lines(diagnostics) {
		if fields := strings.Split(line, "\t"); fields[0] == "error" {
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, n)
		}
	}
	for _, d := range diag.Diagnostics(err) {
		got = append(got, d.Pos.Line)
	}
	common := slices.ContainsFunc(got, func(n int) bool { return slices.Contains(want, n) })
	if !common && !slices.Contains(want, 0) {
		t.Errorf("rejected at lines %v, want one of %v: %v", got, want, err)
	}
}
