package mlir

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
)

// archive splits a txtar file into its parts.
func archive(t *testing.T, path string) map[string]string {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header := regexp.MustCompile(`(?m)^-- (.+) --\n`)
	parts := map[string]string{}
	text := string(data)
	at := header.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		parts[text[m[2]:m[3]]] = text[m[1]:end]
	}
	return parts
}

// readAndVerify is what every command does first with a program.
func readAndVerify(src string) (*ir.Module, error) {
	m, err := Parse(context.Background(), []byte(src), Options{File: "<stdin>"})
	if err != nil {
		return nil, err
	}
	return m, ir.Verify(context.Background(), m)
}

// errorLines returns the lines of a problem's diagnostics.
func errorLines(err error) []int {
	var lines []int
	if e, ok := err.(*diag.Error); ok {
		for _, d := range e.Diagnostics {
			lines = append(lines, d.Pos.Line)
		}
	}
	return lines
}

func TestShardyVectors(t *testing.T) {
	files, _ := filepath.Glob(shared(t, "conformance", "shardy", "sdy-ir*.txtar"))
	if len(files) < 200 {
		t.Fatalf("found %d vectors", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) { shardyVector(t, archive(t, file)) })
	}
}

func shardyVector(t *testing.T, parts map[string]string) {
	m, err := readAndVerify(parts["input.mlir"])
	want, accepted := parts["expected.mlir"]
	if accepted {
		if err != nil {
			t.Fatalf("rejected: %v", err)
		}
		if strings.TrimSpace(parts["pipeline"]) == "" {
			diffLines(t, strings.TrimSpace(want), strings.TrimSpace(string(Print(m, PrintOptions{}))))
		}
		return
	}
	if strings.TrimSpace(parts["pipeline"]) != "" {
		t.Skip("the pass rejects the program, not the reader")
	}
	if err == nil {
		t.Fatalf("accepted, but must be rejected:\n%s", parts["diagnostics.txt"])
	}
	var lines []int
	for _, l := range strings.Split(parts["diagnostics.txt"], "\n") {
		if f := strings.Split(l, "\t"); f[0] == "error" {
			n, _ := strconv.Atoi(f[1])
			lines = append(lines, n)
		}
	}
	got := errorLines(err)
	ok := slices.Contains(lines, 0)
	for _, n := range got {
		ok = ok || slices.Contains(lines, n)
	}
	if !ok {
		t.Fatalf("rejected at lines %v, not %v: %v\n%s", got, lines, err, parts["diagnostics.txt"])
	}
}

// developmentPrograms returns the self-checking StableHLO programs by name.
func developmentPrograms(t testing.TB) map[string]string {
	f, err := os.Open(shared(t, "conformance", "stablehlo_dev.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(h.Name, ".mlir") {
			var b bytes.Buffer
			if _, err := io.Copy(&b, r); err != nil {
				t.Fatal(err)
			}
			programs[filepath.Base(h.Name)] = b.String()
		}
	}
	if len(programs) < 600 {
		t.Fatalf("found %d programs", len(programs))
	}
	return programs
}

func TestStablehloPrograms(t *testing.T) {
	for name, src := range developmentPrograms(t) {
		t.Run(name, func(t *testing.T) {
			m, err := readAndVerify(src)
			if err != nil {
				t.Fatal(err)
			}
			diffLines(t, src, string(Print(m, PrintOptions{})))
		})
	}
}
