package modeljson_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/ir/modeljson"
)

// TestRoundTripSelfCheckingPrograms converts the self-checking StableHLO programs there and back.
func TestRoundTripSelfCheckingPrograms(t *testing.T) {
	f, err := os.Open(sharedFile(t, "conformance", "stablehlo_dev.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unpacked)
	count := 0
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(header.Name, ".mlir") {
			continue
		}
		src, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		count++
		t.Run(filepath.Base(header.Name), func(t *testing.T) { checkRoundTrip(t, header.Name, src) })
	}
	if count == 0 {
		t.Error("the archive holds no programs")
	}
}

// TestRoundTripCases converts programs that JAX exported, with composites and other returns, there and back.
func TestRoundTripCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/cases/*.mlir")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) { checkRoundTrip(t, file, src) })
	}
}

// TestRoundTripShardy converts the inputs of Shardy's vectors that are valid programs there and back.
func TestRoundTripShardy(t *testing.T) {
	files, err := filepath.Glob(sharedFile(t, "conformance", "shardy", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	count := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range archive.Files {
			if part.Name != "input.mlir" && part.Name != "expected.mlir" {
				continue
			}
			if m, err := mlir.Parse(t.Context(), part.Data, mlir.Options{File: part.Name}); err != nil || ir.Verify(t.Context(), m) != nil {
				continue // for the verifier to refuse
			}
			count++
			name := strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + part.Name
			t.Run(name, func(t *testing.T) { checkRoundTrip(t, name, part.Data) })
		}
	}
	t.Logf("%d programs", count)
}

func sharedFile(t *testing.T, parts ...string) string {
	t.Helper()
	return filepath.Join(append([]string{filepath.Dir(sharedModels(t))}, parts...)...)
}

// TestConstantsStayCompact demands that large constants are not much longer in JSON than in MLIR, whatever their type.
func TestConstantsStayCompact(t *testing.T) {
	const n = 10_000
	for _, element := range []string{"i1", "ui8", "i8", "i4", "i32", "i64", "f8E4M3FN", "bf16", "f32", "f64", "complex<f32>"} {
		m := ir.NewModule()
		e, _ := dtype.Parse(element)
		typ := m.TensorType(e, n)
		data := make([]byte, n*e.Bytes())
		for i := range data {
			data[i] = byte(i % 251)
			if e.Bits() < 8 {
				data[i] &= byte(1<<e.Bits() - 1)
			}
		}
		main := m.AddFunc(ir.FuncSpec{Name: "main", Results: []ir.TypeID{typ}})
		b := m.BuilderAtEnd(m.Func(main).Body)
		b.Op(ir.OpReturn, nil, nil, b.Op1(ir.OpConstant, typ,
			ir.MakeAttrs(ir.NamedAttr{Name: "value", Value: &ir.Dense{Type: typ, Data: data}})))
		printed := mlir.Print(m, mlir.PrintOptions{})
		out, err := modeljson.Write(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > len(printed)+500 {
			t.Errorf("%s: %d bytes of MLIR become %d of JSON", element, len(printed), len(out))
		}
		checkRoundTrip(t, element, printed)
	}
}

// TestRoundTripSamples converts the programs by which the reader of MLIR shows what it can read.
func TestRoundTripSamples(t *testing.T) {
	for name, src := range samples(t) {
		t.Run(name, func(t *testing.T) { checkRoundTrip(t, name, []byte(src)) })
	}
}

// samples returns the valid programs among the golden files of the packages beside this one.
func samples(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range []string{"../mlir/testdata/print", "testdata/roundtrip"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(filepath.Join(dir, file.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for i, block := range goldenInputs(string(text)) {
				if m, err := mlir.Parse(t.Context(), []byte(block), mlir.Options{}); err == nil && ir.Verify(t.Context(), m) == nil {
					out[fmt.Sprintf("%s %d", file.Name(), i)] = block
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatal("no samples")
	}
	return out
}

// goldenInputs returns the inputs of a golden file: what stands between a command's line and ----.
func goldenInputs(text string) []string {
	var out, lines []string
	inside := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "----"):
			if inside {
				out = append(out, strings.Join(lines, ""))
			}
			inside = false
		case inside:
			lines = append(lines, line)
		case strings.HasPrefix(line, "print") || strings.HasPrefix(line, "model"):
			inside, lines = true, nil
		}
	}
	return out
}

// FuzzRoundTrip demands that every program that MLIR's reader and the verifier accept survives the way through JSON.
func FuzzRoundTrip(f *testing.F) {
	for _, src := range samples(f) {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := mlir.Parse(context.Background(), src, mlir.Options{})
		if err != nil || ir.Verify(context.Background(), m) != nil {
			return
		}
		checkRoundTrip(t, "fuzzed", src)
	})
}
