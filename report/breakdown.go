package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/program"
)

// groupRows bounds the ops of a page; the rest is counted.
const groupRows = 10

// Breakdown shows what a step of a program takes its time for, and what would make it faster.
func Breakdown(b *program.Breakdown, all bool) string {
	e := &b.Estimate
	head := fmt.Sprintf("%s on %s, %s: %s a step, of which collectives %s; %s a device, %s sent\n\n", b.Program, answer.FormatAxes(b.Mesh),
		b.Hardware, duration(e.Seconds), duration(e.CollectiveSeconds), diag.Bytes(e.PeakBytes), diag.Bytes(e.SentBytes))
	return head + shares(b) + "\n" + opGroups(b, all) + "\n" + overlap(b)
}

// stallRows bounds the collectives that are named for what they delay.
const stallRows = 4

// overlap says how long a step takes where collectives run beside local ops, and which of them still delay it.
func overlap(b *program.Breakdown) string {
	o := &b.Overlap
	out := fmt.Sprintf("with collectives beside other ops: %s a step, %s less", duration(o.Seconds), percent(o.Hidden, b.Estimate.Seconds))
	if len(o.Busy) > 0 {
		busy := lists.Map(o.Busy, func(l program.LinkBusy) string { return l.Links + " " + duration(l.Seconds) })
		out += "; links are busy: " + strings.Join(busy, ", ")
	}
	out += "\n"
	if len(o.Stalls) == 0 {
		return out
	}
	t := newTable(2, 3)
	t.AppendHeader(table.Row{"other ops wait for", "result", "places", "time", "source"})
	for i := range o.Stalls[:min(len(o.Stalls), stallRows)] {
		s := &o.Stalls[i]
		t.AppendRow(table.Row{s.Kind + " over " + s.Axes, s.Type, s.Places, duration(s.Seconds), sources(s.Sources)})
	}
	return out + t.Render() + "\n"
}

// shares says how long a step waits for each resource, and what twice as much of it would gain.
func shares(b *program.Breakdown) string {
	t := newTable(1, 2, 3, 4)
	t.AppendHeader(table.Row{"waits for", "time", "share", "twice as fast", "gain"})
	for _, s := range b.Shares {
		t.AppendRow(table.Row{string(s.Resource), duration(s.Seconds), percent(s.Seconds, b.Estimate.Seconds), duration(s.Doubled),
			percent(b.Estimate.Seconds-s.Doubled, b.Estimate.Seconds)})
	}
	return t.Render() + "\n"
}

func percent(part, whole float64) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.3g %%", 100*part/whole)
}

// opGroups lists ops that are alike, the longest first.
func opGroups(b *program.Breakdown, all bool) string {
	rows := groupRows
	if all {
		rows = len(b.Groups)
	}
	t := newTable(2, 3, 4, 5)
	t.AppendHeader(table.Row{"op", "result", "places", "runs", "time", "share", "waits for", "source"})
	rest, restSeconds := 0, 0.0
	for i := range b.Groups {
		g := &b.Groups[i]
		if i >= rows {
			rest, restSeconds = rest+g.Places, restSeconds+g.Seconds
			continue
		}
		kind := g.Kind
		if g.Axes != "" {
			kind += " over " + g.Axes
		}
		t.AppendRow(table.Row{kind, g.Type, g.Places, g.Runs, duration(g.Seconds), percent(g.Seconds, b.Estimate.Seconds), string(g.Resource),
			sources(g.Sources)})
	}
	out := t.Render() + "\n"
	if rest > 0 {
		out += fmt.Sprintf("%s that %s %s: --all\n", diag.Count(rest, "more op", "more ops"), diag.Plural(rest, "takes", "take"),
			duration(restSeconds))
	}
	return out
}
