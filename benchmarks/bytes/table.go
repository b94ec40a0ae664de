package main

import (
	"fmt"
	"strings"

	"autoshard/benchmarks/ratios"
	"autoshard/benchmarks/site"
)

// row is a plan of a model: what a device sends in our program, and in XLA's.
type row struct {
	model, plan string
	ours        traffic
	peer        record
}

// compared says whether XLA has a program, in which or in ours anything is sent.
func (r *row) compared() bool {
	return r.peer.known() && (r.ours.total() > 0 || r.peer.traffic().total() > 0)
}

// known says whether XLA made a program of the plan.
func (r *record) known() bool { return r.Failed == "" && r.Skipped == "" }

// ratio is what a device sends in our program by what it sends in XLA's.
func (r *row) ratio() float64 { return r.ours.total() / r.peer.traffic().total() }

// above says whether a device sends more in our program, by more than sums of scalars that are counted apart.
func (r *row) above() bool { return r.compared() && r.ratio() > 1.0005 }

// reason says of which kind of collective our program sends most beyond XLA's, and for which op; "" for ratios that need none.
func (r *row) reason() string {
	const explained = 0.9
	if !r.compared() || r.ratio() <= explained {
		return ""
	}
	w, more, purpose := r.ours.difference(r.peer.traffic())
	if more < 1 {
		return "no collective is larger"
	}
	return fmt.Sprintf("%s: %.0f more, for %s", w, more, purpose)
}

// line returns the row of the table.
func (r *row) line() string {
	theirs, ratio, unscattered := r.peer.Failed+r.peer.Skipped, "", ""
	if r.peer.known() {
		theirs = fmt.Sprintf("%.0f", r.peer.traffic().total())
	}
	if r.compared() {
		ratio, unscattered = fmt.Sprintf("%.3f", r.ratio()), fmt.Sprintf("%.3f", r.ours.reduced()/r.peer.traffic().total())
		if r.above() {
			ratio = "**" + ratio + "**"
		}
	}
	return fmt.Sprintf("| %s | %s | %.0f | %s | %s | %s | %s |\n",
		r.model, r.plan, r.ours.total(), theirs, ratio, unscattered, r.reason())
}

// report returns the summary and the table as Markdown.
func report(rows []row, o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Bytes beside XLA's partitioner\n\n`go run ./benchmarks/bytes`, reshards by prices of %s; %s; commit %s.\n\n",
		o.hardware, site.Machine(), site.Commit())
	b.WriteString(`Bytes that one device sends in a step, on rings, with the expert's shardings propagated and lowered, beside those in
the program that XLA for CPU makes of the same shardings. XLA computes 16-bit floats in 32 bits there and sends them so; ours are counted as
wide. It reduces and then slices where ours reduces and scatters: the column "all-reduces" has the ratio if ours did as XLA does. The reason
is the kind of collective, by devices of a group, of which ours sends most beyond XLA's, with the op for which most of that is sent.

`)
	b.WriteString(summary(rows))
	b.WriteString("\n| model | plan | ours | XLA | ratio | all-reduces | reason |\n|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		b.WriteString(r.line())
	}
	return b.String()
}

// summary counts the plans, and takes the geometric means of those in which both programs send something.
func summary(rows []row) string {
	var above, over, none, free int
	var compared, unscattered ratios.Ratios
	for i := range rows {
		r := &rows[i]
		theirs := r.peer.traffic().total()
		switch {
		case !r.peer.known():
			none++
			continue
		case !r.compared():
			free++
			continue
		}
		if r.above() {
			above++
		}
		if r.ratio() > 0.9 {
			over++
		}
		if theirs > 0 && r.ours.total() > 0 {
			compared.Add(r.ratio(), r.model)
			unscattered.Add(r.ours.reduced()/theirs, r.model)
		}
	}
	return fmt.Sprintf(`%d plans: XLA has no program of %d, nothing is sent in either program of %d. Of the others, ours sends more than
XLA's in %d, and more than 0.9 times as much in %d. Geometric mean of the ratio over %d plans: %.3f; if every reduce-scatter were an
all-reduce, %.3f.
`, len(rows), none, free, above, over, compared.Len(), compared.Mean(), unscattered.Mean())
}
