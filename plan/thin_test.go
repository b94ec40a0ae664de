package plan

import (
	"testing"

	"autoshard/ir"
	"autoshard/padding"
	"autoshard/program"
)

// annotate returns the annotated program of an example's plan before it is thinned.
func annotate(t *testing.T, name, mesh string, memory int64) *annotation {
	t.Helper()
	p, err := Make(t.Context(), parse(t, "../examples/"+name+".mlir"), Options{Mesh: axes(t, mesh), Memory: memory, Steps: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := program.Parse(t.Context(), p.Program)
	if err != nil {
		t.Fatal(err)
	}
	a := &annotation{m: m}
	if err := a.write(t.Context()); err != nil {
		t.Fatal(err)
	}
	ir.ForgetTrips(m)
	padding.Forget(m)
	return a
}

// What is left of the constraints makes propagation cut every value as the plan does, and each of them is needed for that.
func TestThin(t *testing.T) {
	for _, c := range []struct {
		name   string
		memory int64
	}{{"mlp_train", 50_000}, {"transformer_train", 500_000}, {"llama_train", 400_000}} {
		a := annotate(t, c.name, "4,2", c.memory)
		n := &thinning{annotation: a, kept: make([]bool, len(a.constraints)), at: places(a.constraints), trials: 1000}
		for i := range a.constraints {
			n.kept[i] = a.constraints[i].moves
		}
		if err := n.add(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := n.drop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if wrong, err := n.differing(t.Context(), n.kept); err != nil || len(wrong) > 0 {
			t.Errorf("%s: %d values are cut otherwise than in the plan, %v", c.name, len(wrong), err)
		}
		left := 0
		for i, kept := range n.kept {
			if !kept {
				continue
			}
			if left++; a.constraints[i].moves {
				continue
			}
			n.kept[i] = false
			if wrong, err := n.differing(t.Context(), n.kept); err != nil || len(wrong) == 0 {
				t.Errorf("%s: constraint %d is needless, %v", c.name, i, err)
			}
			n.kept[i] = true
		}
		t.Logf("%s: %d of %d constraints are left", c.name, left, len(a.constraints))
		if 4*left > len(a.constraints) {
			t.Errorf("%s: %d of %d constraints are left", c.name, left, len(a.constraints))
		}
	}
}
