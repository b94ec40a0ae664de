package plan

import (
	"testing"

	"autoshard/microbatch"
)

// Quick searches of a batch in parts place all axes of a mesh as one first, and then each on its own, in the steps that there are for both;
// what comes of the former is searched to the end with each on its own, in as many steps as any plan.
func TestPartsTogetherFirst(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "4,2", "tpu-v5p")
	b, err := p.blocks(t.Context(), s.Planner(), p.axes(), entire)
	if err != nil {
		t.Fatal(err)
	}
	p.Memory, p.Steps = b.lowered.step.Peak*2, 20_000_000
	slow := *b.lowered
	slow.step.Compute *= 1000
	parts := &partsSearch{planner: p, clean: p.found.clone(), whole: &choice{planner: p, best: &slow}, ended: map[*choice]bool{}}
	if parts.splitter, err = microbatch.New(t.Context(), p.module, batchInputs(p.module)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := parts.decideOn(t.Context(), t.Context(), parts.splitter.Parts()[0], []int{1, 0}); err != nil {
		t.Fatal(err)
	}
	if len(parts.plans) != 2 || parts.plans[0].last.Groups != 1 || parts.plans[1].last.Groups != 0 {
		t.Fatalf("%d quick plans, want one with all axes together before one with each on its own", len(parts.plans))
	}
	together := parts.plans[0]
	c, err := parts.goOn(t.Context(), t.Context(), together)
	if err != nil {
		t.Fatal(err)
	}
	if c.Steps != p.Steps || c.last.Groups != 0 || c.best.step.Total() > together.best.step.Total() {
		t.Errorf("the search to the end of a plan of %d ps in %d steps ends in %d groups with one of %d ps", together.best.step.Total(),
			c.Steps, c.last.Groups, c.best.step.Total())
	}
}
