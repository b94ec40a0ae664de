package report_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard"
	"autoshard/internal/testkit"
	"autoshard/report"
	"autoshard/trace"
)

// megatron is a transformer with shardings of two user priorities.
func megatron(t *testing.T) *autoshard.Model {
	t.Helper()
	const file = "transformer_train_megatron_priorities.mlir"
	text, err := os.ReadFile(filepath.Join("..", "examples", file))
	if err != nil {
		t.Fatal(err)
	}
	m, err := autoshard.ReadModel(t.Context(), file, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// traceOf is the trace of its propagation, filtered.
func traceOf(t *testing.T, f autoshard.TraceFilter) *trace.Document {
	t.Helper()
	p, err := autoshard.Propagate(t.Context(), megatron(t), autoshard.PropagateOptions{Filter: f})
	if err != nil {
		t.Fatal(err)
	}
	return &p.Trace
}

// The trace of a transformer of 1,600 operations is a page of 60 lines, in which every step is counted: the groups expand to the full list,
// and the numbers before the lines add up to it.
func TestTracePage(t *testing.T) {
	doc := traceOf(t, autoshard.TraceFilter{})
	page := report.Trace(doc, -1)
	testkit.File(t, filepath.Join("testdata", "trace.txt"), page)
	if n := strings.Count(page, "\n"); n > 60 {
		t.Errorf("%d lines", n)
	}
	for line := range strings.Lines(page) {
		if len([]rune(line)) > 200 {
			t.Errorf("a line of %d characters: %s", len([]rune(line)), line)
		}
	}
	for _, r := range doc.Rounds {
		for _, l := range r.Levels {
			var steps []int
			for _, g := range l.Groups {
				steps = append(steps, g.Steps...)
				for _, i := range g.Steps {
					if s := l.Steps[i]; s.Kind != g.Kind || s.Axes != g.Axes || s.Reason != g.Reason || s.Against != g.Against ||
						s.Kind != "activate" && !isThrough(s.Op, g.Kinds) {
						t.Errorf("step %q in the group %+v", s.String(), g)
					}
				}
			}
			slices.Sort(steps)
			for i, s := range steps {
				if i != s {
					t.Fatalf("priorities %d and %d: step %d is in no group or in several", r.UserPriority, l.OpPriority, i)
				}
			}
			if len(steps) != len(l.Steps) {
				t.Errorf("%d steps in groups, %d in the list", len(steps), len(l.Steps))
			}
		}
	}
}

// isThrough says whether an operation is of one of some kinds.
func isThrough(op string, kinds []string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return strings.Contains(op, k) })
}

// Filters choose steps of the same trace: what one axis, one kind of operation or one line has is in the full list, too, and a few steps
// are listed one by one.
func TestTraceFilters(t *testing.T) {
	all := traceOf(t, autoshard.TraceFilter{})
	full := strings.Split(all.Text(-1), "\n")
	for _, f := range []autoshard.TraceFilter{{Refusals: true}, {Op: "dot_general", Axis: "model"}, {Op: "108"}, {Value: "%7"}} {
		doc := traceOf(t, f)
		text := doc.Text(-1)
		lines := strings.Split(text, "\n")
		if len(lines) < 4 || len(lines) >= len(full)/2 {
			t.Errorf("%+v: %d lines", f, len(lines))
		}
		for _, line := range lines {
			if !slices.Contains(full, line) {
				t.Errorf("%+v: the full list lacks %q", f, line)
			}
			if f.Refusals && strings.Contains(line, " moves ") || f.Op == "dot_general" && strings.Contains(line, "add") {
				t.Errorf("%+v has %q", f, line)
			}
		}
		if page := report.Trace(doc, -1); len(lines) < 40 && page != text {
			t.Errorf("%+v: few steps are listed as\n%s", f, page)
		}
	}
}

// What was kept away comes with what would have to be otherwise.
func TestExplanationSaysWhatToChange(t *testing.T) {
	x, err := autoshard.Explain(t.Context(), megatron(t), autoshard.ExplainOptions{Value: "%753[0]", WhyNot: "model"})
	if err != nil {
		t.Fatal(err)
	}
	text := report.Explanation(x)
	for _, want := range []string{"\n    └ \"model\" moves from %749[0] to %752[0]",
		"\n    change: open %753[0]: a ? in its braces lets axes in",
		"\n    change: write \"model\" at %753[0], or nowhere in %753: a later user priority wants it"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
