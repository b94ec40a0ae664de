package bytecode_test

import (
	"path/filepath"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/bytecode"
	"autoshard/ir/mlir"
)

// TestFilesMeanTheirText reads the files of testdata, which jaxlib made of the programs beside them.
func TestFilesMeanTheirText(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.mlirbc"))
	if err != nil || len(files) != 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			name, _, _ := strings.Cut(filepath.Base(file), ".")
			want, err := mlir.Parse(t.Context(), read(t, filepath.Join("testdata", name+".mlir")), mlir.Options{File: name})
			if err != nil {
				t.Fatal(err)
			}
			got, err := bytecode.Read(t.Context(), read(t, file), bytecode.Options{File: file})
			if err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(t.Context(), got); err != nil {
				t.Error(err)
			}
			if got, want := withoutPlaces(got), withoutPlaces(want); got != want {
				t.Error(firstDifference(got, want))
			}
		})
	}
}

// withoutPlaces returns the text of a module without locations, and without the keys of resources.
func withoutPlaces(m *ir.Module) string {
	return resourceKey.ReplaceAllString(string(mlir.Print(m, mlir.PrintOptions{})), "$1$2")
}
