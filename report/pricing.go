package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/pricing"
)

// strategyRows bounds the strategies of a page, of those that give what was asked for and of the others; the rest is counted.
const strategyRows = 8

// Matmul shows the ways to compute a product, the fastest first.
func Matmul(a *pricing.MatmulAnswer, all bool) string {
	out := fmt.Sprintf("%s on %s\n%s in all; a star marks the fastest\n\n%s", a.Product, place(&a.Place), quantity(a.FLOPs, "FLOP"),
		strategies(a.Strategies, a.Book, true, all))
	if len(a.Others) > 0 {
		out += "\nwith other results\n" + strategies(a.Others, a.Book, false, all)
	}
	return out
}

func strategies(list []pricing.Strategy, book, best, all bool) string {
	t := newTable(4, 5, 6, 7, 8, 9)
	header := table.Row{"", "strategy", "steps", "result", "FLOP", "compute", "memory", "network", "sent", "time", "bound"}
	if book {
		header = append(header, "ours")
	}
	t.AppendHeader(header)
	shown := list
	if !all {
		shown = list[:min(len(list), strategyRows)]
	}
	for i := range shown {
		s := &shown[i]
		mark := ""
		if best && i == 0 {
			mark = "*"
		}
		steps := lists.Map(s.Steps, func(m pricing.Move) string {
			return fmt.Sprintf("%s %s over %s: %s, %s", m.Kind, m.Array, m.Axes, quantity(float64(m.Bytes), "B"), duration(m.Seconds))
		})
		if len(steps) == 0 {
			steps = []string{"nothing is sent"}
		}
		row := table.Row{mark, s.Name, strings.Join(steps, "\n"), s.Result, quantity(s.FLOPs, "FLOP"), duration(s.Compute),
			duration(s.Memory), duration(s.Network), quantity(float64(s.SentBytes), "B"), duration(s.Seconds), s.Bound}
		if s.Ours != nil {
			row = append(row, duration(*s.Ours))
		}
		t.AppendRow(row)
	}
	out := t.Render() + "\n"
	if n := len(list) - len(shown); n > 0 {
		out += fmt.Sprintf("%s: --all\n", diag.Count(n, "more strategy", "more strategies"))
	}
	return out
}

// place says where a question is answered for: the mesh, the hardware, its slice, and by whose conventions.
func place(p *pricing.Place) string {
	devices := int64(1)
	for _, a := range p.Mesh {
		devices *= a.Size
	}
	out := diag.Count(int(devices), "device", "devices")
	if len(p.Mesh) > 0 {
		out = answer.FormatAxes(p.Mesh) + " (" + out + ")"
	}
	out += ", " + p.Hardware
	if len(p.Slice) > 0 {
		sizes := lists.Map(p.Slice, func(a pricing.Axis) string {
			if a.Ring {
				return fmt.Sprintf("%d (ring)", a.Size)
			}
			return fmt.Sprint(a.Size)
		})
		out += ", slice " + strings.Join(sizes, " x ")
	}
	if p.Slices > 1 {
		out += fmt.Sprintf(", %d slices", p.Slices)
	}
	if p.Book {
		out += ", the book's conventions"
	}
	return out
}

// Array shows what each device holds of an array.
func Array(a *pricing.ArrayAnswer) string {
	t := newTable()
	t.AppendRow(table.Row{"whole", a.Whole, size(a.Bytes)})
	t.AppendRow(table.Row{"block", a.Block, size(a.DeviceBytes) + " on each device"})
	t.AppendRow(table.Row{"all devices", fmt.Sprintf("%.4g %s", a.Copies, diag.Plural(int(a.Copies), "copy", "copies")), size(a.FleetBytes)})
	load := duration(a.LoadSeconds) + " from memory"
	if a.Book {
		load += ", ours " + duration(a.Ours)
	}
	t.AppendRow(table.Row{"loading a block", load})
	fits := diag.Count(int(a.Fits.Devices), "device", "devices")
	if len(a.Fits.Slice) > 0 {
		fits += ", slice " + strings.Join(lists.Map(a.Fits.Slice, func(n int64) string { return fmt.Sprint(n) }), " x ")
	}
	t.AppendRow(table.Row{"fits on", fits})
	return fmt.Sprintf("%s on %s\n%s\n", a.Array, place(&a.Place), t.Render())
}

// size writes bytes exactly, and in the units of the book.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%d B (%s)", n, quantity(float64(n), "B"))
}

// Collective shows what a communication takes.
func Collective(a *pricing.CollectiveAnswer) string {
	name := a.Kind
	if a.Axes != "" {
		name += " over " + a.Axes
	}
	t := newTable()
	if a.Axes != "" {
		t.AppendRow(table.Row{"groups", fmt.Sprintf("of %s", diag.Count(int(a.Group), "device", "devices"))})
		t.AppendRow(table.Row{"array in a group", size(a.Bytes)})
	}
	t.AppendRow(table.Row{"block before", size(a.BlockBytes)})
	t.AppendRow(table.Row{"sent", fmt.Sprintf("%s by a device, %s by all", size(a.DeviceBytes), size(a.SentBytes))})
	t.AppendRow(table.Row{"bandwidth", duration(a.Bandwidth)})
	latency := duration(a.Latency) + ", " + diag.Count(int(a.Hops), "hop", "hops")
	if a.Overhead > 0 {
		latency += ", and " + duration(a.Overhead) + " to start"
	}
	t.AppendRow(table.Row{"latency", latency})
	for _, l := range a.Levels {
		t.AppendRow(table.Row{"level " + l.Name, duration(l.Seconds)})
	}
	took := duration(a.Seconds) + ", " + a.Bound + " bound"
	if a.Book {
		took += "; ours " + duration(a.Ours)
	}
	t.AppendRow(table.Row{"time", took})
	return fmt.Sprintf("%s of %s on %s\n%s\n", name, a.Array, place(&a.Place), t.Render())
}

// duration writes a time, and 0 for none.
func duration(s float64) string {
	if s == 0 {
		return "0"
	}
	return diag.Seconds(s)
}
