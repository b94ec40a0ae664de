package plan

import (
	"testing"

	"autoshard/cost"
	"autoshard/subaxis"
)

// Rewrites are chosen together, and one may be in the way of another: none is left that makes a step longer.
func TestRewritesGain(t *testing.T) {
	hw, err := cost.Lookup("h100")
	if err != nil {
		t.Fatal(err)
	}
	mesh := []subaxis.Axis{{Name: "data", Size: 16}, {Name: "model", Size: 8}}
	p, err := Make(t.Context(), parse(t, recorded(t, "llama3_70b_train_scan.mlir")), Options{Mesh: mesh, Hardware: hw})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range p.Rewrites {
		if g.SavedSeconds < 0 {
			t.Errorf("%+v", g)
		}
	}
}
