package main

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

const (
	leastGap    = 1e-5 // percent; a gap of zero is drawn here
	leastTime   = 0.01 // seconds
	mostPoints  = 300  // of a line; others are left out
	chartWidth  = 18 * vg.Centimeter
	chartHeight = 11 * vg.Centimeter
)

// chart writes a plot of the gap over time: a line for the worst seed of each instance.
func chart(all []*instance, file string) error {
	p := plot.New()
	p.Title.Text = "Gap between cost and proven bound, worst seed"
	p.X.Label.Text, p.Y.Label.Text = "seconds, with reading", "gap in percent"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{}, decades{}
	p.Y.Min, p.Y.Max = leastGap, 100
	p.Legend.Top, p.Legend.XOffs = true, -vg.Points(4)
	for i, in := range all {
		steps := gaps(in.worst())
		if len(steps) == 0 {
			continue
		}
		line, err := plotter.NewLine(steps)
		if err != nil {
			return fmt.Errorf("plot %s: %w", in.name, err)
		}
		line.StepStyle = plotter.PostStep
		line.Color = plotutil.Color(i)
		line.Width = vg.Points(1.2)
		p.Add(line)
		p.Legend.Add(in.name, line)
	}
	return p.Save(chartWidth, chartHeight, file)
}

// decades marks the powers of ten.
type decades struct{}

// Ticks returns those between two values.
func (decades) Ticks(least, most float64) []plot.Tick {
	ticks := plot.LogTicks{Prec: -1}.Ticks(least, most)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = fmt.Sprintf("%.3g", ticks[i].Value)
		}
	}
	return ticks
}

// gaps returns the gap over time where it changes, thinned out.
func gaps(r *result) plotter.XYs {
	var out plotter.XYs
	for _, p := range r.points {
		if !p.hasCost || !p.hasBound {
			continue
		}
		xy := plotter.XY{X: max(p.seconds, leastTime), Y: min(max(100*p.gap(), leastGap), 100)}
		if n := len(out); n > 0 && out[n-1].Y == xy.Y && p != r.last() {
			continue
		}
		out = append(out, xy)
	}
	for len(out) > mostPoints {
		thin := out[:0]
		for i, xy := range out {
			if i%2 == 0 || i == len(out)-1 {
				thin = append(thin, xy)
			}
		}
		out = thin
	}
	return out
}
