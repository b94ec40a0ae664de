package main

import (
	"fmt"
	"math"
	"strings"

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

// spread is how far ratios are from one.
type spread struct {
	logs, away         float64
	n, within, smaller int
	least, most        float64
}

func (s *spread) add(x float64) {
	if s.n == 0 {
		s.least, s.most = x, x
	}
	s.n++
	s.logs, s.away = s.logs+math.Log(x), s.away+math.Abs(math.Log(x))
	s.least, s.most = min(s.least, x), max(s.most, x)
	if x > 1/1.05 && x < 1.05 {
		s.within++
	}
	if x < 0.98 {
		s.smaller++
	}
}

func (s *spread) String() string {
	n := float64(max(s.n, 1))
	return fmt.Sprintf("geometric mean %.3f, %.1f %% away from one in geometric mean, %.3f to %.3f; %d of %d within 5 %%, %d more than 2 %% "+
		"below one",
		math.Exp(s.logs/n), 100*(math.Exp(s.away/n)-1), s.least, s.most, s.within, s.n, s.smaller)
}

// report returns the summary and the table as Markdown.
func report(rows []row, o options) string {
	var devices, compiled spread
	var table strings.Builder
	for i := range rows {
		r := &rows[i]
		devices.add(ratio(r.said, r.held))
		compiled.add(ratio(r.said, r.xla.total()))
		table.WriteString(r.line())
	}
	return fmt.Sprintf(`# Peaks of memory

%sgo run ./benchmarks/peaks%s, reshards by prices of %s; %s; commit %s.

Bytes that a device is said to need in the program of an expert's plan, beside the most that a virtual device held when it ran, and beside
what XLA for CPU allots to our per-device program: arguments, results and temporary memory, nothing given up by the caller. The virtual
devices run op by op: they hold values that a compiler fuses away, and hold others shorter than the program as a whole would. XLA for CPU
computes 16-bit floats in 32 bits, aligns each buffer to 64 bytes, converts the layouts of operands of products and convolutions, and begins
collectives early; memory of results serves other values before only as far as these fit into it.

* said by held: %v
* said by XLA: %v

| model | plan | mesh | said | held | ratio | arguments | results | temporary | ratio |
|---|---|---|---|---|---|---|---|---|---|
%s`, "`", "`", o.hardware, site.Machine(), site.Commit(), &devices, &compiled, table.String())
}
