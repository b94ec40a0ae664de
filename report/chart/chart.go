// Package chart draws reports as SVG: the time of strategies while a size changes, and the memory of a program over time.
//
//	svg, err := chart.Sweep(answer)
package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgsvg" // the format that is written

	"autoshard/internal/diag"
	"autoshard/pricing"
)

const width, height = 22 * vg.Centimeter, 14 * vg.Centimeter

// grey is the colour of what marks a place.
var grey = color.Gray{Y: 130}

// Sweep draws the time of every strategy over the size that changes, both logarithmic. Dashed lines mark where the fastest one, or what
// bounds it, changes.
func Sweep(a *pricing.SweepAnswer) ([]byte, error) {
	p := plot.New()
	p.Title.Text = a.Product
	p.X.Label.Text, p.Y.Label.Text = a.Variable, "microseconds"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	for i, name := range a.Strategies {
		var line plotter.XYs
		for _, point := range a.Points {
			if s := point.Seconds[i]; s > 0 {
				line = append(line, plotter.XY{X: float64(point.Size), Y: 1e6 * s})
			}
		}
		if len(line) == 0 {
			continue
		}
		l, err := plotter.NewLine(line)
		if err != nil {
			return nil, fail(err)
		}
		l.Color, l.Dashes, l.Width = plotutil.Color(i), plotutil.Dashes(i/7), vg.Points(1.5)
		p.Add(l)
		p.Legend.Add(name, l)
	}
	if err := crossovers(p, a); err != nil {
		return nil, err
	}
	return write(p)
}

// crossovers marks the sizes from which on another strategy is the fastest, or something else bounds it.
func crossovers(p *plot.Plot, a *pricing.SweepAnswer) error {
	for i, s := range a.Segments[1:] {
		x := float64(s.From)
		low := p.Y.Min * math.Pow(p.Y.Max/p.Y.Min, 0.04*float64(i%3)) // neighbours at other heights
		mark, err := plotter.NewLine(plotter.XYs{{X: x, Y: p.Y.Min}, {X: x, Y: p.Y.Max}})
		if err != nil {
			return fail(err)
		}
		mark.Color, mark.Dashes = grey, []vg.Length{vg.Points(4), vg.Points(3)}
		label, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: low}}, Labels: []string{fmt.Sprintf(" %d", s.From)}})
		if err != nil {
			return fail(err)
		}
		p.Add(mark, label)
	}
	return nil
}

// write returns a plot as SVG.
func write(p *plot.Plot) ([]byte, error) {
	c, err := p.WriterTo(width, height, "svg")
	if err != nil {
		return nil, fail(err)
	}
	var out bytes.Buffer
	if _, err := c.WriteTo(&out); err != nil {
		return nil, fail(err)
	}
	return out.Bytes(), nil
}

func fail(err error) error { return diag.Internal(diag.Bug, diag.Position{}, "draw a chart: %v", err) }
