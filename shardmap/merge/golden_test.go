package merge_test

import (
	"context"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/merge"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"
)

// The golden files hold partitioned programs on the mesh x=4, y=2. Command rewrite merges their collectives up to a number of bytes
// (bytes=N) and prints the program of one device over axes, groups that over device groups. Rewrite them with:
// go test ./shardmap/merge -rewrite
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			bytes := int64(0)
			d.ScanArgs(t, "bytes", &bytes)
			p := lower(t, "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"+d.Input, bytes, none)
			if d.Cmd == "groups" {
				if err := shardmap.LowerAxes(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			return string(mlir.Print(p.Module, mlir.PrintOptions{}))
		})
	})
}

// none joins no collectives but those that the text marks.
func none(*shardmap.Program) []int { return nil }

// lower returns the program of one device, with merged collectives of at most so many bytes, and with those joined that a function says, by
// their places.
func lower(t rapid.TB, text string, bytes int64, join func(*shardmap.Program) []int) *shardmap.Program {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{File: "example"})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	id, _ := m.LookupMesh("mesh")
	merge.Ask(m, bytes)
	p, err := shardmap.Lower(context.Background(), m, id)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, i := range join(p) {
		merge.Join(p.Module, p.Collectives[i].Op)
	}
	if err := merge.Rewrite(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(context.Background(), p.Module); err != nil {
		t.Fatalf("the rewritten program is wrong: %v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	return p
}
