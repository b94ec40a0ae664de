package autoshard

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/internal/diag"
)

// Text returns the check for a person: how the outputs compare, what the proof covers, what is wrong, and counted against
// predicted bytes by kind of collective.
func (c *Check) Text() string {
	exact, passed := 0, 0
	for i := range c.Outputs {
		if c.Outputs[i].Exact {
			exact++
		}
		if c.Outputs[i].Passed {
			passed++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "verified: %d of %d outputs pass", passed, len(c.Outputs))
	unsharded, made := largest(c.Outputs, func(o *OutputCheck) *float64 { return o.UnshardedError })
	if made {
		fmt.Fprintf(&b, ", %d equal bit for bit; largest relative error %s against the unsharded run", exact, errorText(unsharded))
	}
	if expected, also := largest(c.Outputs, func(o *OutputCheck) *float64 { return o.ExpectedError }); also {
		fmt.Fprintf(&b, "%s %s against expected outputs", map[bool]string{true: ",", false: "; largest relative error"}[made], errorText(expected))
	}
	b.WriteString("\n" + c.proofText())
	if c.Note != "" {
		b.WriteString(c.Note + "\n")
	}
	if passed < len(c.Outputs) {
		t := newTable(5, "output", "name", "differs from the", "elements", "worst at", "got", "want", "allowed difference")
		for i := range c.Outputs {
			if o := &c.Outputs[i]; o.Wrong != nil {
				w := o.Wrong
				t.AppendRow(table.Row{o.Index, o.Name, w.Reference, w.Elements, placeText(w.Index), w.Got, w.Want, w.Allowed})
			}
		}
		b.WriteString(t.Render() + "\n")
	}
	b.WriteString(c.trafficTable())
	return b.String()
}

func errorText(x float64) string {
	if x == math.MaxFloat64 {
		x = math.Inf(1)
	}
	return fmt.Sprintf("%.3g", x)
}

// largest returns the largest of the errors that were found, false if none was looked for.
func largest(outputs []OutputCheck, of func(*OutputCheck) *float64) (value float64, made bool) {
	for i := range outputs {
		if e := of(&outputs[i]); e != nil {
			value, made = max(value, *e), true
		}
	}
	return value, made
}

func (c *Check) proofText() string {
	p := c.Proof
	if p == nil {
		return ""
	}
	text := fmt.Sprintf("proved op by op: %d of %d values that the devices computed are right, %d bit for bit", p.Values-p.Wrong, p.Values, p.Exact)
	if p.Nearest > 0 {
		text += fmt.Sprintf(", the others within %.2g of what rounding allows", p.Nearest)
	}
	text += "\n"
	for _, f := range p.Faults {
		text += "  " + f.Source + ": " + f.Message + "\n"
	}
	if p.Wrong > len(p.Faults) {
		text += fmt.Sprintf("  and %d more\n", p.Wrong-len(p.Faults))
	}
	return text
}

// finding is the error of a check that did not pass: the first value that is wrong, where that is known.
func (c *Check) finding() error {
	if c.Proof != nil && len(c.Proof.Faults) > 0 {
		f := &c.Proof.Faults[0]
		return diag.Finding(diag.Mismatch, f.pos, "the sharded run computes a wrong value first here: %s", f.Message)
	}
	for i := range c.Outputs {
		if w := c.Outputs[i].Wrong; w != nil {
			return diag.Finding(diag.Mismatch, diag.Position{}, "the run differs from the %s: output %d (%s) has %s in place of %s at %s",
				w.Reference, i, c.Outputs[i].Name, w.Got, w.Want, placeText(w.Index))
		}
	}
	return diag.Finding(diag.Mismatch, diag.Position{}, "the collectives moved other amounts than predicted")
}

func placeText(index []int64) string { return strings.ReplaceAll(fmt.Sprint(index), " ", ",") }

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
