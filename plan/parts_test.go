package plan

import (
	"math"
	"slices"
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
	whole := &choice{planner: p, best: &slow}
	parts := &partsSearch{planner: p, due: t.Context(), clean: p.found.clone(), whole: whole, ended: map[*choice]bool{}}
	if parts.splitter, err = microbatch.New(t.Context(), p.module, batchInputs(p.module)); err != nil {
		t.Fatal(err)
	}
	halves, err := parts.splitInto(t.Context(), t.Context(), parts.splitter.Parts()[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := parts.decideOn(t.Context(), t.Context(), halves, []int{1, 0}); err != nil {
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

// Where steps are limited, the fewest parts come first in which a baseline fits, then fewer, then more; where they are not, all in order.
func TestLikelyPartsFirst(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "2", "tpu-v5p")
	b, err := p.blocks(t.Context(), s.Planner(), p.axes(), entire)
	if err != nil {
		t.Fatal(err)
	}
	slow := *b.lowered
	slow.step.Compute *= 1000
	whole := &choice{planner: p, best: &slow}
	parts := &partsSearch{planner: p, due: t.Context(), clean: p.found.clone(), whole: whole, ended: map[*choice]bool{}}
	if err := parts.prepare(t.Context(), t.Context()); err != nil {
		t.Fatal(err)
	}
	numbers := parts.numbers()
	least, at := int64(math.MaxInt64), 0 // the bytes that a baseline holds at least, and the fewest parts in which one holds no more
	for i, n := range numbers {
		split, err := parts.splitInto(t.Context(), t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range split.baselines {
			if peak := b.lowered.step.Peak; peak < least {
				least, at = peak, i
			}
		}
	}
	if at == 0 {
		t.Fatalf("a baseline in %d parts needs least: want more", numbers[0])
	}
	fewer := func(n int) []int64 {
		list := slices.Clone(numbers)
		slices.Reverse(list[:n])
		return list
	}
	for _, c := range []struct {
		memory int64
		hasty  bool
		want   []int64
	}{
		{least, false, numbers},
		{least, true, fewer(at + 1)},
		{least - 1, true, fewer(len(numbers))},
	} {
		p.Memory, p.hasty = c.memory, c.hasty
		got, first, err := parts.likely(t.Context(), t.Context())
		if err != nil || !slices.Equal(got, c.want) || (first != nil) != c.hasty || c.hasty && first.parts != c.want[0] {
			t.Errorf("in %d bytes, of which the place %d needs least, limited %v: %v, %v, want %v", c.memory, at, c.hasty, got, err, c.want)
		}
	}
}
