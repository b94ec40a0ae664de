package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/program"
)

// Check returns a check for a person: how the outputs compare, what the proof covers, what is wrong, and counted against
// predicted bytes by kind of collective.
func Check(c *program.Check) string {
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
	unsharded, made := largest(c.Outputs, func(o *program.OutputCheck) *float64 { return o.UnshardedError })
	if made {
		fmt.Fprintf(&b, ", %d equal bit for bit; largest relative error %s against the unsharded run", exact, errorText(unsharded))
	}
	if expected, also := largest(c.Outputs, func(o *program.OutputCheck) *float64 { return o.ExpectedError }); also {
		fmt.Fprintf(&b, "%s %s against expected outputs", map[bool]string{true: ",", false: "; largest relative error"}[made],
			errorText(expected))
	}
	b.WriteString("\n" + proofText(c.Proof))
	if c.Note != "" {
		b.WriteString(c.Note + "\n")
	}
	if passed < len(c.Outputs) {
		t := newTable(5, 6, 7)
		t.AppendHeader(table.Row{"output", "name", "differs from the", "elements", "worst at", "got", "want", "allowed difference"})
		for i := range c.Outputs {
			if o := &c.Outputs[i]; o.Wrong != nil {
				w := o.Wrong
				t.AppendRow(table.Row{o.Index, o.Name, w.Reference, w.Elements, w.Place(), w.Got, w.Want, w.Allowed})
			}
		}
		b.WriteString(t.Render() + "\n")
	}
	b.WriteString(trafficTable(c.Collectives, c.Result != nil && c.Result.Uncounted))
	return b.String()
}

func errorText(x float64) string {
	if x == math.MaxFloat64 {
		x = math.Inf(1)
	}
	return fmt.Sprintf("%.3g", x)
}

// largest returns the largest of the errors that were found, false if none was looked for.
func largest(outputs []program.OutputCheck, of func(*program.OutputCheck) *float64) (value float64, made bool) {
	for i := range outputs {
		if e := of(&outputs[i]); e != nil {
			value, made = max(value, *e), true
		}
	}
	return value, made
}

func proofText(p *program.Proof) string {
	if p == nil {
		return ""
	}
	text := fmt.Sprintf("proved op by op: %d of %d values that the devices computed are right, %d bit for bit", p.Values-p.Wrong, p.Values,
		p.Exact)
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

func trafficTable(list []program.CollectiveCheck, uncounted bool) string {
	if uncounted {
		return "bytes that collectives moved are counted by the mesh backend only\n"
	}
	if len(list) == 0 {
		return "no collectives\n"
	}
	type sums struct {
		places, equal      int
		predicted, counted int64
	}
	byKind := map[string]*sums{}
	var kinds []string
	for i := range list {
		x := &list[i]
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
	t := newTable(1, 2, 3, 4)
	t.AppendHeader(table.Row{"collective", "places", "equal", "predicted bytes", "counted bytes"})
	for _, k := range kinds {
		s := byKind[k]
		t.AppendRow(table.Row{k, s.places, s.equal, s.predicted, s.counted})
	}
	return t.Render() + "\n"
}

// Run returns a run with those outputs for a person: the range of each output, and the bytes that collectives moved.
func Run(r *program.Result, outputs []answer.Tensor) string {
	return rangeTable(r, outputs) + "\n" + trafficTable(r.Collectives, r.Uncounted)
}

// Interpreted returns the run of an interpreter for a person: how many checks hold, and the range of each output.
func Interpreted(r *program.Result, outputs []answer.Tensor) string {
	var sections []string
	if r.Checks > 0 {
		sections = append(sections, diag.Count(r.Checks, "check holds", "checks hold")+"\n")
	}
	if len(r.Outputs) > 0 {
		sections = append(sections, rangeTable(r, outputs))
	}
	return strings.Join(sections, "\n")
}

func rangeTable(r *program.Result, outputs []answer.Tensor) string {
	t := newTable(3, 4, 5)
	t.AppendHeader(table.Row{"output", "name", "type", "least", "mean", "greatest"})
	for i, x := range r.Outputs {
		least, mean, greatest := math.Inf(1), 0.0, math.Inf(-1)
		values := x.Floats()
		for _, v := range values {
			least, greatest = math.Min(least, v), math.Max(greatest, v)
			mean += v / float64(len(values))
		}
		numbers := lists.Map([]float64{least, mean, greatest}, func(v float64) any { return fmt.Sprintf("%.6g", v) })
		t.AppendRow(append(table.Row{i, outputs[i].Name, outputs[i].Type}, numbers...))
	}
	return t.Render() + "\n"
}
