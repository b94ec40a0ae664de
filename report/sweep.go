package report

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/pricing"
)

// Sweep shows which way to compute a product is the fastest for which sizes.
func Sweep(a *pricing.SweepAnswer) string {
	t := newTable(0, 1)
	t.AppendHeader(table.Row{a.Variable + " from", "to", "fastest", "bound", "time"})
	for _, s := range a.Segments {
		time := duration(s.Seconds[0])
		if s.To > s.From {
			time += " to " + duration(s.Seconds[1])
		}
		t.AppendRow(table.Row{s.From, s.To, s.Strategy, s.Bound, time})
	}
	return fmt.Sprintf("%s on %s\n\n%s\n", a.Product, place(&a.Place), t.Render())
}
