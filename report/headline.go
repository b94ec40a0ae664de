package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/plan"
	"autoshard/program"
	"autoshard/subaxis"
)

// headline returns the first five lines: what is cut, step time, memory and bytes beside the baselines, and the proof.
func headline(p *plan.Plan, o Options) string {
	devices := (&subaxis.Mesh{Axes: p.Mesh}).Devices()
	first := fmt.Sprintf("%s on %s (%d devices, %s): %s\n", p.Model, answer.FormatAxes(p.Mesh), devices, p.Hardware, cuts(p))
	return first + comparison(p) + "\n" + "proof       " + proof(p, o) + "\n"
}

// comparison sets the plan's figures beside those of the baselines. Behind a time stands what multiple of the plan's it is.
func comparison(p *plan.Plan) string {
	t := newTable()
	times := table.Row{"step time", diag.Seconds(p.Estimate.Seconds)}
	memory := table.Row{"memory", diag.Bytes(p.Estimate.PeakBytes) + " of " + diag.Bytes(p.Memory)}
	sent := table.Row{"bytes sent", diag.Bytes(p.Estimate.SentBytes)}
	for i := range p.Baselines {
		b := &p.Baselines[i]
		if b.Estimate == (program.Estimate{}) {
			times, memory, sent = append(times, b.Name+" -"), append(memory, ""), append(sent, "")
			continue
		}
		times = append(times, fmt.Sprintf("%s %s (%s)", b.Name, diag.Seconds(b.Estimate.Seconds), ratio(b, p)))
		memory = append(memory, b.Name+" "+diag.Bytes(b.Estimate.PeakBytes))
		sent = append(sent, b.Name+" "+diag.Bytes(b.Estimate.SentBytes))
	}
	t.AppendRows([]table.Row{times, memory, sent})
	return t.Render()
}

func ratio(b *plan.Baseline, p *plan.Plan) string {
	switch {
	case !b.Fits:
		return "does not fit"
	case p.Estimate.Seconds == 0:
		return "fits"
	}
	return fmt.Sprintf("%.3gx", b.Estimate.Seconds/p.Estimate.Seconds)
}

// baselineNotes says what is particular about baselines.
func baselineNotes(p *plan.Plan) string {
	var b strings.Builder
	for i := range p.Baselines {
		if x := &p.Baselines[i]; x.Note != "" {
			fmt.Fprintf(&b, "%s: %s\n", x.Name, x.Note)
		}
	}
	return b.String()
}

// proof says how far the plan can be from the best one, and whether a run has borne it out.
func proof(p *plan.Plan, o Options) string {
	check := o.Check
	c := &p.Certificate
	text, of := "", ""
	if scope := p.Scope(); scope != "" {
		of = " " + scope
	}
	switch {
	case c.Gap == 0:
		text = "no plan" + of + " costs less under the cost model"
	case c.Bound == 0:
		text = fmt.Sprintf("no lower bound is known (%s)", c.Status)
	default:
		text = fmt.Sprintf("no plan%s costs less than %s, %.2f %% below this one (%s)", of,
			diag.Seconds(float64(c.Bound)/1e12), 100*c.Gap, c.Status)
	}
	switch {
	case o.Read:
		return text
	case check == nil:
		return text + "; not run, --verify runs and compares it"
	case check.Passed:
		return text + fmt.Sprintf("; run: %d of %d outputs agree with the unsharded run", len(check.Outputs), len(check.Outputs))
	}
	return text + "; run: differs from the reference, see below"
}

// part is a group of inputs that people have one word for.
type part struct {
	name   string
	bytes  int64 // whole
	layers int
	along  map[string]int64 // whole bytes by the axes that cut them
}

const mostParts = 4 // in the first line

// cuts says what is cut along which axes: batch first, then the parts with the most bytes.
func cuts(p *plan.Plan) string {
	parts := partsOf(p.Inputs)
	if !slices.ContainsFunc(p.Inputs, func(t answer.Tensor) bool { return len(t.Axes) > 0 }) {
		return "no input is cut"
	}
	phrases := lists.Map(parts[:min(mostParts, len(parts))], (*part).phrase)
	if more := len(parts) - mostParts; more > 0 {
		phrases = append(phrases, fmt.Sprintf("%d more", more))
	}
	return strings.Join(phrases, "; ")
}

var rootPattern = regexp.MustCompile(`^[A-Za-z_]\w*`)

// partName is the role of an input, or what its name begins with.
func partName(t *answer.Tensor) string {
	if t.Role != "" {
		return answer.RoleWord(t.Role)
	}
	if generic.MatchString(t.Name) {
		return "inputs"
	}
	return cmp.Or(rootPattern.FindString(t.Name), "inputs")
}

func partsOf(inputs []answer.Tensor) []*part {
	byName := map[string]*part{}
	var parts []*part
	for i := range inputs {
		t := &inputs[i]
		name := partName(t)
		x := byName[name]
		if x == nil {
			x = &part{name: name, along: map[string]int64{}}
			byName[name] = x
			parts = append(parts, x)
		}
		x.bytes += t.WholeBytes
		x.along[strings.Join(t.Axes, ",")] += t.WholeBytes
	}
	for _, f := range fold(inputs) {
		x := byName[partName(&inputs[f.members[0]])]
		x.layers = max(x.layers, f.layers)
	}
	slices.SortStableFunc(parts, func(a, b *part) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(b.bytes, a.bytes))
	})
	return parts
}

// order puts the batch before everything else.
func order(x *part) int {
	if x.name == "batch" {
		return 0
	}
	return 1
}

// A share of a part's bytes below this is left out of the first line.
const leastShare = 0.01

// phrase says along which axes a part is cut: "parameters (12 layers) along model", or with shares of bytes.
func (x *part) phrase() string {
	name := x.name
	if x.layers > 1 {
		name += fmt.Sprintf(" (%d layers)", x.layers)
	}
	type share struct {
		axes  string
		bytes int64
	}
	var shares []share
	for axes, n := range x.along {
		if float64(n) >= leastShare*float64(x.bytes) {
			shares = append(shares, share{axes, n})
		}
	}
	slices.SortFunc(shares, func(a, b share) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.axes, b.axes)) })
	words := make([]string, len(shares))
	for i, s := range shares {
		words[i] = "whole"
		if s.axes != "" {
			words[i] = "along " + s.axes
		}
		if len(shares) > 1 {
			words[i] = fmt.Sprintf("%.0f %% %s", 100*float64(s.bytes)/float64(x.bytes), words[i])
		}
	}
	return strings.TrimSpace(name + " " + strings.Join(words, ", "))
}
