package emit_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap/emit"
)

// emitted returns the Python text of a program in a golden file, or what is wrong with it.
func emitted(input string) (*ir.Module, []byte, error) {
	m, err := mlir.Parse(context.Background(), []byte(input), mlir.Options{File: "input"})
	if err != nil {
		return nil, nil, err
	}
	if err := ir.Verify(context.Background(), m); err != nil {
		return nil, nil, err
	}
	text, err := emit.Python(context.Background(), &emit.Program{Title: "a program", Whole: m})
	return m, text, err
}

// The golden files hold programs and the functions that are written for them, without what all files share. Rewrite
// them with: go test ./shardmap/emit -rewrite
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/ops", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			_, text, err := emitted(d.Input)
			if err != nil {
				var b strings.Builder
				diag.Render(&b, err, func(string) []byte { return []byte(d.Input) })
				return b.String()
			}
			return functions(string(text))
		})
	})
}

// functions returns the functions of the program in a file, without helpers.
func functions(text string) string {
	var out []string
	for part := range strings.SplitSeq(text, "\n\n\n") {
		name, _, _ := strings.Cut(strings.TrimPrefix(part, "def "), "(")
		if strings.HasPrefix(part, "def run(") {
			break
		}
		if strings.HasPrefix(part, "def ") && !emit.IsHelper(name) && name != "make_mesh" {
			out = append(out, part)
		}
	}
	return strings.Join(out, "\n\n\n") + "\n"
}

// What the files of the golden programs give on JAX equals what the interpreter gives.
func TestGoldenRuns(t *testing.T) {
	python, dir := peer(t), t.TempDir()
	type program struct {
		pos, file string
		m         *ir.Module
	}
	var list []program
	paths, err := filepath.Glob("testdata/ops/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(paths, "../../backend/interp/testdata/ops.txt", "../../backend/interp/testdata/control.txt") {
		datadriven.RunTest(t, path, func(_ *testing.T, d *datadriven.TestData) string {
			if m, text, err := emitted(d.Input); err == nil {
				p := program{d.Pos, filepath.Join(dir, fmt.Sprintf("p%d.py", len(list))), m}
				list = append(list, p)
				if err := os.WriteFile(p.file, text, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			return d.Expected
		})
	}
	var files []string
	for _, p := range list {
		files = append(files, p.file)
	}
	runPython(t, python, files)
	for _, p := range list {
		in, err := interp.New(p.m, interp.Options{WholeWindows: true})
		if err != nil {
			t.Errorf("%s: %v", p.pos, err)
			continue
		}
		main, _ := p.m.Main()
		args := p.m.BlockArgs(p.m.Func(main).Body)
		want, err := in.Run(context.Background(), main, make([]*tensor.Tensor, len(args)))
		if err != nil || len(args) > 0 {
			continue // it is meant to fail, or has inputs
		}
		t.Run(filepath.Base(p.pos), func(t *testing.T) {
			got := outputs(t, p.file)
			for i := range want {
				if err := agree(&got[i].Tensor, narrow(want[i]), want[i].DType, 0); err != nil {
					t.Errorf("output %d: %v", i, err)
				}
			}
		})
	}
	t.Logf("%d programs", len(list))
}
