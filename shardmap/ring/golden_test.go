package ring_test

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/ring"

	"github.com/cockroachdb/datadriven"
)

// The golden files hold partitioned programs on the mesh x=4, y=2 whose collectives ask for rings. Command rewrite
// prints them as the program of one device over axes, groups as that over device groups. Rewrite them with:
// go test ./shardmap/ring -rewrite
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := mlir.Parse(t.Context(), []byte("sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"+d.Input), mlir.Options{File: path})
			if err != nil {
				return err.Error()
			}
			meshID, _ := m.LookupMesh("mesh")
			p, err := shardmap.Lower(t.Context(), m, meshID)
			if err != nil {
				return err.Error()
			}
			if err := ring.Rewrite(t.Context(), p); err != nil {
				return err.Error()
			}
			if d.Cmd == "groups" {
				if err := shardmap.LowerAxes(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			if err := ir.Verify(t.Context(), m); err != nil {
				t.Fatalf("the rewritten program is wrong: %v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
			}
			return string(mlir.Print(m, mlir.PrintOptions{}))
		})
	})
}
