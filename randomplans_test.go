package autoshard_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"autoshard"
	"autoshard/internal/testkit/programs"
	"autoshard/ir/mlir"
	"autoshard/subaxis"
)

// Plans of random models on random meshes of up to three axes and eight devices compute what the unsharded models compute, value by
// value, and send the bytes that they say: those that are fastest where computing is slow, and those that take little memory.
func TestRandomPlansRun(t *testing.T) {
	processor := slowProcessor(t)
	slow := processor
	slow.Name, slow.Matrix.BF16, slow.VectorFLOPs, slow.HBMBandwidth = "slow", 1e7, 1e6, 1e7 // so that everything is worth cutting
	cut, plans := 0, 0
	run := func(t *rapid.T, model *autoshard.Model, o autoshard.PlanOptions) *autoshard.Plan {
		p, err := autoshard.MakePlan(t.Context(), model, o)
		if errors.Is(err, autoshard.ErrInfeasible) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if plans++; len(p.Collectives) > 0 {
			cut++
		}
		return p
	}
	t.Run("fast", rapid.MakeCheck(func(t *rapid.T) {
		sameAsUnsharded(t, run(t, randomModel(t), autoshard.PlanOptions{Hardware: slow, Steps: 1_000_000}))
	}))
	t.Run("small", rapid.MakeCheck(func(t *rapid.T) {
		model, o := randomModel(t), autoshard.PlanOptions{Hardware: processor, Steps: 1_000_000}
		o.Memory = run(t, model, o).Estimate.PeakBytes * 3 / 4
		sameAsUnsharded(t, run(t, model, o))
	}))
	t.Logf("%d plans, %d of them communicate", plans, cut)
}

// randomModel draws a model with shardings on a mesh, of whole axes and of parts of them. In one of three they need not divide what they
// cut.
func randomModel(t *rapid.T) *autoshard.Model {
	m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: 8, Rank: 3, Sizes: []int64{2, 3, 4, 8}, Indices: true, Windows: true, Loops: true,
		AllResults: true})
	mesh, parts := subaxis.Mesh{}, []subaxis.Ref(nil)
	for i, size := range rapid.SampledFrom([][]int64{{2}, {4}, {8}, {6}, {2, 2}, {4, 2}, {2, 4}, {2, 3}, {2, 2, 2}}).Draw(t, "mesh") {
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: size})
	}
	for _, r := range mesh.All() {
		if half := (subaxis.Ref{Axis: r.Axis, Pre: 1, Size: 2}); r.Size%2 == 0 && r.Size > 2 && rapid.Bool().Draw(t, "in parts") {
			rest, _ := r.SuffixWithout(half)
			parts = append(parts, half, rest)
		} else {
			parts = append(parts, r)
		}
	}
	draw := programs.Layout
	if rapid.IntRange(0, 2).Draw(t, "uneven") == 2 {
		draw = programs.Anywhere
	}
	programs.Annotate(t, m, m.AddMesh("mesh", mesh, nil, 0), parts, draw)
	text := mlir.Print(m, mlir.PrintOptions{})
	t.Logf("%s", text)
	model, err := autoshard.ReadModel(t.Context(), "random.mlir", text)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// sameAsUnsharded runs a plan on random inputs.
func sameAsUnsharded(t *rapid.T, p *autoshard.Plan) {
	program, err := p.Lowered(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := mlir.Parse(t.Context(), []byte(p.Program), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check, err := program.Verify(t.Context(), programs.Inputs(t, m), nil, autoshard.Tolerance{})
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Program)
	}
	for _, c := range check.Collectives {
		if c.Predicted != c.Counted {
			t.Fatalf("%s moved %d bytes, predicted %d\n%s", c.Kind, c.Counted, c.Predicted, p.Program)
		}
	}
}
