package mlir

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shared returns a folder of the shared vectors and models.
func shared(t testing.TB, parts ...string) string {
	root := os.Getenv("AUTOSHARD_SHARED")
	if root == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models and conformance vectors")
	}
	return filepath.Join(append([]string{root}, parts...)...)
}

// readModel returns the text of a model, unpacked.
func readModel(t testing.TB, path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return data
}

func modelFiles(t testing.TB) []string {
	plain, _ := filepath.Glob(shared(t, "models", "*.mlir"))
	packed, _ := filepath.Glob(shared(t, "models", "*.mlir.gz"))
	files := append(plain, packed...)
	if len(files) < 40 {
		t.Fatalf("found %d models", len(files))
	}
	return files
}

func TestModelsPrintAsTheyWereRead(t *testing.T) {
	for _, file := range modelFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src := readModel(t, file)
			m, err := Parse(t.Context(), src, Options{File: filepath.Base(file)})
			if err != nil {
				t.Fatal(err)
			}
			got := Print(m, PrintOptions{DebugInfo: bytes.Contains(src, []byte(" loc("))})
			diffLines(t, string(src), string(got))
		})
	}
}

// diffLines reports the first line in which two texts differ.
func diffLines(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Split(strings.TrimRight(want, "\n"), "\n"), strings.Split(strings.TrimRight(got, "\n"), "\n")
	for i := range max(len(w), len(g)) {
		a, b := "", ""
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			t.Fatalf("line %d:\nwant %s\ngot  %s", i+1, clip500(a), clip500(b))
		}
	}
}

func clip500(s string) string { return s[:min(len(s), 500)] }
