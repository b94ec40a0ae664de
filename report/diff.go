package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/plan"
)

// diffRows are the values of a page.
const diffRows = 24

// figureNames are what people call the figures of plans, and how these are written.
var figureNames = map[string]struct {
	name  string
	write func(float64) string
}{
	"seconds":           {"step time", diag.Seconds},
	"computeSeconds":    {"of that, ops", diag.Seconds},
	"collectiveSeconds": {"of that, collectives", diag.Seconds},
	"peakBytes":         {"memory", func(x float64) string { return diag.Bytes(int64(x)) }},
	"sentBytes":         {"bytes sent", func(x float64) string { return diag.Bytes(int64(x)) }},
	"boundSeconds":      {"proven bound", diag.Seconds},
}

// DiffOptions say how two plans are called, and what is shown.
type DiffOptions struct {
	Before, After string // names of the plans
	All           bool   // every value, nothing folded
	Markdown      bool
}

// Diff returns in what two plans differ: what they were made for, predictions, what collectives send, and values.
func Diff(d *plan.Difference, o DiffOptions) string {
	var sections []string
	add := func(rows []table.Row, right ...int) {
		if len(rows) > 1 {
			sections = append(sections, o.table(rows, right...))
		}
	}
	add(askedRows(d, o), 1, 2)
	if d.Same {
		return strings.Join(append(sections, "the plans are the same\n"), "\n")
	}
	add(figureRows(d, o), 1, 2, 3)
	add(trafficRows(d, o), 2, 3, 4, 5)
	values, more := valueRows(d, o)
	add(values)
	if more > 0 {
		sections[len(sections)-1] += fmt.Sprintf("%s: --all\n", diag.Count(more, "more row", "more rows"))
	}
	if len(d.Values) == 0 {
		sections = append(sections, "inputs and outputs are cut alike\n")
	}
	return strings.Join(sections, "\n")
}

// table writes rows, of which the first is the header.
func (o *DiffOptions) table(rows []table.Row, right ...int) string {
	t := newTable(right...)
	t.AppendHeader(rows[0])
	t.AppendRows(rows[1:])
	if o.Markdown {
		return t.RenderMarkdown() + "\n"
	}
	return t.Render() + "\n"
}

func askedRows(d *plan.Difference, o DiffOptions) []table.Row {
	rows := []table.Row{{"asked for", o.Before, o.After}}
	for _, c := range d.Asked {
		rows = append(rows, table.Row{c.Name, cmp.Or(c.Before, "-"), cmp.Or(c.After, "-")})
	}
	return rows
}

func figureRows(d *plan.Difference, o DiffOptions) []table.Row {
	rows := []table.Row{{"predicted", o.Before, o.After, "change"}}
	for _, f := range d.Figures {
		n := figureNames[f.Name]
		rows = append(rows, table.Row{n.name, n.write(f.Before), n.write(f.After), relativeChange(f.Before, f.After)})
	}
	return rows
}

// relativeChange writes a change relative to what was before.
func relativeChange(before, after float64) string {
	switch {
	case before == after:
		return "="
	case before == 0:
		return "new"
	}
	return fmt.Sprintf("%+.3g %%", 100*(after-before)/before)
}

func trafficRows(d *plan.Difference, o DiffOptions) []table.Row {
	rows := []table.Row{{"collective", "axes", o.Before, o.After, "change", "time"}}
	for i := range d.Traffic {
		t := &d.Traffic[i]
		rows = append(rows, table.Row{t.Kind, t.Axes, sent(&t.Before), sent(&t.After),
			relativeChange(float64(t.Before.Bytes), float64(t.After.Bytes)), signed(t.After.Seconds - t.Before.Seconds)})
	}
	return rows
}

// sent says what collectives send, and in how many places.
func sent(t *plan.Traffic) string {
	if t.Places == 0 {
		return "-"
	}
	return fmt.Sprintf("%s in %d", diag.Bytes(t.Bytes), t.Places)
}

// signed writes a difference of times.
func signed(seconds float64) string {
	if seconds < 0 {
		return "-" + diag.Seconds(-seconds)
	}
	return "+" + diag.Seconds(seconds)
}

// valueRows folds values of equal layers that change alike, unless all are asked for. It returns how many rows are left out.
func valueRows(d *plan.Difference, o DiffOptions) (rows []table.Row, more int) {
	rows = []table.Row{{"value", "type", o.Before, o.After, "per device"}}
	changes := make([]answer.Tensor, len(d.Values))
	for i := range d.Values {
		changes[i] = change(&d.Values[i])
	}
	families := single(changes)
	if !o.All && len(changes) > diffRows {
		families = page(changes)
	}
	for i, f := range families {
		if i >= diffRows && !o.All {
			return rows, len(families) - i
		}
		x, v := &changes[f.members[0]], &d.Values[f.members[0]]
		label := f.label()
		if v.Output {
			label += " (output)"
		}
		rows = append(rows, table.Row{label, x.Type, spec(v.Before), spec(v.After), bytesChange(v, int64(len(f.members)))})
	}
	return rows, 0
}

// change is a pair as one tensor, whose spec holds both: pairs that change alike are folded.
func change(v *plan.ValuePair) answer.Tensor {
	t := *cmp.Or(v.After, v.Before)
	t.Spec = fmt.Sprint(v.Output, spec(v.Before), " ", spec(v.After))
	return t
}

func spec(t *answer.Tensor) string {
	if t == nil {
		return "-"
	}
	return cmp.Or(t.Spec, "P()")
}

// bytesChange says what a device holds of a value before and after, times so many values.
func bytesChange(v *plan.ValuePair, times int64) string {
	side := func(t *answer.Tensor) string {
		if t == nil {
			return "-"
		}
		return diag.Bytes(times * t.Bytes)
	}
	return side(v.Before) + " to " + side(v.After)
}
