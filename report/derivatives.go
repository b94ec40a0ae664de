package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/internal/diag"
	"autoshard/program"
)

// Derivatives returns what a program and a derivative of it send, with the check on and off, as a table.
func Derivatives(rows []program.Communication) string {
	t := newTable(2, 3, 4)
	t.AppendHeader(table.Row{"program", "check", "collectives", "bytes sent", "time", "sends"})
	for i := range rows {
		r := &rows[i]
		check := map[bool]string{true: "on", false: "off"}[r.Checked]
		if r.Problem != "" {
			t.AppendRow(table.Row{r.Name, check, "", "", "", "there is none: " + r.Problem})
			continue
		}
		sends := strings.Join(r.Collectives, ", ")
		if sends == "" {
			sends = "nothing"
		}
		t.AppendRow(table.Row{r.Name, check, r.Places, diag.Bytes(r.Estimate.SentBytes), diag.Seconds(r.Estimate.Seconds), sends})
	}
	return t.Render() + "\n"
}
