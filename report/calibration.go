package report

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/calibrate"
)

// Calibration shows the fits of measurements, with their standard errors, and how well they predict sizes that were not fitted.
func Calibration(c *calibrate.Calibration) string {
	t := newTable(2, 3, 4, 5, 6)
	t.AppendHeader(table.Row{"measured", "type", "sizes", "latency", "rate", "error", "held-back sizes within"})
	for i := range c.Lines {
		l := &c.Lines[i]
		unit := "B/s"
		if l.Kind == calibrate.Matmul || l.Kind == calibrate.Vector {
			unit = "FLOP/s"
		}
		t.AppendRow(table.Row{string(l.Kind), l.DType, l.Samples, duration(l.Latency) + " ± " + duration(l.LatencyError), quantity(l.Rate, unit),
			fmt.Sprintf("± %.2g %%", 100*l.RateError/l.Rate), fmt.Sprintf("%.2g %%", 100*l.Error)})
	}
	return fmt.Sprintf("%d devices at once\n%s\n", c.Devices, t.Render())
}
