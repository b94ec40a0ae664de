package plan

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"autoshard/cost"
	"autoshard/internal/diag"
	"autoshard/internal/testkit/programs"
	"autoshard/rewrites"
	"autoshard/subaxis"
)

// Whatever the options are, and whatever plan the search begins with, there is a plan that is what it says it is, or none fits or keeps
// the budgets.
func TestAnyOptions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mesh := subaxis.Mesh{}
		for i := range rapid.IntRange(1, 3).Draw(t, "axes") {
			size := rapid.SampledFrom([]int64{2, 2, 3, 4}).Draw(t, "axis")
			mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: string(rune('a' + i)), Size: size})
		}
		m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: rapid.IntRange(2, 14).Draw(t, "ops"), Rank: rapid.IntRange(1, 3).Draw(t, "rank"),
			Sizes: []int64{12, 48, 100}, Loops: true, AllResults: rapid.Bool().Draw(t, "all results")})
		programs.Annotate(t, m, m.AddMesh("mesh", mesh, nil, 0), mesh.All(), programs.Layout)
		o := Options{Steps: rapid.Int64Range(1, 300_000).Draw(t, "steps")}
		for range 3 {
			vary(t, &o)
			p, err := Make(t.Context(), (&small{module: m.Clone()}).source(), o)
			if errors.Is(err, diag.ErrInfeasible) || errors.Is(err, diag.ErrInvalid) && o.Hardware.Torus != nil { // which has no such mesh
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			audit, err := p.Check(t.Context(), Evidence{Model: p.Hashes.Model, Hardware: &o.Hardware})
			if err != nil || !audit.Passed {
				t.Fatalf("%v, %+v of a plan with %+v", err, audit, o)
			}
			o.From = p
		}
	})
}

// vary changes some of the options.
func vary(t *rapid.T, o *Options) {
	o.Hardware, _ = cost.Lookup(rapid.SampledFrom([]string{"tpu-v5p", "h100", "cpu"}).Draw(t, "hardware"))
	o.Without = 0
	for _, r := range rewrites.All() {
		if rapid.IntRange(0, 4).Draw(t, "without") == 0 {
			o.Without |= rewrites.Of(r)
		}
	}
	o.Budgets = nil
	if o.From != nil {
		o.Memory = o.From.Estimate.PeakBytes * rapid.Int64Range(30, 130).Draw(t, "percent of the memory") / 100
		if list := o.From.Collectives; len(list) > 0 && rapid.Bool().Draw(t, "has a budget") {
			c := rapid.SampledFrom(list).Draw(t, "collective")
			o.Budgets = []Budget{{Kind: c.Kind, Bytes: c.Bytes * rapid.Int64Range(0, 100).Draw(t, "percent of the bytes") / 100}}
		}
	}
	o.WholeAxes = rapid.Bool().Draw(t, "whole axes")
	o.Taste = rapid.SampledFrom([]float64{0, -1, 0.1}).Draw(t, "taste")
	o.Seed = rapid.Uint64().Draw(t, "seed")
	o.SearchMemory = rapid.SampledFrom([]int64{0, 0, 1 << 20}).Draw(t, "search memory")
}
