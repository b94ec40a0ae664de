package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/plan"
	"autoshard/program"
	"autoshard/report"
)

// Alternatives stand in a table beside what there is; what fits in no plan stands below with its reason.
func TestWeighing(t *testing.T) {
	gathers := plan.TrafficPair{Kind: "all_gather", Axes: "x", After: plan.Traffic{Places: 1, Bytes: 2048}}
	w := &plan.Weighing{Value: "w", Type: "f32[8,4]", Now: plan.Choice{Spec: "P('x', None)", Bytes: 64, Seconds: 1e-3, PeakBytes: 1024},
		Others: []plan.Choice{
			{Spec: "P(None, 'x')", Bytes: 64, Seconds: 2e-3, PeakBytes: 512, SentBytes: 2048, Moved: 1, Anew: true,
				Traffic: []plan.TrafficPair{gathers}},
			{Spec: "P(None, None)", Refused: "no plan fits"}}}
	want := `w f32[8,4] is P('x', None), 64 B on a device; a step takes 1 ms, 1 KiB at the peak, and sends 0 B

instead       on a device      step time         memory         sent  collectives          also cut otherwise
P(None, 'x')         64 B  2 ms (+100 %)  512 B (-50 %)  2 KiB (new)  +2 KiB all_gather x  1 value
P(None, None): no plan fits
the first is a plan made from scratch with this pin; the others were looked for more quickly, from the plan that is there
`
	if d := cmp.Diff(want, report.Weighing(w)); d != "" {
		t.Error(d)
	}
	w.Untried = 3
	if got := report.Weighing(w); !strings.Contains(got, "\n3 other shardings along more axes not tried\n") {
		t.Errorf("with others that were not tried: %s", got)
	}
	w.Others, w.Axis, w.Untried = nil, "y", 0
	if want, got := "no other sharding along y divides it\n", report.Weighing(w); got[len(got)-len(want):] != want {
		t.Errorf("without alternatives: %s", got)
	}
}

// Decisions are rows, as many as are asked for; without one that is cut there are none.
func TestDecisions(t *testing.T) {
	now := &plan.Plan{Estimate: program.Estimate{Seconds: 1e-3, PeakBytes: 1024}}
	all := &plan.Decisions{Untried: 2, List: []plan.Decision{
		{Values: []string{"w[0]", "w[1]"}, Type: "f32[8]", Spec: "P('x')", Whole: plan.Choice{Refused: "no"}},
		{Values: []string{"b"}, Type: "f32[4]", Spec: "P('x')", Whole: plan.Choice{Seconds: 3e-3, PeakBytes: 1024}},
		{Values: []string{"c"}, Whole: plan.Choice{Refused: "late", Late: true}}, {Values: []string{"d"}}}}
	want := `decision          type    sharding  if it were whole      memory     sent  collectives
w[0] and 1 alike  f32[8]  P('x')    nothing fits
b                 f32[4]  P('x')    3 ms (+200 %)      1 KiB (=)  0 B (=)
c                                   not known in time
2 decisions about fewer bytes not tried
`
	if d := cmp.Diff(want, report.Decisions(all, now, 3)); d != "" {
		t.Error(d)
	}
	if got := report.Decisions(new(plan.Decisions), now, 3); got != "no input is cut: there is nothing to undo\n" {
		t.Errorf("without decisions: %s", got)
	}
}
