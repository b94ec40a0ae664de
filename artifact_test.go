package autoshard_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"autoshard"
)

// A model keeps what a file of jax.export says beside its program; a text says nothing.
func TestReadModelKeepsTheExport(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("ir", "jaxexport", "testdata", "step.jaxexport"))
	if err != nil {
		t.Fatal(err)
	}
	model, err := autoshard.ReadModel(t.Context(), "step.jaxexport", data)
	if err != nil {
		t.Fatal(err)
	}
	if e := model.Export(); e == nil || e.FunctionName != "step" || !slices.Equal(e.KeptInputs, []uint16{0, 1, 3, 4}) {
		t.Errorf("export: %+v", e)
	}
	if model, err = autoshard.ReadModel(t.Context(), "m.mlir", []byte("func.func @main() { return }")); err != nil || model.Export() != nil {
		t.Errorf("text has an export: %+v, %v", model.Export(), err)
	}
}
