package plan

import (
	"testing"

	"autoshard/cost/estimate"
	"autoshard/rewrites"
)

// Quick searches make values of programs that do not fit again where the best plan is slow beside them, and leave it where it is not.
func TestQuickSearchesMakeValuesAgain(t *testing.T) {
	p, s := planning(t, "examples/transformer_train.mlir", "2", "cpu")
	b, err := p.blocks(t.Context(), s.Planner(), p.axes(), updated)
	if err != nil {
		t.Fatal(err)
	}
	p.Memory, p.screening = b.lowered.step.Peak*9/10, true
	for times, again := range map[int64]bool{1: false, 100: true} {
		known := *b.lowered
		known.step = estimate.Step{Compute: times * b.lowered.step.Total(), Peak: p.Memory}
		c := &choice{planner: p, space: s, ctx: t.Context(), late: t.Context(), best: &known}
		c.offer(b.lowered)
		if err := c.recomputing(t.Context()); err != nil {
			t.Fatal(err)
		}
		if (c.best.again > 0) != again {
			t.Errorf("beside a plan that takes %d times as long %d values are made again", times, c.best.again)
		}
	}
}

// Where values made again do not make a program fit, squeezing tells what is missing, and gives up as soon as that is not halved.
func TestSqueezeTellsWhatIsMissing(t *testing.T) {
	p, s := planning(t, "examples/transformer_train.mlir", "2", "cpu")
	b, err := p.blocks(t.Context(), s.Planner(), p.axes(), updated)
	if err != nil {
		t.Fatal(err)
	}
	tight, fits := *p, *p
	tight.Memory, fits.Memory = b.lowered.inputBytes()+1, b.lowered.step.Peak*9/10
	for _, p := range []*planner{&tight, &fits} {
		known := *b.lowered
		known.step = estimate.Step{Compute: 100 * b.lowered.step.Total(), Peak: p.Memory}
		c := &choice{planner: p, space: s, ctx: t.Context(), late: t.Context(), best: &known, least: &known}
		over, err := c.squeezeAll(t.Context(), []*lowered{b.lowered})
		if err != nil {
			t.Fatal(err)
		}
		again := c.best.again > 0
		if again != (p == &fits) || (over == 0) != again || over > b.lowered.step.Peak {
			t.Errorf("under %d bytes a program that holds %d misses %d bytes with values made again, and fits: %v", p.Memory, b.lowered.step.Peak,
				over, again)
		}
	}
}

// Where memory is short, steps are limited, and the best plan is slow, one with values made again is found under a larger limit; not where
// it is as fast, where values are not to be made again, or where nothing is limited.
func TestRoomFirst(t *testing.T) {
	p, s := planning(t, "examples/transformer_train.mlir", "2", "cpu")
	b, err := p.blocks(t.Context(), s.Planner(), p.axes(), updated)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		times   int64 // how much longer than that program the best plan takes
		without rewrites.Set
		short   bool
		hasty   bool
		finds   bool
	}{
		"slow":            {100, 0, true, true, true},
		"fast":            {1, 0, true, true, false},
		"switched off":    {100, rewrites.Of(rewrites.RecomputeActivations), true, true, false},
		"memory is ample": {100, 0, false, true, false},
		"steps are ample": {100, 0, true, false, false},
	} {
		p := *p
		p.Memory, p.Without, p.hasty = b.lowered.step.Peak*9/10, c.without, c.hasty
		known := *b.lowered
		known.step = estimate.Step{Compute: c.times * b.lowered.step.Total(), Peak: p.Memory}
		got := &choice{planner: &p, ctx: t.Context(), late: t.Context(), space: s, best: &known, least: &known, short: c.short,
			crowded: []*lowered{b.lowered}, room: room{limit: DefaultSearchMemory}}
		l, err := got.finest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := got.roomFirst(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		if found := got.best != &known; found != c.finds || found && got.best.step.Peak > p.Memory {
			t.Errorf("%s: a plan was found: %v, of %d bytes in %d", name, found, got.best.step.Peak, p.Memory)
		}
	}
}
