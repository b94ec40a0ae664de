package bytecode_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/bytecode"
	"autoshard/ir/mlir"
)

// survives reads a file, which may be damaged. A problem has its offset; what was read prints as a text that reads as
// the same program, if it is a valid one.
func survives(t testing.TB, data []byte) {
	m, err := bytecode.Read(t.Context(), data, bytecode.Options{File: "fuzz"})
	if err != nil {
		var located *diag.Error
		if !errors.As(err, &located) || !located.Diagnostics[0].Pos.Binary || located.Class == diag.ErrInternal {
			t.Fatalf("not a located error: %#v", err)
		}
		return
	}
	if ir.Verify(t.Context(), m) != nil {
		return
	}
	text := mlir.Print(m, mlir.PrintOptions{DebugInfo: true})
	again, err := mlir.Parse(t.Context(), text, mlir.Options{File: "printed"})
	if err != nil {
		t.Fatalf("printed text is wrong: %v\n%s", err, text)
	}
	if second := mlir.Print(again, mlir.PrintOptions{DebugInfo: true}); string(second) != string(text) {
		t.Fatalf("printed text reads as another program: %s", firstDifference(string(second), string(text)))
	}
}

// seeds returns the files of testdata, and shared ones that are small.
func seeds(t testing.TB) [][]byte {
	files, err := filepath.Glob(filepath.Join("testdata", "*.mlirbc"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	if shared := os.Getenv("AUTOSHARD_SHARED"); shared != "" {
		more, err := filepath.Glob(filepath.Join(shared, "conformance", "bytecode", "*.mlirbc"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	var out [][]byte
	for _, file := range files {
		if data := read(t, file); len(data) < 10_000 {
			out = append(out, data)
		}
	}
	return out
}

func TestTruncated(t *testing.T) {
	for _, data := range seeds(t) {
		if _, err := bytecode.Read(t.Context(), data, bytecode.Options{}); err != nil {
			continue // it may be what was cut off
		}
		for n := range data {
			if _, err := bytecode.Read(t.Context(), slices.Clip(data[:n]), bytecode.Options{}); err == nil {
				t.Fatalf("accepted the first %d of %d bytes", n, len(data))
			}
		}
	}
}

func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, data := range seeds(t) {
		for range 60 {
			broken := slices.Clone(data)
			for range 1 + r.IntN(3) {
				broken[r.IntN(len(broken))] = byte(r.IntN(256))
			}
			survives(t, broken)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { survives(t, data) })
}
