package main

import (
	"fmt"
	"strings"

	"autoshard/benchmarks/ratios"
	"autoshard/benchmarks/site"
)

// redundant is by how much a plan may compute more than the unsharded run and is still said to compute nothing twice.
const redundant = 1.02

// line returns the row of the table.
func (r *row) line() string {
	s := r.here.Step
	evaluator, faster := r.evaluator.failed, ""
	if evaluator == "" {
		evaluator, faster = duration(r.evaluator.Seconds), fmt.Sprintf("%.0f", r.evaluator.Seconds/s.Seconds)
	}
	return fmt.Sprintf("| %s | %s | %s | %.2f | %s | %s | %.0f | %.0f |\n", r.model, duration(s.Seconds), duration(r.xla.Seconds),
		s.Seconds/r.xla.Seconds, evaluator, faster, s.Allocations, s.Bytes/1024)
}

// duration writes a time.
func duration(seconds float64) string {
	switch {
	case seconds < 1e-3:
		return fmt.Sprintf("%.1f us", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.2f ms", seconds*1e3)
	}
	return fmt.Sprintf("%.2f s", seconds)
}

// report returns the summary and the tables as Markdown.
func report(rows []row, o options) string {
	var slower, evaluated, cost, extra ratios.Ratios
	var models, plans strings.Builder
	for i := range rows {
		r := &rows[i]
		slower.Add(r.here.Step.Seconds/r.xla.Seconds, r.model)
		if r.evaluator.failed == "" {
			evaluated.Add(r.here.Step.Seconds/r.evaluator.Seconds, r.model)
		}
		models.WriteString(r.line())
		for _, p := range r.here.Plans {
			ratio := p.Step.Seconds / r.here.Step.Seconds
			into := &extra
			if p.Work <= redundant {
				into = &cost
			}
			into.Add(ratio, r.model+" "+p.Name)
			fmt.Fprintf(&plans, "| %s | %s | %s | %.2f | %.2f | %.0f |\n", r.model, p.Name, duration(p.Step.Seconds), ratio, p.Work,
				p.Step.Allocations)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Steps on virtual devices, beside XLA for CPU\n\n`go run ./benchmarks/backend`, fastest of %d rounds; %s; commit %s; "+
		"peers: XLA for CPU and the evaluator of StableHLO in %s.\n\n", o.rounds, site.Machine(), site.Commit(), rows[0].xla.Peer)
	fmt.Fprintf(&b, "Processor time of a steady step on one core, and what it allocates. Our time by XLA's: %s.", slower.Text(2))
	if most, where := evaluated.Most(); evaluated.Len() > 0 {
		fmt.Fprintf(&b, " The evaluator's by ours: %.0f over %d, at least %.0f (%s).", 1/evaluated.Mean(), evaluated.Len(), 1/most, where)
	}
	b.WriteString("\n\n| model | here | XLA | by XLA's | evaluator | by ours | allocations | KiB |\n|---|---|---|---|---|---|---|---|\n" +
		models.String())
	if cost.Len()+extra.Len() > 0 {
		fmt.Fprintf(&b, "\nPlans of experts on eight virtual devices, by the unsharded step. Work is what all devices compute, by what the "+
			"unsharded run does: elements of values and multiplications of products. Plans that compute nothing twice: %s; the others: %s.\n\n",
			cost.Text(2), extra.Text(2))
		b.WriteString("| model | plan | step | by unsharded | work | allocations |\n|---|---|---|---|---|---|\n" + plans.String())
	}
	return b.String()
}
