package autoshard

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Text returns the check for a person: the largest error of all outputs, those that did not pass, and counted against
// predicted bytes by kind of collective.
func (c *Check) Text() string {
	var b strings.Builder
	exact, passed := 0, 0
	unsharded, expected := 0.0, 0.0
	for i := range c.Outputs {
		o := &c.Outputs[i]
		if o.Exact {
			exact++
		}
		if o.Passed {
			passed++
		}
		unsharded, expected = math.Max(unsharded, o.UnshardedError), math.Max(expected, o.ExpectedError)
	}
	fmt.Fprintf(&b, "verified: %d of %d outputs pass, %d equal bit for bit; largest relative error ", passed, len(c.Outputs), exact)
	if c.Note == "" {
		fmt.Fprintf(&b, "%.3g against the unsharded run, ", unsharded)
	}
	fmt.Fprintf(&b, "%.3g against expected outputs\n", expected)
	if passed < len(c.Outputs) {
		t := newTable(2, "output", "name", "unsharded error", "expected error")
		for _, o := range c.Outputs {
			if !o.Passed {
				t.AppendRow(table.Row{o.Index, o.Name, fmt.Sprintf("%.3g", o.UnshardedError), fmt.Sprintf("%.3g", o.ExpectedError)})
			}
		}
		b.WriteString(t.Render() + "\n")
	}
	b.WriteString(c.trafficTable())
	return b.String()
}

func (c *Check) trafficTable() string {
	if c.uncounted {
		return "bytes that collectives moved are counted by the mesh backend only\n"
	}
	if len(c.Collectives) == 0 {
		return "no collectives\n"
	}
	type sums struct {
		places, equal      int
		predicted, counted int64
	}
	byKind := map[string]*sums{}
	var kinds []string
	for i := range c.Collectives {
		x := &c.Collectives[i]
		s := byKind[x.Kind]
		if s == nil {
			s = &sums{}
			byKind[x.Kind] = s
			kinds = append(kinds, x.Kind)
		}
		s.places++
		s.predicted += x.Predicted
		s.counted += x.Counted
		if x.Agrees() {
			s.equal++
		}
	}
	slices.Sort(kinds)
	t := newTable(1, "collective", "places", "equal", "predicted bytes", "counted bytes")
	for _, k := range kinds {
		s := byKind[k]
		t.AppendRow(table.Row{k, s.places, s.equal, s.predicted, s.counted})
	}
	return t.Render() + "\n"
}

// Text returns a run of a plan for a person: the range of each output, and the bytes that collectives moved.
func (r *RunResult) Text(p *Plan) string {
	t := newTable(3, "output", "name", "type", "least", "mean", "greatest")
	for i, x := range r.Outputs {
		least, mean, greatest := math.Inf(1), 0.0, math.Inf(-1)
		values := x.Floats()
		for _, v := range values {
			least, greatest = math.Min(least, v), math.Max(greatest, v)
			mean += v / float64(len(values))
		}
		row := table.Row{i, p.Outputs[i].Name, p.Outputs[i].Type}
		for _, v := range []float64{least, mean, greatest} {
			row = append(row, fmt.Sprintf("%.6g", v))
		}
		t.AppendRow(row)
	}
	return t.Render() + "\n\n" + (&Check{Collectives: r.Collectives, uncounted: r.Uncounted}).trafficTable()
}
