package plan

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"autoshard/internal/diag"

	"pgregory.net/rapid"
)

// A budget that is written is read back, whatever it is.
func TestBudgetTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{Kind: rapid.SampledFrom(append(kinds, ofAll)).Draw(t, "kind"), Bytes: rapid.Int64Range(0, 1<<50).Draw(t, "bytes"),
			Axes: rapid.SliceOfN(rapid.StringMatching(`[a-z]+`), 0, 3).Draw(t, "axes"), Each: rapid.Bool().Draw(t, "each")}
		back, err := ParseBudget(b.String())
		if err != nil || back.String() != b.String() || back.Bytes != b.Bytes || back.Each != b.Each || len(back.Axes) != len(b.Axes) {
			t.Fatalf("%s is read as %+v, %v", &b, back, err)
		}
	})
	for text, want := range map[string]string{"all_gather <= 64MiB": "all_gather<=64MiB", "all_reduce<=0": "all_reduce<=0",
		"sent: data, model<=1GB/device": "sent: data,model<=1000000000B/device"} {
		if b, err := ParseBudget(text); err != nil || b.String() != want {
			t.Errorf("%q is read as %s, %v, want %s", text, &b, err, want)
		}
	}
	for _, text := range []string{"", "all_gather", "all_gather<64MiB", "gather<=1", "all_gather<=x", "all_gather<=-1", "<=1"} {
		if _, err := ParseBudget(text); !errors.Is(err, diag.ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Plans keep the budgets also where the batch has to be computed in parts, whose fastest plans break them. Where none does, that is said,
// and not that nothing fits.
func TestBudgetsInParts(t *testing.T) {
	o := Options{Mesh: axes(t, "2"), Memory: 20 << 10}
	for _, c := range []struct {
		budget Budget
		none   bool
	}{
		{Budget{Kind: "all_gather"}, false},
		{Budget{Kind: "all_reduce"}, false},
		{Budget{Kind: ofAll, Bytes: 100}, true},
	} {
		o.Budgets = []Budget{c.budget}
		p, err := Make(t.Context(), parse(t, "testdata/microbatches.mlir"), o)
		if c.none {
			if !errors.Is(err, diag.ErrInfeasible) || diag.Diagnostics(err)[0].Code != diag.BudgetLimit {
				t.Errorf("%s: %v", &c.budget, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", &c.budget, err)
			continue
		}
		if sent, _ := c.budget.sends(p.Collectives, 2); sent > c.budget.Bytes || p.Microbatches < 2 {
			t.Errorf("%s: %d bytes are sent in %d parts", &c.budget, sent, p.Microbatches)
		}
	}
}

// Whatever a plan sends most of, one that is to send less of it does, or there is none.
func TestBudgetsOfPrograms(t *testing.T) {
	const programs = 60
	kept := 0
	for seed := range programs {
		c := smallPrograms(1 + seed%3).Example(seed)
		o := c.options(unlimited)
		first, err := Make(t.Context(), c.source(), o)
		if err != nil {
			t.Fatal(err)
		}
		o.Memory = first.Estimate.PeakBytes * 9 / 10
		if first, err = Make(t.Context(), c.source(), o); errors.Is(err, diag.ErrInfeasible) || err == nil && len(first.Collectives) == 0 {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		most := slices.MaxFunc(first.Collectives, func(a, b Collective) int { return cmp.Compare(a.Bytes, b.Bytes) })
		b := Budget{Kind: most.Kind, Bytes: most.Bytes * 2 / 3}
		o.Budgets = []Budget{b}
		second, err := Make(t.Context(), c.source(), o)
		if errors.Is(err, diag.ErrInfeasible) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		kept++
		if sent, _ := b.sends(second.Collectives, c.module.Mesh(1).Devices()); sent > b.Bytes {
			t.Errorf("program %d sends %d bytes by %s", seed, sent, &b)
		}
	}
	if kept < programs/10 {
		t.Errorf("only %d budgets could be kept: the test shows little", kept)
	}
}
