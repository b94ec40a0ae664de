package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/internal/diag"
	"autoshard/plan"
	"autoshard/rewrites"
)

// recomputedRows bounds what is shown of what is made again.
const recomputedRows = 8

// recomputedGroup adds up what is made again by ops of one kind in blocks of one type.
type recomputedGroup struct {
	op, typ string
	places  int // in the program
	count   int64
	seconds float64
	sources []string
}

// recomputedTable lists what a program makes again instead of holding it, what takes longest first; "" where there is nothing.
func recomputedTable(p *plan.Plan, all bool) string {
	if len(p.Recomputed) == 0 {
		return ""
	}
	groups := groupRecomputed(p.Recomputed, all)
	rows := recomputedRows
	if all {
		rows = len(groups)
	}
	t := newTable(2, 3, 4)
	t.AppendHeader(table.Row{"made again", "block", "places", "count", "time", "source"})
	rest, restSeconds := 0, 0.0
	for i, g := range groups {
		if i >= rows {
			rest, restSeconds = rest+g.places, restSeconds+g.seconds
			continue
		}
		t.AppendRow(table.Row{g.op, g.typ, g.places, g.count, diag.Seconds(g.seconds), sources(g.sources)})
	}
	out := t.Render() + "\n"
	if rest > 0 {
		out += fmt.Sprintf("%s that %s %s: --all\n", diag.Count(rest, "more value", "more values"), diag.Plural(rest, "takes", "take"),
			diag.Seconds(restSeconds))
	}
	for i := range p.Rewrites {
		if g := &p.Rewrites[i]; g.Rewrite == rewrites.RecomputeActivations.String() {
			out += fmt.Sprintf("without that a device would hold %s, and a step take %s\n", diag.Bytes(p.Estimate.PeakBytes+g.SavedPeak),
				diag.Seconds(p.Estimate.Seconds+g.SavedSeconds))
		}
	}
	return out
}

// groupRecomputed returns the groups, those that take longest first; each value by itself and in program order where all are asked for.
func groupRecomputed(list []plan.Recomputed, all bool) (groups []*recomputedGroup) {
	index := map[[2]string]*recomputedGroup{}
	for i := range list {
		r := &list[i]
		key := [2]string{r.Op, r.Type}
		g := index[key]
		if g == nil || all {
			g = &recomputedGroup{op: r.Op, typ: r.Type}
			index[key], groups = g, append(groups, g)
		}
		g.places, g.count, g.seconds = g.places+1, g.count+r.Count, g.seconds+r.Seconds
		g.sources = append(g.sources, r.Source)
	}
	if !all {
		slices.SortStableFunc(groups, func(a, b *recomputedGroup) int { return cmp.Compare(b.seconds, a.seconds) })
	}
	return groups
}
