package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"autoshard/benchmarks/ratios"
	"autoshard/benchmarks/site"
	"autoshard/calibrate"
	"autoshard/internal/lists"
	"autoshard/report"
	"autoshard/subaxis"
)

// line returns the row of the table, in microseconds.
func (r *row) line() string {
	axes := strings.Join(lists.Map(r.mesh, subaxis.Axis.String), ",")
	return fmt.Sprintf("| %s | %s | %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.2f |\n", r.model, r.plan, axes, 1e6*r.said.ComputeSeconds,
		1e6*r.said.CollectiveSeconds, 1e6*r.took.Start, 1e6*r.predicted(), 1e6*r.took.Step, r.predicted()/r.took.Step)
}

// off returns predictions by what steps took.
func off(rows []row) (out ratios.Ratios) {
	for i := range rows {
		out.Add(rows[i].predicted()/rows[i].took.Step, rows[i].model)
	}
	return out
}

// alike returns Spearman's correlation of ranks between predictions and times.
func alike(rows []row) float64 {
	said := lists.Map(rows, func(r row) float64 { return r.predicted() })
	return stat.Correlation(ranked(said), ranked(lists.Map(rows, func(r row) float64 { return r.took.Step })), nil)
}

// ranked returns the rank of each value, of equal ones the mean of theirs.
func ranked(values []float64) []float64 {
	order := lists.Range[int](len(values))
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	out := make([]float64, len(values))
	for at := 0; at < len(order); {
		end := at
		for end < len(order) && values[order[end]] == values[order[at]] {
			end++
		}
		for _, i := range order[at:end] {
			out[i] = float64(at+end-1) / 2
		}
		at = end
	}
	return out
}

// table returns the report as Markdown.
func table(rows []row, fits *calibrate.Calibration) string {
	all := off(rows)
	var models, plans strings.Builder
	ranks, many := 0.0, 0
	for from := 0; from < len(rows); {
		of := rows[from:]
		if next := slices.IndexFunc(of, func(r row) bool { return r.model != of[0].model }); next > 0 {
			of = of[:next]
		}
		from += len(of)
		found := off(of)
		rank := alike(of)
		ranks, many = ranks+rank, many+1
		fmt.Fprintf(&models, "| %s | %d | %.3f | %.1f %% | %.2f |\n", of[0].model, len(of), rank, 100*(found.Away()-1), found.Mean())
	}
	for i := range rows {
		plans.WriteString(rows[i].line())
	}
	return fmt.Sprintf(`# Steps on virtual devices of JAX

%[1]sgo run ./benchmarks/steps%[1]s, %[2]d virtual devices; %[3]s; commit %[4]s.

What a step of each expert's plan is said to take by a profile that %[1]sautoshard calibrate%[1]s measured just before, beside what the JAX
file of the plan takes. All times are microseconds and medians. What starting a program with these inputs and results takes is measured by
one that computes nothing, and part of the prediction.

%[5]d plans: predictions are %.1[6]f %% away in geometric mean (said by taken is %.2[7]f), and Spearman's correlation of ranks over the
plans of a model is %.2[8]f in the mean.

## Calibration

%[1]s%[1]s%[1]s
%[9]s%[1]s%[1]s%[1]s

## By model

| model | plans | correlation of ranks | away | said by taken |
|---|---|---|---|---|
%[10]s
## By plan

| model | plan | mesh | ops | collectives | start | said | taken | ratio |
|---|---|---|---|---|---|---|---|---|
%[11]s`, "`", devices, site.Machine(), site.Commit(), len(rows), 100*(all.Away()-1), all.Mean(), ranks/float64(max(1, many)),
		report.Calibration(fits), models.String(), plans.String())
}
