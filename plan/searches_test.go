package plan

import "testing"

// A search takes a part of the steps that are left, or all of them while no plan is known, and never more than one without a budget.
func TestStepsOfSearches(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "4,2", "tpu-v5p")
	got := &choice{planner: p, ctx: t.Context(), late: t.Context(), space: s, room: room{limit: DefaultSearchMemory}}
	l, err := got.finest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		budget, spent int64
		known, rough  bool
		want          int64
	}{
		{0, 7, true, false, 1000},
		{0, 7, true, true, 0},
		{207, 7, true, false, 100},
		{207, 7, true, true, 100},
		{8, 7, true, false, 1},
		{207, 7, false, false, 207},
		{1_000_000, 7, true, false, 1000},
		{1_000_000, 7, false, false, 1000},
		{1_000_007, 7, true, true, 500_000},
	} {
		p.Steps, got.spent, got.best = c.budget, c.spent, nil
		if c.known {
			got.best = taking(10, 10)
		}
		if steps := got.options(l, l.problem, 0.5, 1000, c.rough).Steps; steps != c.want {
			t.Errorf("%d steps with %d of %d spent, a plan known %t, rough %t: want %d", steps, c.spent, c.budget, c.known, c.rough, c.want)
		}
	}
}
