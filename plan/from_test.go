package plan

import (
	"testing"

	"autoshard/ir"
	"autoshard/subaxis"
)

// A search that begins with an earlier plan gives none that is worse, also where names are others, and says what it began with.
func TestFrom(t *testing.T) {
	o := Options{Mesh: []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}, Memory: 30_000}
	first, err := Make(t.Context(), parse(t, "../examples/mlp_train.mlir"), o)
	if err != nil {
		t.Fatal(err)
	}
	o.From, o.Steps = first, 1
	for _, rename := range []bool{false, true} {
		src := parse(t, "../examples/mlp_train.mlir")
		if rename {
			for _, v := range src.Module.BlockArgs(src.Module.MainFunc().Body) {
				src.Module.SetArgLoc(v, src.Module.AddLoc(ir.Location{Kind: ir.LocName, Name: "other"}))
			}
		}
		second, err := Make(t.Context(), src, o)
		if err != nil {
			t.Fatal(err)
		}
		if second.Certificate.Cost > first.Certificate.Cost || second.Options.From != first.Hashes.Plan {
			t.Errorf("renamed %v: cost %d after %d, began with %q", rename, second.Certificate.Cost, first.Certificate.Cost, second.Options.From)
		}
		honest(t, second)
	}
}

// A plan of another program on another mesh is no reason to fail.
func TestFromAnotherProgram(t *testing.T) {
	first, err := Make(t.Context(), parse(t, "../examples/transformer_train.mlir"),
		Options{Mesh: []subaxis.Axis{{Name: "x", Size: 2}}, Steps: 1000})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Make(t.Context(), parse(t, "../examples/mlp_train.mlir"),
		Options{Mesh: []subaxis.Axis{{Name: "data", Size: 8}}, From: first})
	if err != nil {
		t.Fatal(err)
	}
	honest(t, second)
}
