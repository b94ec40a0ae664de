package bytecode_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/bytecode"
	"autoshard/ir/mlir"
)

// artifact is a row of the index of the artifacts.
type artifact struct{ File, Kind, Text, Fields, Expect string }

func conformance(t *testing.T) (dir string, list []artifact) {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the conformance artifacts")
	}
	dir = filepath.Join(shared, "conformance", "bytecode")
	if err := json.Unmarshal(read(t, filepath.Join(dir, "index.json")), &list); err != nil {
		t.Fatal(err)
	}
	return dir, list
}

// read returns the content of a file, unpacked.
func read(t testing.TB, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

// printed returns the text of a module with the keys of resources made equal.
func printed(m *ir.Module) string {
	text := string(mlir.Print(m, mlir.PrintOptions{DebugInfo: true}))
	return resourceKey.ReplaceAllString(text, "$1$2")
}

// resourceKey matches the use and the definition of a resource, with numbers behind the key that readers may add.
var resourceKey = regexp.MustCompile(`(dense_resource<|\n      )(\w+?)(?:_\d+)+\b`)

func TestArtifactsMeanTheirText(t *testing.T) {
	dir, list := conformance(t)
	for _, a := range list {
		if a.Text == "" || a.Kind == "jax-export" {
			continue
		}
		t.Run(a.File, func(t *testing.T) {
			want, err := mlir.Parse(t.Context(), read(t, filepath.Join(dir, a.Text)), mlir.Options{File: a.Text})
			if err != nil {
				t.Fatalf("expected text: %v", err)
			}
			got, err := bytecode.Read(t.Context(), read(t, filepath.Join(dir, a.File)), bytecode.Options{File: a.File})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := printed(got), printed(want); got != want {
				t.Error(firstDifference(got, want))
			}
		})
	}
}

// firstDifference returns the first lines that differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			if i >= len(w) {
				return "got more: " + g[i]
			}
			return "got\n" + g[i] + "\nwant\n" + w[i]
		}
	}
	return "got less than " + w[len(g)]
}

func TestInvalidFilesAreRejectedWithTheirOffset(t *testing.T) {
	dir, list := conformance(t)
	for _, a := range list {
		if a.Expect != "reject" {
			continue
		}
		_, err := bytecode.Read(t.Context(), read(t, filepath.Join(dir, a.File)), bytecode.Options{File: a.File})
		e, ok := err.(*diag.Error)
		if !ok || !e.Diagnostics[0].Pos.Binary {
			t.Errorf("%s: %v, want an error with the offset", a.File, err)
		}
		t.Log(err)
	}
}
