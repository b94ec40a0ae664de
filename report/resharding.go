package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/blocks"
	"autoshard/internal/diag"
	"autoshard/resharding"
)

// Resharding returns the way of a tensor from one sharding to another: totals, steps, and who holds what before and after.
func Resharding(a *resharding.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s, %s: %s to %s\n", a.Tensor, answer.FormatAxes(a.Mesh), a.Hardware, a.From.Spec, a.To.Spec)
	fmt.Fprintf(&b, "time %s, %s sent, at most %s of %s on a device\n", diag.Seconds(a.Seconds), diag.Bytes(a.Bytes), diag.Bytes(a.PeakBytes),
		diag.Bytes(a.Memory))
	if o := a.Ours; o != nil {
		fmt.Fprintf(&b, "as plans count: time %s, %s sent by %s\n", diag.Seconds(o.Seconds), diag.Bytes(o.Bytes),
			diag.Count(o.Collectives, "collective", "collectives"))
	}
	if s := a.Shardy; s != nil {
		fmt.Fprintf(&b, "Shardy's order: time %s, %s sent by %s, at most %s on a device\n", diag.Seconds(s.Seconds), diag.Bytes(s.Bytes),
			diag.Count(s.Collectives, "collective", "collectives"), diag.Bytes(s.PeakBytes))
	}
	b.WriteString("\n" + stepTable(a.Steps))
	if a.From.Spec == a.To.Spec {
		return b.String() + "\nbefore and after\n" + picture(&a.From)
	}
	return b.String() + "\nbefore\n" + picture(&a.From) + "\nafter\n" + picture(&a.To)
}

func stepTable(steps []resharding.Step) string {
	if len(steps) == 0 {
		return "nothing has to be done\n"
	}
	t := newTable(5, 6, 7)
	t.AppendHeader(table.Row{"step", "axes", "dimension", "sharding", "block", "bytes sent", "time", "memory"})
	for i := range steps {
		s := &steps[i]
		t.AppendRow(table.Row{s.Kind, strings.Join(s.Axes, ","), dimension(s), s.Spec, s.Block, diag.Bytes(s.Bytes), diag.Seconds(s.Seconds),
			diag.Bytes(s.PeakBytes)})
	}
	return t.Render() + "\n"
}

// dimension names the one that a step changes, or the two.
func dimension(s *resharding.Step) string {
	switch {
	case s.Dim == nil:
		return ""
	case s.Cuts == nil:
		return strconv.Itoa(*s.Dim)
	}
	return fmt.Sprintf("%d to %d", *s.Dim, *s.Cuts)
}

// mostColumns and mostBlocks bound the pictures.
const mostColumns, mostBlocks = 16, 64

// picture shows which devices hold which block: as a grid where at most two dimensions are cut, otherwise as a list.
func picture(p *blocks.Place) string {
	cut := p.Cut()
	columns := 1
	if len(cut) == 2 {
		columns = int(p.Shards[cut[1]])
	}
	switch {
	case len(cut) == 0:
		return "all of it on " + p.Blocks[0].Holders() + "\n"
	case len(cut) == 2 && columns <= mostColumns && len(p.Blocks) <= mostBlocks:
		return grid(p.Blocks, cut, columns)
	}
	return blockList(p.Blocks, cut)
}

// grid is a picture of two dimensions that are cut: a row for each block of the first, a column for each of the second.
func grid(list []blocks.Block, cut []int, columns int) string {
	t := newTable()
	header := table.Row{fmt.Sprintf("dimension %d \\ %d", cut[0], cut[1])}
	for i := range columns {
		header = append(header, list[i].Span(cut[1]))
	}
	t.AppendHeader(header)
	for row := range slices.Chunk(list, columns) {
		line := table.Row{row[0].Span(cut[0])}
		for i := range row {
			line = append(line, row[i].Holders())
		}
		t.AppendRow(line)
	}
	return t.Render() + "\n"
}

// blockList is a row for each block, with its place in the dimensions that are cut.
func blockList(list []blocks.Block, cut []int) string {
	t := newTable()
	header := table.Row{}
	for _, d := range cut {
		header = append(header, fmt.Sprintf("dimension %d", d))
	}
	t.AppendHeader(append(header, "devices"))
	for i := range list[:min(len(list), mostBlocks)] {
		row := table.Row{}
		for _, d := range cut {
			row = append(row, list[i].Span(d))
		}
		t.AppendRow(append(row, list[i].Holders()))
	}
	out := t.Render() + "\n"
	if more := len(list) - mostBlocks; more > 0 {
		out += diag.Count(more, "more block", "more blocks") + ": --format json\n"
	}
	return out
}
