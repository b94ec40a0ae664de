package shardmap_test

import (
	"strings"
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
			return cutFree(t, path, d.Input, flat{})
		})
	})
}

// Values of a body differ along the axes of its computation: what moves them along free axes makes no detour along those, however
// cheap.
func TestCutFreeTakesNoDetours(t *testing.T) {
	alongX := func(text string) int { return strings.Count(text, `axis_ref<name = "x">`) }
	cut := 0
	datadriven.Walk(t, "testdata/free", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			got := cutFree(t, path, d.Input, odd{})
			if alongX(got) > alongX(d.Input) {
				t.Errorf("%s: something moves along x\n%s", d.Pos, got)
			}
			cut += strings.Count(got, `axis_ref<name = "y">`)
			return d.Expected
		})
	})
	if cut == 0 {
		t.Error("nothing moves along y")
	}
}

// cutFree returns a function with the bodies of its manual computations cut, or the error.
func cutFree(t *testing.T, path, function string, prices collectives.Pricer) string {
	m, err := mlir.Parse(t.Context(), []byte("sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"+function), mlir.Options{File: path})
	if err != nil {
		return err.Error()
	}
	meshID, _ := m.LookupMesh("mesh")
	settled := m.Clone()
	planner := collectives.NewPlanner(prices, m.Mesh(meshID).Axes)
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
}
