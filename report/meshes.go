package report

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/plan"
)

// meshRows are the meshes of a page.
const meshRows = 8

// meshTable lists the meshes that were tried where the plan chose its own, which comes first; "" where it was given.
func meshTable(p *plan.Plan, all bool) string {
	if len(p.Meshes) == 0 {
		return ""
	}
	rows := len(p.Meshes)
	if !all {
		rows = min(rows, meshRows)
	}
	t := newTable(2, 3, 4)
	t.AppendHeader(table.Row{"mesh", "step time", "", "memory", "search"})
	for i := range p.Meshes[:rows] {
		m := &p.Meshes[i]
		seconds, than, memory, search := "-", "", "needs "+diag.Bytes(m.PeakBytes), "quick"
		if m.Fits {
			seconds, memory = diag.Seconds(m.Seconds), diag.Bytes(m.PeakBytes)
		}
		if m.Fits && i > 0 && p.Estimate.Seconds > 0 {
			than = fmt.Sprintf("%+.2f %%", 100*(m.Seconds/p.Estimate.Seconds-1))
		}
		if m.Full {
			search = "full"
		}
		t.AppendRow(table.Row{answer.FormatAxes(m.Mesh), seconds, than, memory, search})
	}
	out := t.Render() + "\n"
	if more := len(p.Meshes) - rows; more > 0 {
		out += fmt.Sprintf("%s: --all\n", diag.Count(more, "more mesh", "more meshes"))
	}
	return out
}
