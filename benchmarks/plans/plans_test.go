package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"autoshard/benchmarks/experts"
	"autoshard/cost"
)

// sample are the models that are planned in seconds.
var sample = regexp.MustCompile("^(mlp_fwd|int8_matmul|gqa_decode|window_decode|lstm_train|fourier_mixing)$")

// known are the answers that are not yet right, each with how much dearer the plan is than the best expert's; no where
// there is no plan although an expert fits. One that has been mended must be taken out.
var known = map[string]float64{}

// no is the figure of a false "no plan fits".
const no = -1

// figure returns what is wrong with a row, as known lists it; 0 for nothing.
func (r *row) figure() float64 {
	switch {
	case r.falseNo():
		return no
	case r.dearer():
		return r.ratio()
	}
	return 0
}

// Under every limit that an expert fits there is a plan, and it is not dearer than the best expert's.
func TestPlansBesideExperts(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models")
	}
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	models, err := experts.Shared()
	if err != nil {
		t.Fatal(err)
	}
	p := planner{hardware: hw}
	for i := range models {
		m := &models[i]
		if !sample.MatchString(m.Name) {
			continue
		}
		for _, mesh := range m.ExpertMeshes() {
			t.Run(fmt.Sprint(m.Name, mesh), func(t *testing.T) {
				t.Parallel()
				rows, err := p.compare(t.Context(), m, mesh)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range rows {
					check(t, &r)
				}
			})
		}
	}
}

// The plans of a model run on eight devices as the recorded model ran on one.
func TestPlansRun(t *testing.T) {
	if os.Getenv("AUTOSHARD_SHARED") == "" {
		t.Skip("AUTOSHARD_SHARED is not set: it names the folder with the models")
	}
	hw, err := cost.Lookup("tpu-v5p")
	if err != nil {
		t.Fatal(err)
	}
	models, err := experts.Shared()
	if err != nil {
		t.Fatal(err)
	}
	m := &models[slices.IndexFunc(models, func(m experts.Model) bool { return m.Name == "mlp_fwd" })]
	p, sent := planner{hardware: hw}, int64(0)
	for _, mesh := range m.ExpertMeshes() {
		runs, err := p.runs(t.Context(), m, mesh)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if sent += r.sent; r.plan.err != nil || r.err != nil || r.values == 0 {
				t.Error(r.line())
			}
		}
	}
	if sent == 0 {
		t.Error("no plan sends anything")
	}
}

// check compares what is wrong with a row with what is known to be.
func check(t *testing.T, r *row) {
	t.Helper()
	name := fmt.Sprintf("%s %s %s", r.model, r.axes(), label(r.factor))
	got, want := r.figure(), known[name]
	const digits = 5e-5 // that figures of the list are rounded by
	switch {
	case got == want || got > 0 && got <= want+digits:
	case got == 0:
		t.Errorf("%s is mended: it does not belong into the list any more", name)
	case got == no:
		t.Errorf("%s: %s fits %d bytes, and the answer is: %v", name, r.best, r.limit, r.ours.err)
	default:
		t.Errorf("%s: the plan takes %.4f times as long as %s; the list says %.4f", name, got, r.best, want)
	}
}
