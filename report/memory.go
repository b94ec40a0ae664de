package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/program"
)

// Memory shows what a device holds where a program needs the most memory; limit is what it has.
func Memory(m *program.Memory, limit int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, %s: at most %s of %s on a device\n", m.Program, answer.FormatAxes(m.Mesh), m.Hardware, diag.Bytes(m.PeakBytes),
		diag.Bytes(limit))
	at := m.At.Kind
	if m.At.Type != "" {
		at += " " + m.At.Type
	}
	if s := sources([]string{m.At.Source}); s != "" {
		at += " of " + s
	}
	fmt.Fprintf(&b, "reached at op %d of %d: %s\n\n", m.At.Number, m.Ops, at)
	t := newTable(1, 2)
	t.AppendHeader(table.Row{"at the peak", "bytes", "share", "made again behind it"})
	for i, name := range m.Classes {
		if m.AtPeak[i] > 0 {
			again := ""
			if r := m.Again[i]; r != nil {
				again = fmt.Sprintf("%s: %s", diag.Count(r.Values, "value", "values"), saving(r))
			}
			t.AppendRow(table.Row{name, diag.Bytes(m.AtPeak[i]), percent(float64(m.AtPeak[i]), float64(m.PeakBytes)), again})
		}
	}
	b.WriteString(t.Render() + "\n")
	if m.Donated > 0 {
		fmt.Fprintf(&b, "inputs of %s are donated: their memory is free once they are read\n", diag.Bytes(m.Donated))
	}
	if m.Padding > 0 {
		fmt.Fprintf(&b, "tiles of 8 x 128 elements would take %s more, where the compiler keeps every value in them\n", diag.Bytes(m.Padding))
	}
	return b.String() + "\n" + heldValues(m)
}

// saving says what making values again would change.
func saving(r *program.Recompute) string {
	return fmt.Sprintf("saves %s for %s", diag.Bytes(r.SavedBytes), duration(r.Seconds))
}

// heldValues lists the largest values at the peak.
func heldValues(m *program.Memory) string {
	t := newTable(2, 3, 4)
	t.AppendHeader(table.Row{"largest", "type", "bytes", "from op", "to op", "class", "made again", "source"})
	for i := range m.Largest {
		v := &m.Largest[i]
		again := ""
		if r := v.Recompute; r != nil {
			again = saving(r)
		}
		t.AppendRow(table.Row{v.Name, v.Type, diag.Bytes(v.Bytes), v.From, v.To, v.Class, again, sources([]string{v.Source})})
	}
	return t.Render() + "\n"
}
