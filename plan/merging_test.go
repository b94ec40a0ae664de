package plan

import (
	"testing"

	"autoshard/search/space"
)

// Where time is limited, memory rules out a baseline that is faster, and the best plan of the whole batch is slow, it is searched with
// collectives sent as one before the batch is computed in parts, with those of each warm start once; not where steps are limited, of which
// too few were left, or where nothing is.
func TestMergingFirst(t *testing.T) {
	for name, c := range map[string]struct {
		hasty   bool
		steps   int64
		inParts *partsSearch
		finds   bool
	}{
		"time is limited":       {true, 0, &partsSearch{}, true},
		"steps are limited":     {true, 100_000_000, &partsSearch{}, false},
		"nothing is limited":    {false, 0, &partsSearch{}, false},
		"the batch stays whole": {true, 0, nil, false},
	} {
		p, s := planning(t, "examples/mlp_train.mlir", "8", "tpu-v5p")
		b, err := p.blocks(t.Context(), s.Planner(), p.axes(), entire)
		if err != nil {
			t.Fatal(err)
		}
		p.Memory, p.Steps, p.hasty, p.inParts = b.lowered.step.Peak*6/5, c.steps, c.hasty, c.inParts
		slow := *b.lowered
		slow.step.Compute += 1000 * slow.step.Total()
		got := &choice{planner: p, ctx: t.Context(), late: t.Context(), space: s, best: &slow, least: &slow, short: true,
			baselines: []baseline{{lowered: taking(1, p.Memory+1)}}, room: room{limit: DefaultSearchMemory}}
		l, err := got.build(t.Context(), space.Level{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := got.mergingFirst(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		found := got.best != &slow
		if found != c.finds || found && l.met != len(l.space.WarmStarts()) || found != (l.met > 0) {
			t.Errorf("%s: a plan was found: %t, of %d warm starts %d were met", name, found, len(l.space.WarmStarts()), l.met)
		}
	}
}
