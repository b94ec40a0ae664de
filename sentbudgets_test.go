package autoshard_test

import (
	"errors"
	"strings"
	"testing"

	"autoshard"
	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// Plans keep budgets, and cost more for that; a smaller budget is a fault of a plan.
// Where no plan is found that keeps them, the error names the line of what sends most.
func TestBudgetsOfBytes(t *testing.T) {
	hw, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	model := readModel(t, "examples/mlp_train.mlir")
	o := autoshard.PlanOptions{Mesh: []subaxis.Axis{{Name: "data", Size: 4}, {Name: "model", Size: 2}}, Hardware: hw, Memory: 40_000}
	budget := func(text string) []autoshard.Budget {
		b, err := autoshard.ParseBudget(text)
		if err != nil {
			t.Fatal(err)
		}
		return []autoshard.Budget{b}
	}
	sent := func(p *autoshard.Plan, kind, axis string) (bytes int64) {
		for _, c := range p.Collectives {
			if (kind == "" || c.Kind == kind) && (axis == "" || strings.Contains(strings.Join(c.Axes, ","), axis)) {
				bytes += c.Bytes
			}
		}
		return bytes
	}
	free := makePlan(t, model, o)
	for _, c := range []struct {
		text, kind, axis string
		bytes            int64
	}{{"all_reduce<=30KiB", "all_reduce", "", 30 << 10}, {"sent: data<=1KiB/device", "", "data", 8 << 10}} {
		o.Budgets = budget(c.text)
		p := makePlan(t, model, o)
		if n := sent(free, c.kind, c.axis); n <= c.bytes {
			t.Errorf("without %s a plan sends %d bytes: the test shows nothing", c.text, n)
		}
		if n := sent(p, c.kind, c.axis); n > c.bytes || p.Estimate.Seconds <= free.Estimate.Seconds {
			t.Errorf("with %s a plan sends %d bytes and takes %g s, without %g", c.text, n, p.Estimate.Seconds, free.Estimate.Seconds)
		}
		p.Options.Budgets = budget("sent<=1KiB")
		audit, err := p.Check(t.Context(), autoshard.PlanEvidence{})
		if err != nil || !strings.Contains(strings.Join(audit.Items[len(audit.Items)-1].Faults, ""), "budget") {
			t.Errorf("with a smaller budget: %+v, %v", audit, err)
		}
	}
	o.Budgets, o.Without = budget("sent<=0"), rewrites.Of(rewrites.Microbatches) // which every device could compute alone
	_, err = autoshard.MakePlan(t.Context(), model, o)
	if d := diag.Diagnostics(err); !errors.Is(err, autoshard.ErrInfeasible) || d[0].Code != diag.BudgetLimit || d[0].Pos.Line == 0 {
		t.Errorf("no plan sends nothing: %v", err)
	}
	o.Budgets = budget("sent: z<=1KiB")
	if _, err := autoshard.MakePlan(t.Context(), model, o); !errors.Is(err, autoshard.ErrInvalid) {
		t.Errorf("an axis that the mesh lacks: %v", err)
	}
}
