package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/plan"
)

// Weighing returns how else a value could be cut, with the plan that follows from that, the best first.
func Weighing(w *plan.Weighing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s is %s, %s on a device; a step takes %s, %s at the peak, and sends %s\n\n", w.Value, w.Type, w.Now.Spec,
		diag.Bytes(w.Now.Bytes), diag.Seconds(w.Now.Seconds), diag.Bytes(w.Now.PeakBytes), diag.Bytes(w.Now.SentBytes))
	if len(w.Others) == 0 {
		along := ""
		if w.Axis != "" {
			along = " along " + w.Axis
		}
		return b.String() + "no other sharding" + along + " divides it\n"
	}
	t := newTable(1, 2, 3, 4)
	t.AppendHeader(table.Row{heading(w), "on a device", "step time", "memory", "sent", "collectives", "also cut otherwise"})
	var refused []string
	for i := range w.Others {
		c := &w.Others[i]
		if c.Refused != "" {
			refused = append(refused, fmt.Sprintf("%s: %s\n", c.Spec, c.Refused))
			continue
		}
		t.AppendRow(append(table.Row{c.Spec, diag.Bytes(c.Bytes)}, figuresBeside(c, &w.Now)...))
	}
	if len(refused) < len(w.Others) {
		b.WriteString(t.Render() + "\n")
	}
	b.WriteString(strings.Join(refused, ""))
	if w.Untried > 0 {
		fmt.Fprintf(&b, "%s along more axes not tried\n", diag.Count(w.Untried, "other sharding", "other shardings"))
	}
	if w.Others[0].Anew {
		b.WriteString("the first is a plan made from scratch with this pin; the others were looked for more quickly, from the plan that is " +
			"there\n")
	}
	return b.String()
}

func heading(w *plan.Weighing) string {
	if w.Axis != "" {
		return "along " + w.Axis
	}
	return "instead"
}

// figuresBeside returns the cells of a choice beside what there is now.
func figuresBeside(c, now *plan.Choice) table.Row {
	beside := func(text string, before, after float64) string {
		return text + " (" + relativeChange(before, after) + ")"
	}
	return table.Row{beside(diag.Seconds(c.Seconds), now.Seconds, c.Seconds),
		beside(diag.Bytes(c.PeakBytes), float64(now.PeakBytes), float64(c.PeakBytes)),
		beside(diag.Bytes(c.SentBytes), float64(now.SentBytes), float64(c.SentBytes)), trafficChanges(c.Traffic),
		diag.Count(c.Moved, "value", "values")}
}

// mostTraffic are the changes of traffic in a row.
const mostTraffic = 3

// trafficChanges says which collectives send more or less, the largest change first.
func trafficChanges(list []plan.TrafficPair) string {
	parts := lists.Map(list[:min(mostTraffic, len(list))], func(t plan.TrafficPair) string {
		change := t.After.Bytes - t.Before.Bytes
		sign := "+"
		if change < 0 {
			sign, change = "-", -change
		}
		return fmt.Sprintf("%s%s %s %s", sign, diag.Bytes(change), t.Kind, t.Axes)
	})
	if more := len(list) - mostTraffic; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// Decisions returns the first few decisions of a plan, by what undoing them would cost.
func Decisions(all *plan.Decisions, now *plan.Plan, most int) string {
	if len(all.List) == 0 {
		return "no input is cut: there is nothing to undo\n"
	}
	t := newTable(4, 5)
	t.AppendHeader(table.Row{"decision", "type", "sharding", "if it were whole", "memory", "sent", "collectives"})
	for _, d := range all.List[:min(most, len(all.List))] {
		name := d.Values[0]
		if more := len(d.Values) - 1; more > 0 {
			name += fmt.Sprintf(" and %d alike", more)
		}
		row := table.Row{name, d.Type, d.Spec, "nothing fits", "", "", ""}
		switch {
		case d.Whole.Late:
			row[3] = "not known in time"
		case d.Whole.Refused == "":
			here := plan.Choice{Seconds: now.Estimate.Seconds, PeakBytes: now.Estimate.PeakBytes, SentBytes: now.Estimate.SentBytes}
			row = append(table.Row{name, d.Type, d.Spec}, figuresBeside(&d.Whole, &here)[:4]...)
		}
		t.AppendRow(row)
	}
	out := t.Render() + "\n"
	if all.Untried > 0 {
		out += diag.Count(all.Untried, "decision", "decisions") + " about fewer bytes not tried\n"
	}
	return out
}
