package autoshard_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"autoshard"
	"autoshard/cost"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// A training step fits in three fifths of the memory below which no plan fits that computes nothing twice, and takes less than half as long
// again. The plan says what is made again, works out as it says, and computes what the unsharded model computes.
func TestRecomputing(t *testing.T) {
	const least = 656 << 10 // bytes, of plans that compute nothing twice
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	model, o := readModel(t, "examples/transformer_train.mlir"), autoshard.PlanOptions{Mesh: []subaxis.Axis{{Name: "data", Size: 2}},
		Hardware: hw, Memory: least * 99 / 100, Without: rewrites.Of(rewrites.RecomputeActivations, rewrites.Microbatches)}
	if _, err := autoshard.MakePlan(t.Context(), model, o); !errors.Is(err, autoshard.ErrInfeasible) {
		t.Fatalf("a plan that computes nothing twice fits: %v", err)
	}
	o.Without = rewrites.Of(rewrites.Microbatches)
	o.Memory = 2 * least
	free := makePlan(t, model, o)
	o.Memory = least * 6 / 10
	plan := makePlan(t, model, o)
	if len(plan.Recomputed) == 0 || len(free.Recomputed) > 0 || plan.Estimate.Seconds > 1.5*free.Estimate.Seconds {
		t.Errorf("%d values are made again, and a step takes %g s; with more memory %d, and %g s", len(plan.Recomputed), plan.Estimate.Seconds,
			len(free.Recomputed), free.Estimate.Seconds)
	}
	src, err := os.ReadFile("examples/transformer_train.mlir")
	if err != nil {
		t.Fatal(err)
	}
	audit, err := plan.Check(t.Context(), autoshard.PlanEvidence{Hardware: &hw, Model: autoshard.HashText(src)})
	if err != nil || !audit.Passed {
		t.Errorf("%+v, %v", audit, err)
	}
	verify(t, plan, "examples/transformer_train.in.npz", "examples/transformer_train.out.npz", 1e-4)
}

// Where memory is short, values are made again in the fastest programs before bounds are sought, which may take what time there is.
func TestRecomputingComesFirst(t *testing.T) {
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	var stages []string
	makePlan(t, readModel(t, "examples/transformer_train.mlir"), autoshard.PlanOptions{Mesh: []subaxis.Axis{{Name: "data", Size: 2}},
		Hardware: hw, Memory: 700 << 10, Without: rewrites.Of(rewrites.Microbatches),
		Progress: func(p autoshard.Progress) { stages = append(stages, p.Stage) }})
	again, bound := slices.Index(stages, "recompute"), slices.Index(stages, "bound")
	if again < 0 || bound >= 0 && bound < again {
		t.Errorf("values are made again at %d, a bound is sought at %d of %q", again, bound, stages)
	}
}
