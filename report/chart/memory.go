package chart

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"autoshard/program"
)

// Memory draws what a device holds from op to op, class upon class.
func Memory(m *program.Memory) ([]byte, error) {
	p := plot.New()
	p.Title.Text = m.Program
	p.X.Label.Text, p.Y.Label.Text = "op", "MiB on a device"
	p.X.Min, p.Y.Min = 0, 0
	p.Legend.Top = true
	curve := thin(m)
	below := make([]float64, len(curve))
	for i, name := range m.Classes {
		area, any := layer(curve, i, float64(m.Ops), below)
		if !any {
			continue
		}
		polygon, err := plotter.NewPolygon(area)
		if err != nil {
			return nil, fail(err)
		}
		polygon.Color, polygon.LineStyle.Width = areas[i%len(areas)], 0
		p.Add(polygon)
		p.Legend.Add(name, polygon)
	}
	return write(p)
}

// areas are the colours of classes, as many as there may be.
var areas = []color.Color{color.RGBA{78, 121, 167, 255}, color.RGBA{160, 203, 232, 255}, color.RGBA{89, 161, 79, 255},
	color.RGBA{140, 209, 125, 255}, color.RGBA{182, 153, 45, 255}, color.RGBA{241, 206, 99, 255}, color.RGBA{73, 152, 148, 255},
	color.RGBA{225, 87, 89, 255}, color.RGBA{255, 157, 154, 255}, color.RGBA{121, 112, 110, 255}, color.RGBA{186, 176, 172, 255}}

const mebi = 1 << 20

// mostSamples is how many places of a curve a chart has room for.
const mostSamples = 800

// thin returns at most as many samples of a curve as a chart has room for: of neighbours the one that holds the most.
func thin(m *program.Memory) (out []program.Sample) {
	width := max(1, (m.Ops+mostSamples-1)/mostSamples)
	total := func(s program.Sample) (n int64) {
		for _, b := range s.Bytes {
			n += b
		}
		return n
	}
	for _, s := range m.Curve {
		if n := len(out); n > 0 && out[n-1].Op/width == s.Op/width {
			if total(s) > total(out[n-1]) {
				out[n-1].Bytes = s.Bytes
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// layer returns the outline of a class on what lies below it, to which it is added. The second result is false where the class is empty.
func layer(curve []program.Sample, class int, end float64, below []float64) (area plotter.XYs, any bool) {
	var under plotter.XYs
	for i, s := range curve {
		from, to := float64(s.Op), end
		if i+1 < len(curve) {
			to = float64(curve[i+1].Op)
		}
		top := below[i] + float64(s.Bytes[class])/mebi
		any = any || s.Bytes[class] > 0
		area = append(area, plotter.XY{X: from, Y: top}, plotter.XY{X: to, Y: top})
		under = append(under, plotter.XY{X: from, Y: below[i]}, plotter.XY{X: to, Y: below[i]})
		below[i] = top
	}
	for i := len(under) - 1; i >= 0; i-- {
		area = append(area, under[i])
	}
	return area, any
}
