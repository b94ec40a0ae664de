package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"autoshard/benchmarks/site"
)

// table returns the report as Markdown, which shows a plot.
func table(all []*instance, o options, plot string) string {
	var b strings.Builder
	b.WriteString("# Selection problems of the ASPLOS/EuroSys 2025 contest\n\n")
	fmt.Fprintf(&b, "`go run ./benchmarks/iopddl`, %d seeds, worst of them; %s; commit %s.\n", o.seeds, site.Machine(), site.Commit())
	b.WriteString("Times are in seconds; limits are those of the contest unless they were given, and include reading. First solution " +
		"counts from the end of reading. At 1/4: the cost\n")
	b.WriteString("at a quarter of the limit, above the final one. Spread: the worst seed's cost above the best seed's. Best known and " +
		"first place are\n")
	b.WriteString("published costs of other solvers; ± is the cost here above the best known one, negative if it is lower.")
	if o.certify {
		b.WriteString(" Certificates are\nwritten after the answer, which the limit is for; wall counts that, too.")
	}
	b.WriteString("\n\n")
	b.WriteString("| instance | limit | cost | best known | ± | first place | bound | gap | first solution | at 1/4 | spread | wall | CPU " +
		"| memory | certificate |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, in := range all {
		b.WriteString(in.row())
	}
	if o.out != "" {
		fmt.Fprintf(&b, "\n![Gap over time](%s)\n", plot)
	}
	return b.String()
}

// row returns the line of an instance.
func (in *instance) row() string {
	worst := in.worst()
	final := worst.last()
	best := slices.MinFunc(in.runs, byCost)
	bound, gap, first, wall, cpu, memory := final.bound, 0.0, 0.0, 0.0, 0.0, int64(0)
	quarter, verified, seconds := 0.0, true, 0.0
	for i := range in.runs {
		r := &in.runs[i]
		bound, gap = min(bound, r.last().bound), max(gap, r.last().gap())
		first, wall = max(first, r.firstSolution()), max(wall, r.wall.Seconds())
		cpu, memory = max(cpu, r.cpu.Seconds()), max(memory, r.memory)
		verified, seconds = verified && r.verified, max(seconds, r.verify.Seconds())
		if cost, known := r.costAt(in.limit.Seconds() / 4); known {
			quarter = max(quarter, above(cost, r.last().cost))
		} else {
			quarter = 1
		}
	}
	certificate := "-"
	if verified {
		certificate = fmt.Sprintf("verified in %.1f s", seconds)
	}
	published, better, place := "-", "-", "-"
	if in.best != 0 {
		published, better = fmt.Sprint(in.best), fmt.Sprintf("%+.4f%%", 100*above(final.cost, in.best))
	}
	if in.first != 0 {
		place = fmt.Sprint(in.first)
	}
	return fmt.Sprintf("| %s | %.0f | %d | %s | %s | %s | %d | %.4f%% | %.2f | %.4f%% | %.4f%% | %.1f | %.1f | %d MB | %s |\n", in.name,
		in.limit.Seconds(),
		final.cost, published, better, place, bound, 100*gap, first, 100*quarter, 100*above(final.cost, best.last().cost), wall, cpu, memory>>20,
		certificate)
}

func byCost(a, b result) int { return cmp.Compare(a.last().cost, b.last().cost) }

// worst returns the run with the highest cost.
func (in *instance) worst() *result {
	at := 0
	for i := range in.runs {
		if byCost(in.runs[i], in.runs[at]) > 0 {
			at = i
		}
	}
	return &in.runs[at]
}

// above returns how much a cost is above another one, as a share of that.
func above(cost, other int64) float64 {
	return float64(cost-other) / max(float64(other), -float64(other), 1)
}
