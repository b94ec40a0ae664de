package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"autoshard/answer"
	"autoshard/blocks"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
)

// Blocks returns what devices hold of a tensor: sizes, a map of the blocks with their devices, what each device holds, and the sharding in
// every form.
func Blocks(a *blocks.Answer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: %s\n", a.Tensor, answer.FormatAxes(a.Mesh), a.Place.Spec)
	fmt.Fprintf(&b, "block     %s, %s of %s\n", a.Place.Block, diag.Bytes(a.Bytes.Block), diag.Bytes(a.Bytes.Whole))
	fmt.Fprintf(&b, "replicas  %s, %s on all %s\n\n", replicas(&a.Bytes), diag.Bytes(a.Bytes.Fleet),
		diag.Count(len(a.Devices), "device", "devices"))
	b.WriteString(blockMap(&a.Place))
	if len(a.Devices) <= mostBlocks {
		b.WriteString("\n" + deviceTable(a))
	}
	b.WriteString("\n" + formTable(a.Forms))
	for _, n := range a.Notes {
		b.WriteString("\n" + n + "\n")
	}
	return b.String()
}

// replicas says how many devices hold each block.
func replicas(s *blocks.Sizes) string {
	out := "none"
	if s.Copies > 1 {
		out = fmt.Sprintf("%d of each block", s.Copies)
	}
	if s.Terms > 1 {
		out += fmt.Sprintf(", each the sum of what %d devices hold", s.Terms)
	}
	return out
}

// blockMap draws blocks as boxes with the devices that hold them, as a list where there are too many.
func blockMap(p *blocks.Place) string {
	panels := p.Panels()
	if len(p.Blocks) == 1 {
		return "all of it on " + p.Blocks[0].Holders() + "\n"
	}
	if len(p.Blocks) > mostBlocks || len(panels[0].Rows[0]) > mostColumns {
		return blockList(p.Blocks, p.Cut())
	}
	return strings.Join(lists.Map(panels, func(panel blocks.Panel) string { return boxes(&panel) }), "\n")
}

// boxes draws the blocks of one panel.
func boxes(p *blocks.Panel) string {
	t := table.NewWriter()
	style := table.StyleLight
	style.Options.SeparateRows = true
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(boxHeader(p))
	for _, row := range p.Rows {
		line := table.Row{""}
		if p.Row >= 0 {
			line[0] = row[0].Span(p.Row)
		}
		for i := range row {
			line = append(line, row[i].Holders())
		}
		t.AppendRow(line)
	}
	title := ""
	for _, d := range p.Others {
		title += fmt.Sprintf("dimension %d at %s\n", d, p.Rows[0][0].Span(d))
	}
	return title + t.Render() + "\n"
}

// boxHeader names the dimensions of a panel, and what of them its columns are.
func boxHeader(p *blocks.Panel) table.Row {
	if p.Column < 0 {
		return table.Row{fmt.Sprintf("dimension %d", p.Row), "devices"}
	}
	header := table.Row{fmt.Sprintf("dimension %d", p.Column)}
	if p.Row >= 0 {
		header[0] = fmt.Sprintf("dimension %d \\ %d", p.Row, p.Column)
	}
	for i := range p.Rows[0] {
		header = append(header, p.Rows[0][i].Span(p.Column))
	}
	return header
}

// deviceTable is a row for each device: where it is in the mesh, and what it holds.
func deviceTable(a *blocks.Answer) string {
	t := newTable()
	header := table.Row{"device"}
	for _, axis := range a.Mesh {
		header = append(header, axis.Name)
	}
	t.AppendHeader(append(header, "holds"))
	devices := slices.Clone(a.Devices)
	slices.SortFunc(devices, func(x, y blocks.Device) int { return int(x.ID - y.ID) })
	for i := range devices {
		d := &devices[i]
		row := table.Row{strconv.FormatInt(d.ID, 10)}
		for _, at := range d.Coordinates {
			row = append(row, at)
		}
		t.AppendRow(append(row, d.Slice()))
	}
	return t.Render() + "\n"
}

func formTable(forms []blocks.Form) string {
	t := newTable()
	for i := range forms {
		f := &forms[i]
		said := f.Text
		if f.Problem != "" {
			said = f.Problem
		}
		for _, n := range f.Notes {
			said += " (" + n + ")"
		}
		t.AppendRow(table.Row{f.Form, said})
	}
	return t.Render() + "\n"
}
