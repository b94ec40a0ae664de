package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/internal/diag"
	"autoshard/program"
)

// profileRows bounds the rows of each table of a profile.
const profileRows = 10

// Measured returns what a run took for a person: by kind of op, by line of the program, and by device.
func Measured(p *program.Profile) string {
	var b strings.Builder
	fmt.Fprintf(&b, "measured: %s\n", diag.Seconds(p.Seconds))
	if p.Dropped > 0 {
		fmt.Fprintf(&b, "the trace has the first executions of every device; %d more are in the sums below only\n", p.Dropped)
	}
	b.WriteString("\n" + profileTable("op", p.Kinds) + "\n" + profileTable("line", p.Lines) + "\n")
	t := newTable(1, 2, 3, 4)
	t.AppendHeader(table.Row{"device", "computes", "waits", "held at most"})
	for _, d := range p.Devices {
		t.AppendRow(table.Row{d.Device, diag.Seconds(d.Seconds), diag.Seconds(d.Waiting), diag.Bytes(d.PeakBytes)})
	}
	return b.String() + t.Render() + "\n"
}

func profileTable(what string, rows []program.ProfileRow) string {
	t := newTable(2, 3, 4, 5)
	t.AppendHeader(table.Row{what, "runs", "computes", "waits", "reads and writes"})
	for _, r := range rows[:min(len(rows), profileRows)] {
		t.AppendRow(table.Row{r.Name, r.Runs, diag.Seconds(r.Seconds), diag.Seconds(r.Waiting), diag.Bytes(r.Bytes)})
	}
	text := t.Render() + "\n"
	if more := len(rows) - profileRows; more > 0 {
		text += fmt.Sprintf("and %d more\n", more)
	}
	return text
}
