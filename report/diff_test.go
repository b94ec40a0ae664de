package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/answer"
	"autoshard/plan"
	"autoshard/report"
)

// tensor is a value of 8 rows, cut or not.
func tensorOf(name, spec string, bytes int64) *answer.Tensor {
	return &answer.Tensor{Name: name, Type: "f32[8,4]", Spec: spec, Bytes: bytes}
}

func difference() *plan.Difference {
	return &plan.Difference{
		Asked: []plan.Change{{Name: "memory", Before: "1 KiB", After: "2 KiB"}, {Name: "topology", After: "4x4"}},
		Figures: []plan.Figure{{Name: "seconds", Before: 2e-3, After: 1e-3},
			{Name: "peakBytes", Before: 1024, After: 1024}, {Name: "sentBytes", After: 64}},
		Traffic: []plan.TrafficPair{{Kind: "all_gather", Axes: "x,y", Before: plan.Traffic{Places: 2, Bytes: 64, Seconds: 3e-6}}},
		Values: []plan.ValuePair{{Name: "w", Before: tensorOf("w", "P('x', None)", 32), After: tensorOf("w", "P(None, None)", 128)},
			{Name: "y", Output: true, After: tensorOf("y", "P()", 128)}},
	}
}

// What differs is a page of tables: what was asked for, figures with their change, traffic, values.
func TestDiff(t *testing.T) {
	want := `asked for  a.json  b.json
memory      1 KiB   2 KiB
topology        -     4x4

predicted   a.json  b.json  change
step time     2 ms    1 ms   -50 %
memory       1 KiB   1 KiB       =
bytes sent     0 B    64 B     new

collective  axes     a.json  b.json  change   time
all_gather  x,y   64 B in 2       -  -100 %  -3 us

value       type      a.json        b.json         per device
w           f32[8,4]  P('x', None)  P(None, None)  32 B to 128 B
y (output)  f32[8,4]  -             P()            - to 128 B
`
	got := report.Diff(difference(), report.DiffOptions{Before: "a.json", After: "b.json"})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	got = report.Diff(difference(), report.DiffOptions{Before: "a.json", After: "b.json", Markdown: true})
	if !strings.Contains(got, "| collective | axes | a.json | b.json | change | time |\n| --- | --- | ---:| ---:| ---:| ---:|\n") {
		t.Errorf("as Markdown:\n%s", got)
	}
	if got := report.Diff(&plan.Difference{Same: true}, report.DiffOptions{}); got != "the plans are the same\n" {
		t.Errorf("equal plans: %s", got)
	}
}

// Layers that change alike share a row, unless all are asked for.
func TestDiffOfLayers(t *testing.T) {
	d := &plan.Difference{}
	for i := range 30 {
		name := "layers[" + strings.Repeat("1", i+1)[:1] + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "].w"
		d.Values = append(d.Values, plan.ValuePair{Name: name, Before: tensorOf(name, "P('x')", 4), After: tensorOf(name, "P()", 8)})
	}
	got := report.Diff(d, report.DiffOptions{})
	if !strings.Contains(got, "layers[*].w x 30  f32[8,4]  P('x')  P()  120 B to 240 B\n") {
		t.Errorf("layers are not folded:\n%s", got)
	}
	if got := report.Diff(d, report.DiffOptions{All: true}); strings.Count(got, "].w  ") != 30 {
		t.Errorf("all are asked for:\n%s", got)
	}
}

// Each point of an audit says its outcome, and the first of its faults.
func TestAudit(t *testing.T) {
	a := &plan.Audit{Items: []plan.Point{{Name: "hashes", Note: "of the plan"}, {Name: "model", Note: "not compared: the file is not there"},
		{Name: "prices", Note: "of a step", Faults: strings.Split(strings.Repeat("x is 1, not 2\n", 9)+"y", "\n")}}}
	want := "hashes      right  of the plan\nmodel       -      not compared: the file is not there\nprices      WRONG  of a step\n" +
		strings.Repeat("  x is 1, not 2\n", 8) + "  and 2 more\n"
	if d := cmp.Diff(want, report.Audit(a)); d != "" {
		t.Error(d)
	}
}
