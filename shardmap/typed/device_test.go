package typed_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/typed"
)

// TestDevice turns programs with explicit communications over whole tensors into shard_map programs. Rewrite with:
// go test ./shardmap/typed -run TestDevice -rewrite
func TestDevice(t *testing.T) {
	datadriven.RunTest(t, "testdata/device", func(t *testing.T, d *datadriven.TestData) string {
		m, err := mlir.Parse(t.Context(), []byte(d.Input), mlir.Options{File: "model.mlir"})
		if err == nil {
			err = ir.Verify(t.Context(), m)
		}
		if err != nil {
			t.Fatal(err)
		}
		m.LocateByText()
		mesh, _ := m.LookupMesh("mesh")
		program, err := shardmap.Lower(t.Context(), m, mesh)
		if err != nil {
			t.Fatal(err)
		}
		before := string(mlir.Print(program.Module, mlir.PrintOptions{}))
		translated, err := typed.FromDevice(t.Context(), program, typed.Names{Program: "f", Inputs: []string{"params['w']", "lambda", "x"},
			Outputs: []string{"loss"}})
		if after := string(mlir.Print(program.Module, mlir.PrintOptions{})); after != before {
			t.Errorf("the per-device program is changed:\n%s", after)
		}
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		p := translated.Program
		if p.Check {
			roundTrip(t, p)
		} else if _, err := typed.Parse(p.String(), ""); err != nil {
			t.Error(err)
		}
		commented, err := typed.Parse(p.Format(typed.TextOptions{Sources: true}), "")
		if err != nil || commented.String() != p.String() {
			t.Errorf("the text with comments reads back as another program: %v", err)
		}
		manual := p.ExportOver(translated.Mesh)
		if err := ir.Verify(t.Context(), manual); err != nil {
			t.Errorf("%v in\n%s", err, mlir.Print(manual, mlir.PrintOptions{}))
		}
		back, err := typed.Import(t.Context(), manual, typed.ImportOptions{Unchecked: !p.Check})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(outline(p), outline(back)); diff != "" {
			t.Errorf("the manual computation reads back as another program: %s", diff)
		}
		if translated.Unchecked != nil {
			return "unchecked: " + strings.TrimSpace(translated.Unchecked.Error()) + "\n" + p.String()
		}
		return p.Format(typed.TextOptions{Sources: d.HasArg("sources")})
	})
}

// outline returns the mesh, the specs and the communications of a program. The text of a manual computation does not
// tell gathers apart.
func outline(p *typed.Program) (lines []string) {
	lines = append(lines, fmt.Sprint(p.Mesh.Axes))
	for _, param := range p.Params {
		lines = append(lines, param.Spec.String())
	}
	for _, r := range p.Results {
		lines = append(lines, r.Spec.String())
	}
	for _, c := range p.Communications() {
		lines = append(lines, strings.Replace(c.Format(p), "all_gather_invariant", "all_gather", 1))
	}
	return lines
}
