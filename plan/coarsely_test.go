package plan

import "testing"

// Where memory is short, plans that place leading axes as one are searched, too, in as many steps as there are, and searches with each axis
// on its own go on from what that finds; not where the plan is proven, and not on one axis.
func TestCoarsely(t *testing.T) {
	for _, c := range []struct {
		mesh          string
		short, proven bool
		finds         bool
	}{
		{"2,2,2", true, false, true},
		{"4,2", true, false, true},
		{"8", true, false, false},
		{"2,2,2", true, true, false},
		{"2,2,2", false, false, false},
	} {
		p, s := planning(t, "examples/mlp_train.mlir", c.mesh, "tpu-v5p")
		b, err := p.blocks(t.Context(), s.Planner(), p.axes(), entire)
		if err != nil {
			t.Fatal(err)
		}
		p.Memory, p.Steps = b.lowered.step.Peak*6/5, 100_000_000
		slow := *b.lowered
		slow.step.Compute *= 1000
		got := &choice{planner: p, ctx: t.Context(), late: t.Context(), space: s, best: &slow, least: &slow, short: c.short,
			room: room{limit: DefaultSearchMemory}}
		if c.proven {
			got.bound = slow.step.Total()
		}
		l, err := got.finest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		known := len(l.space.WarmStarts())
		if err := got.coarsely(t.Context(), l); err != nil {
			t.Fatal(err)
		}
		found := got.best != &slow
		if found != c.finds || found && len(l.space.WarmStarts()) == known || got.spent > p.Steps || got.groups != 0 {
			t.Errorf("on %s, short %t, proven %t: found %t with %d warm starts of %d in %d steps", c.mesh, c.short, c.proven, found,
				len(l.space.WarmStarts()), known, got.spent)
		}
	}
}
