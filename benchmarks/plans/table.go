package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"autoshard"
	"autoshard/benchmarks/site"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// outcome says what became of a plan beside what the experts have.
func (r *row) outcome() string {
	switch {
	case errors.Is(r.ours.err, autoshard.ErrInfeasible) && r.best != "":
		return "**AS2002** although " + r.best + " fits"
	case errors.Is(r.ours.err, autoshard.ErrInfeasible):
		return "AS2002"
	case errors.Is(r.ours.err, context.DeadlineExceeded):
		return "**timeout**"
	case r.ours.err != nil:
		return "**" + strings.ReplaceAll(r.ours.err.Error(), "\n", " ") + "**"
	case r.dearer():
		return "**dearer**"
	}
	return "plan"
}

// compared says whether both an expert and the planner have a plan.
func (r *row) compared() bool { return r.ours.err == nil && r.best != "" }

// dearer says whether an expert's plan is faster.
func (r *row) dearer() bool { return r.compared() && r.ours.seconds > r.expert.seconds }

// falseNo says whether no plan was found although an expert has one.
func (r *row) falseNo() bool { return r.ours.err != nil && r.best != "" }

// ratio is the time of the plan by that of the fastest expert.
func (r *row) ratio() float64 { return r.ours.seconds / r.expert.seconds }

// axes writes the mesh as options of commands do.
func (r *row) axes() string {
	return strings.Join(lists.Map(r.mesh, subaxis.Axis.String), ",")
}

// label names a limit by its factor.
func label(factor float64) string {
	if factor == 0 {
		return "free"
	}
	return fmt.Sprintf("%.1f", factor)
}

// line returns the row of the table.
func (r *row) line() string {
	limit := label(r.factor)
	if r.factor > 0 {
		limit += fmt.Sprintf(": %d", r.limit)
	}
	expert, ours, ratio, peak, gap := "", "", "", "", ""
	if r.best != "" {
		expert = fmt.Sprintf("%s (%s)", duration(r.expert.seconds), r.best)
	}
	if r.ours.err == nil {
		ours, peak, gap = duration(r.ours.seconds), fmt.Sprint(r.ours.peak), fmt.Sprintf("%.1f %%", 100*r.ours.gap)
	}
	if r.compared() {
		ratio = fmt.Sprintf("%.4f", r.ratio())
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %.2f s | %s |\n", r.model, r.axes(), limit, expert, ours,
		ratio, peak, gap, r.ours.took.Seconds(), r.outcome())
}

// duration writes a predicted time with four digits.
func duration(seconds float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}} {
		if seconds >= u.size {
			return fmt.Sprintf("%.4g %s", seconds/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.4g ns", seconds/1e-9)
}

// report returns the summary and the table as Markdown.
func report(rows []row, o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Plans beside those of experts\n\n`go run ./benchmarks/plans`, %s, at most %v a plan; %s; commit %s.\n\n",
		o.hardware, o.budget, site.Machine(), site.Commit())
	b.WriteString(`Times of a step, peaks and gaps are predictions by one estimate for all plans. The expert is the fastest that fits the limit, by
its annotations propagated, or completed by the planner as pins under the same limit; limits are multiples of the smallest
peak of propagated annotations, in bytes. The ratio is our time by the expert's.

`)
	b.WriteString(summary(rows))
	b.WriteString("\n| model | mesh | limit | best expert | ours | ratio | peak | gap | planning | outcome |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		b.WriteString(r.line())
	}
	return b.String()
}

// tally counts the rows of one kind.
type tally struct {
	all, dearer, below, no int
	worst                  *row
}

func (t *tally) add(r *row) {
	t.all++
	switch {
	case r.falseNo():
		t.no++
	case r.dearer():
		t.dearer++
	case r.compared() && r.ours.seconds < r.expert.seconds:
		t.below++
	}
	if r.compared() && (t.worst == nil || r.ratio() > t.worst.ratio()) {
		t.worst = r
	}
}

// summary counts, by limit, the plans that are not dearer than an expert's, those below, and the false answers.
func summary(rows []row) string {
	var b strings.Builder
	b.WriteString("| limit | plans | never dearer | strictly below | no plan although an expert fits | worst ratio |\n")
	b.WriteString("|---|---|---|---|---|---|\n")
	line := func(name string, keep func(r *row) bool) {
		var t tally
		for i := range rows {
			if keep(&rows[i]) {
				t.add(&rows[i])
			}
		}
		worst := ""
		if t.worst != nil {
			worst = fmt.Sprintf("%.4f (%s)", t.worst.ratio(), t.worst.model)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", name, t.all, t.all-t.dearer-t.no, t.below, t.no, worst)
	}
	for _, factor := range factors {
		line(label(factor), func(r *row) bool { return r.factor == factor })
	}
	line("all", func(*row) bool { return true })
	return b.String()
}
