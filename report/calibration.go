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
		t.AppendRow(table.Row{string(l.Kind), l.DType, l.Samples, duration(l.Latency) + " ± " + duration(l.LatencyError), rate(l),
			fmt.Sprintf("± %.2g %%", 100*l.RateError/l.Rate), fmt.Sprintf("%.2g %%", 100*l.Error)})
	}
	return fmt.Sprintf("%d devices at once\n%s\n", c.Devices, t.Render())
}

// rate returns that of a line; of what is counted, the time of each.
func rate(l *calibrate.Line) string {
	switch l.Kind {
	case calibrate.Matmul, calibrate.Vector:
		return quantity(l.Rate, "FLOP/s")
	case calibrate.Launch, calibrate.Meeting, calibrate.Arrays:
		return duration(1/l.Rate) + " each"
	}
	return quantity(l.Rate, "B/s")
}
