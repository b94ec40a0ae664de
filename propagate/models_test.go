package propagate_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
)

// propagation is a pipeline for programs without calls.
const propagation = "sdy-lift-inlined-meshes,sdy-remove-size-one-axes,sdy-constant-or-scalar-splitter," +
	"sdy-manual-axes-cleanup,sdy-add-data-flow-edges,sdy-apply-sharding-constraints,sdy-sharding-group-import," +
	"sdy-user-priority-propagate"

// TestModelsAgainstShardy compares the exported models with real Shardy.
func TestModelsAgainstShardy(t *testing.T) {
	var programs []program
	for _, file := range modelFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, program{filepath.Base(file), string(text), beforeReshards("sdy-propagation-pipeline")})
		inlined := string(mlir.Print(readModel(t, file), mlir.PrintOptions{}))
		programs = append(programs, program{filepath.Base(file) + ", inlined", inlined, propagation})
	}
	compare(t, programs)
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
	m, err := mlir.Parse(t.Context(), data, mlir.Options{File: filepath.Base(file)})
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.InlineCalls(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m
}
