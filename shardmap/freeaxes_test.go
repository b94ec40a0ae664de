package shardmap_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"

	"github.com/cockroachdb/datadriven"
)

// The golden files hold functions with a manual computation along x on the mesh x=4, y=2, whose values have shardings along y, and what is
// left when y has cut the body. Rewrite them with: go test ./shardmap -rewrite
func TestCutFree(t *testing.T) {
	datadriven.Walk(t, "testdata/free", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			m, err := mlir.Parse(t.Context(), []byte("sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"+d.Input), mlir.Options{File: path})
			if err != nil {
				return err.Error()
			}
			meshID, _ := m.LookupMesh("mesh")
			settled := m.Clone()
			planner := collectives.NewPlanner(flat{}, m.Mesh(meshID).Axes)
			for _, op := range m.OpsOf(m.MainFunc().Body, ir.OpSdyManualComputation) {
				if err := shardmap.CutFree(t.Context(), m, meshID, op, planner, settled); err != nil {
					return err.Error()
				}
			}
			ir.EraseDead(m)
			if err := ir.Verify(t.Context(), m); err != nil {
				t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
			}
			return string(mlir.Print(m, mlir.PrintOptions{}))
		})
	})
}
