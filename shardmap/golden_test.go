package shardmap_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/shardmap"

	"github.com/cockroachdb/datadriven"
)

// The golden files hold annotated functions on the mesh x=4, y=2. Command partition prints them with explicit
// collectives, lower as the program of one device. Rewrite them with: go test ./shardmap -rewrite
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			src := "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n" + d.Input
			m, err := mlir.Parse([]byte(src), mlir.Options{File: path})
			if err != nil {
				return err.Error()
			}
			if err := ir.Verify(m); err != nil {
				return err.Error()
			}
			meshID, _ := m.LookupMesh("mesh")
			collectives.Settle(m, meshID)
			planner := collectives.NewPlanner(&m.Mesh(meshID).Mesh, flat{})
			if err := collectives.Partition(m, meshID, collectives.Derive(m), planner); err != nil {
				return err.Error()
			}
			if d.Cmd == "lower" {
				if _, err := shardmap.Lower(m, meshID); err != nil {
					return err.Error()
				}
			}
			return string(mlir.Print(m, mlir.PrintOptions{}))
		})
	})
}
