package shardmap_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/rewrites"
	"autoshard/shardmap"

	"github.com/cockroachdb/datadriven"
)

// The golden files hold annotated functions on the mesh x=4, y=2. Command partition prints them with explicit
// collectives, lower as the program of one device over axes, groups as that over device groups. Rewrite them with:
// go test ./shardmap -rewrite
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			src := "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n" + d.Input
			m, err := mlir.Parse(t.Context(), []byte(src), mlir.Options{File: path})
			if err != nil {
				return err.Error()
			}
			if err := ir.Verify(t.Context(), m); err != nil {
				return err.Error()
			}
			meshID, _ := m.LookupMesh("mesh")
			if err := collectives.Settle(t.Context(), m, meshID); err != nil {
				t.Fatal(err)
			}
			assignment, err := collectives.Derive(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			planner := collectives.NewPlanner(flat{}, m.Mesh(meshID).Axes)
			how := collectives.Rewriting{Reach: collectives.Anywhere, Without: rewrites.Of(rewrites.All()...)}
			if _, err := collectives.Partition(t.Context(), m, meshID, assignment, planner, how); err != nil {
				return err.Error()
			}
			if d.Cmd == "partition" {
				return string(mlir.Print(m, mlir.PrintOptions{}))
			}
			p, err := shardmap.Lower(t.Context(), m, meshID)
			if err == nil && d.Cmd == "groups" {
				err = shardmap.LowerAxes(t.Context(), p)
			}
			if err == nil {
				err = ir.Verify(t.Context(), m)
			}
			if err != nil {
				return err.Error()
			}
			return string(mlir.Print(m, mlir.PrintOptions{}))
		})
	})
}

// The golden files hold functions over device groups on the mesh x=4, y=2, and what OverAxes makes of them.
func TestOverAxesForms(t *testing.T) {
	datadriven.Walk(t, "testdata/overaxes", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := mlir.Parse(t.Context(), []byte("sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"+d.Input), mlir.Options{File: path})
			if err != nil {
				return err.Error()
			}
			main, _ := m.Main()
			meshID, _ := m.LookupMesh("mesh")
			shardmap.OverAxes(m, m.Func(main).Body, meshID, nil)
			ir.EraseDead(m)
			if err := ir.Verify(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			return string(mlir.Print(m, mlir.PrintOptions{}))
		})
	})
}
