// Package report writes plans for people: what is cut along which axis, what that gains over plans without search, what
// proves it, and then collectives and values, largest first, with equal layers folded into one row.
//
//	transformer_train on data=4,model=2 (8 devices, cpu): batch along data; params (2 layers) along model
//	step time   646 us             replicated 1.26 ms (1.95x)  data parallel 768 us (1.19x)
//	memory      487 KiB of 16 GiB  replicated 1.33 MiB         data parallel 580 KiB
//	bytes sent  2.72 MiB           replicated 0 B              data parallel 1.32 MiB
//	proof       no plan of the whole batch that computes nothing twice costs less than 618 us, 4.4 % below this one (feasible)
//
// A report is a page: rows that do not fit are counted, and Options.All shows them.
package report

import (
	"strings"

	"autoshard/explain"
	"autoshard/plan"
	"autoshard/program"
)

// Options say what a report shows.
type Options struct {
	All   bool           // every collective and value, nothing folded
	Check *program.Check // the run that the proof line speaks of, nil where none was made
	Read  bool           // the plan was read from a file: the proof line speaks of no run
}

// Rows of a page; the rest is counted.
const (
	collectiveRows = 8
	inputRows      = 16
	outputRows     = 6
)

// Plan returns the report of a plan.
func Plan(p *plan.Plan, o Options) string {
	sections := []string{headline(p, o)}
	if notes := baselineNotes(p); notes != "" {
		sections = append(sections, notes)
	}
	if found := findings(p.Findings, o.All); found != "" {
		sections = append(sections, found)
	}
	if meshes := meshTable(p, o.All); meshes != "" {
		sections = append(sections, meshes)
	}
	sections = append(sections, collectiveTable(p.Collectives, o.All)+rewritten(p))
	if again := recomputedTable(p, o.All); again != "" {
		sections = append(sections, again)
	}
	sections = append(sections, tensorTable("input", p.Inputs, inputRows, o.All), outputTable(p, o.All))
	return strings.Join(sections, "\n")
}

// Propagation returns what propagation gave the inputs and outputs; all shows each of them.
func Propagation(p *explain.Propagation, all bool) string {
	sections := []string{tensorTable("input", p.Inputs, inputRows, all), tensorTable("output", p.Outputs, inputRows, all)}
	if found := findings(p.Findings, all); found != "" {
		sections = append(sections, found)
	}
	return strings.Join(sections, "\n")
}
