package bytecode_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/bytecode"
	"autoshard/ir/mlir"
	"autoshard/ir/vhlo"
)

// parsed returns the module of a text.
func parsed(t *testing.T, name, text string) *ir.Module {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: name})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// fixtures are the texts of the repository, and the shared ones where there are any.
func fixtures(t *testing.T) map[string]string {
	out := programs(t)
	files, err := filepath.Glob(filepath.Join("testdata", "*.mlir"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no texts: %v", err)
	}
	if shared := os.Getenv("AUTOSHARD_SHARED"); shared != "" {
		for _, pattern := range []string{"models/*.mlir.gz", "models/*.mlir", "conformance/bytecode/*.mlir", "conformance/bytecode/*.mlir.gz"} {
			more, err := filepath.Glob(filepath.Join(shared, pattern))
			if err != nil || len(more) == 0 {
				t.Fatalf("no %s: %v", pattern, err)
			}
			files = append(files, more...)
		}
	}
	for _, file := range files {
		if !strings.Contains(file, ".vhlo.") { // text of a dialect that only artifacts have
			out[filepath.Base(file)] = string(read(t, file))
		}
	}
	return out
}

// manyOps is the size of programs that are written in one version only.
const manyOps = 2500

// TestWrittenFilesReadBack writes programs in all versions of bytecode and reads the same programs.
func TestWrittenFilesReadBack(t *testing.T) {
	all := fixtures(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, err := mlir.Parse(t.Context(), []byte(all[name]), mlir.Options{File: name})
		if err != nil {
			continue
		}
		want := printed(m)
		for version := range 7 {
			if version < 6 && m.NumOps() > manyOps || version < 5 && unknownProperties.MatchString(want) {
				continue
			}
			data, err := bytecode.Write(m, bytecode.WriteOptions{Version: version})
			if err != nil {
				t.Errorf("%s: version %d: %v", name, version, err)
				continue
			}
			readsAs(t, name, data, want)
		}
	}
}

func readsAs(t *testing.T, name string, data []byte, want string) {
	t.Helper()
	m, err := bytecode.Read(t.Context(), data, bytecode.Options{File: name})
	if err != nil {
		t.Errorf("%s: read back: %v", name, err)
		return
	}
	if got := printed(m); got != want {
		t.Errorf("%s: %s", name, firstDifference(got, want))
	}
}

// TestArtifactsReadBack writes portable artifacts for several targets. What StableHLO leaves out of an artifact is left
// out the first time, so that the second one is the same program.
func TestArtifactsReadBack(t *testing.T) {
	all := fixtures(t)
	written := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, err := mlir.Parse(t.Context(), []byte(all[name]), mlir.Options{File: name})
		if err != nil {
			continue
		}
		for _, target := range []vhlo.Version{vhlo.Newest, {Major: 1, Minor: 18}, {Major: 1}, {Minor: 14}, vhlo.Oldest} {
			if m.NumOps() > manyOps && target.Minor != 18 {
				continue
			}
			data, err := bytecode.WriteArtifact(m, target)
			if err != nil {
				if target == vhlo.Newest {
					t.Logf("%s: %v", name, err)
				}
				continue
			}
			written++
			once, err := bytecode.Read(t.Context(), data, bytecode.Options{File: name})
			if err != nil {
				t.Errorf("%s: %s: read back: %v", name, target, err)
				continue
			}
			want := printed(once)
			if data, err = bytecode.WriteArtifact(once, target); err != nil {
				t.Errorf("%s: %s: %v", name, target, err)
				continue
			}
			readsAs(t, name, data, want)
		}
	}
	t.Logf("%d artifacts", written)
	if written < 2*len(all) {
		t.Errorf("wrote only %d artifacts of %d programs", written, len(all))
	}
}

func TestSameBytesEveryTime(t *testing.T) {
	text := string(read(t, filepath.Join("testdata", "ops.mlir")))
	var first []byte
	for range 5 {
		data, err := bytecode.WriteArtifact(parsed(t, "ops", text), vhlo.Newest)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = data
		}
		if !bytes.Equal(first, data) {
			t.Fatal("another file")
		}
	}
}

func TestTargetThatCannotSayIt(t *testing.T) {
	m := parsed(t, "tan.mlir", "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"+
		"  %0 = stablehlo.tan %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}")
	_, err := bytecode.WriteArtifact(m, vhlo.Version{Major: 1})
	if err == nil || !strings.Contains(err.Error(), "tan.mlir:2") || !strings.Contains(err.Error(), "needs StableHLO 1.4.0") {
		t.Errorf("got %v", err)
	}
}
