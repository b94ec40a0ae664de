package main

import (
	"fmt"
	"strings"

	"autoshard/benchmarks/ratios"
	"autoshard/benchmarks/site"
	"autoshard/internal/lists"
	"autoshard/subaxis"
)

// line returns the row of the table.
func (r *row) line() string {
	axes := strings.Join(lists.Map(r.mesh, subaxis.Axis.String), ",")
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %.3f | %d | %d | %d | %.3f |\n", r.model, r.plan, axes, r.said, r.held,
		ratio(r.said, r.held), r.xla.Arguments, r.xla.Outputs, r.xla.Temporary, ratio(r.said, r.xla.total()))
}

func ratio(a, b int64) float64 { return float64(a) / float64(b) }

// spread says how far ratios are from one.
func spread(of *ratios.Ratios) string {
	most, _ := of.Most()
	within := of.Count(func(x float64) bool { return x > 1/1.05 && x < 1.05 })
	smaller := of.Count(func(x float64) bool { return x < 0.98 })
	return fmt.Sprintf("geometric mean %.3f, %.1f %% away from one in geometric mean, %.3f to %.3f; %d of %d within 5 %%, %d more than 2 %% "+
		"below one", of.Mean(), 100*(of.Away()-1), of.Least(), most, within, of.Len(), smaller)
}

// report returns the summary and the table as Markdown.
func report(rows []row, o options) string {
	var devices, compiled ratios.Ratios
	var table strings.Builder
	for i := range rows {
		r := &rows[i]
		devices.Add(ratio(r.said, r.held), r.model)
		compiled.Add(ratio(r.said, r.xla.total()), r.model)
		table.WriteString(r.line())
	}
	return fmt.Sprintf(`# Peaks of memory

%sgo run ./benchmarks/peaks%s, reshards by prices of %s; %s; commit %s.

Bytes that a device is said to need in the program of an expert's plan, beside the most that a virtual device held when it ran, and beside
what XLA for CPU allots to our per-device program: arguments, results and temporary memory, nothing given up by the caller. The virtual
devices compute fused values where they are read, and put what elementwise ops make in the place of what nobody needs any more. XLA for CPU
computes 16-bit floats in 32 bits, aligns each buffer to 64 bytes, converts the layouts of operands of products and convolutions, and begins
collectives early; memory of results serves other values before only as far as these fit into it.

* said by held: %s
* said by XLA: %s

| model | plan | mesh | said | held | ratio | arguments | results | temporary | ratio |
|---|---|---|---|---|---|---|---|---|---|
%s`, "`", "`", o.hardware, site.Machine(), site.Commit(), spread(&devices), spread(&compiled), table.String())
}
