package main

import (
	"fmt"
	"strings"

	"autoshard/benchmarks/ratios"
	"autoshard/benchmarks/site"
)

// predicted returns the bytes that the plan says a device sends.
func (r *row) predicted() float64 { return float64(r.plan.Estimate.SentBytes) / devices }

// asCPU returns the bytes that a device would send if XLA for CPU kept the plan: it reduces and slices where a plan reduces and scatters,
// and computes 16-bit floats in 32 bits, which it sends.
func (r *row) asCPU() float64 {
	total := 0.0
	for _, c := range r.plan.Collectives {
		bytes := float64(c.Bytes) / devices
		if c.Kind == "reduce_scatter" {
			bytes *= 2
		}
		if strings.HasPrefix(c.Type, "bf16[") || strings.HasPrefix(c.Type, "f16[") {
			bytes *= 2
		}
		total += bytes
	}
	return total
}

// judged says whether there is a program.
func (r *row) judged() bool { return r.none == nil && r.made.Failed == "" }

// far is how many times what a plan would send on CPUs XLA sends at least where the table says why.
const far = 1.5

// sumsInRounds says whether XLA sends far more because it reduces what a loop adds up in every round.
func (r *row) sumsInRounds() bool { return r.plan.Microbatches > 1 && r.made.Sent > far*r.asCPU() }

// wrong says whether the outputs differ from the recorded ones by more than rounding does.
func (r *row) wrong() bool { return r.judged() && r.made.Error > r.tolerance }

// line returns the row of the table.
func (r *row) line() string {
	limit := "free"
	if r.factor > 0 {
		limit = fmt.Sprint(r.factor)
	}
	if r.none != nil {
		return fmt.Sprintf("| %s | %s | %s | | | | | | | | | no plan: %v |\n", r.model, r.mesh, limit, r.none)
	}
	outcome := r.made.Failed
	switch {
	case r.wrong():
		outcome = fmt.Sprintf("outputs differ by %.2g", r.made.Error)
	case r.judged() && r.sumsInRounds():
		outcome = fmt.Sprintf("reduces sums of %d microbatches in every round", r.plan.Microbatches)
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %.0f | %.0f | %s | %s | %.0f (%s) | %s | %s | %s |\n", r.model, r.mesh, limit,
		r.plan.Estimate.PeakBytes, r.predicted(), r.made.Sent, ratio(r.made.Sent, r.predicted()), ratio(r.made.Sent, r.asCPU()),
		r.theirs.Sent, r.expert, ratio(r.made.Sent, r.theirs.Sent), ratio(float64(r.made.Memory), float64(r.theirs.memory())), outcome)
}

// ratio writes a by b; nothing where nothing is sent in either.
func ratio(a, b float64) string {
	switch {
	case a == 0 && b == 0:
		return ""
	case b == 0:
		return "∞"
	}
	return fmt.Sprintf("%.3f", a/b)
}

// add counts a by b where both are something.
func add(to *ratios.Ratios, a, b float64, r *row) {
	if a > 0 && b > 0 {
		to.Add(a/b, r.model+" on "+r.mesh)
	}
}

// report returns the summary and the table as Markdown.
func report(rows []row, o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Annotated plans in XLA\n\n`go run ./benchmarks/xla`, %s, at most %s a plan; %s; commit %s.\n\n", o.hardware, o.budget,
		site.Machine(), site.Commit())
	b.WriteString(summary(rows))
	b.WriteString("\n| model | mesh | limit | predicted peak | predicted bytes | XLA's bytes | by predicted | as CPU sends | " +
		"expert's bytes | by expert's | memory by expert's | outcome |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for i := range rows {
		b.WriteString(rows[i].line())
	}
	return b.String()
}

// summary returns the counts and geometric means.
func summary(rows []row) string {
	var predicted, asCPU, sent, sparingly, memory, sparing, free ratios.Ratios
	failed, wrong, none := 0, 0, 0
	for i := range rows {
		r := &rows[i]
		switch {
		case r.none != nil:
			none++
			continue
		case !r.judged():
			failed++
			continue
		}
		if r.wrong() {
			wrong++
		}
		add(&predicted, r.made.Sent, r.predicted(), r)
		add(&asCPU, r.made.Sent, r.asCPU(), r)
		add(&sent, r.made.Sent, r.theirs.Sent, r)
		add(&sparingly, r.made.Sent, r.sparing.Sent, r)
		if r.factor > 0 {
			add(&memory, float64(r.made.Memory), float64(r.theirs.memory()), r)
			add(&sparing, float64(r.made.Memory), float64(r.sparing.memory()), r)
		} else {
			add(&free, float64(r.made.Memory), float64(r.sparing.memory()), r)
		}
	}
	return fmt.Sprintf(`%d plans of %d; XLA refuses %d, and outputs differ in %d. Geometric means of

- XLA's bytes by those that the plan predicts: %s;
- the same, with what XLA for CPU does otherwise with any program counted as it does it: %s. It has no reduce-scatter for
  partial sums, but reduces and slices, which sends twice as much, and it computes and sends 16-bit floats in 32 bits. Not counted so:
  partial sums that a loop carries, such as gradients of microbatches, which it reduces in every round, since no constraint keeps them;
- XLA's bytes by those of the expert's plan that sends the least, where both send any: %s;
- by those of the one that sends the least of those that fit the limit: %s;
- memory by that of the expert's plan that sends the least, under limits: %s;
- by that of the one that sends the least of those that fit: %s. A plan is the fastest that keeps the limit, and holds what that allows;
- memory by that of the expert's plan that sends the least, without a limit: %s. A plan then mostly holds all of the model on every
  device, and sends nothing.
`, len(rows)-none, len(rows), failed, wrong, predicted.Text(3), asCPU.Text(3), sparingly.Text(3), sent.Text(3), sparing.Text(3),
		memory.Text(3), free.Text(3))
}
