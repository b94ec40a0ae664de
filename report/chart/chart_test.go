package chart_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"autoshard/blocks"
	"autoshard/pricing"
	"autoshard/program"
	"autoshard/report/chart"
	"autoshard/subaxis"
)

func sweep() *pricing.SweepAnswer {
	return &pricing.SweepAnswer{Product: "A · B", Variable: "I", Strategies: []string{"gather", "reduce", "none"},
		Points:   []pricing.SweepPoint{{Size: 16, Seconds: []float64{1e-3, 2e-3, 0}}, {Size: 64, Seconds: []float64{4e-3, 2e-3, 0}}},
		Segments: []pricing.Segment{{From: 16, To: 31}, {From: 32, To: 64}}}
}

// A chart has a line and a name for each strategy that there is, marks where the fastest changes, and is the same each time.
func TestSweep(t *testing.T) {
	svg, err := chart.Sweep(sweep())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg ", ">gather</text>", ">reduce</text>", "> 32</text>", ">microseconds</text>"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("the chart has no %s", want)
		}
	}
	if strings.Contains(string(svg), ">none</text>") {
		t.Error("the chart shows a strategy that there is not")
	}
	if again, err := chart.Sweep(sweep()); err != nil || !bytes.Equal(svg, again) {
		t.Errorf("the second chart differs, %v", err)
	}
}

func ExampleSweep() {
	svg, err := chart.Sweep(sweep())
	fmt.Println(bytes.HasPrefix(svg, []byte("<?xml")), err)
	// Output: true <nil>
}

// A chart of memory has an area for each class that holds something, is as large for a long program as for a short one, and keeps the peak.
func TestMemory(t *testing.T) {
	m := &program.Memory{Program: "step", Classes: []string{"parameters", "kept for later", "results"}, Ops: 100_000}
	for i := range m.Ops {
		m.Curve = append(m.Curve, program.Sample{Op: i, Bytes: []int64{1 << 20, int64(i%1000) << 20, 0}})
	}
	svg, err := chart.Memory(m)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(svg), ">kept for later</text>") || strings.Contains(string(svg), ">results</text>") || len(svg) > 1<<19 {
		t.Errorf("a chart of %d bytes", len(svg))
	}
	short, err := chart.Memory(&program.Memory{Classes: []string{"parameters"}, Ops: 2,
		Curve: []program.Sample{{Op: 0, Bytes: []int64{1 << 20}}}})
	if err != nil || !strings.Contains(string(short), ">parameters</text>") {
		t.Errorf("%s %v", short, err)
	}
}

// Boxes stand in a grid for each place in the third dimension that is cut, and names are escaped.
func TestBlocks(t *testing.T) {
	mesh := []subaxis.Axis{{Name: "a<b", Size: 2}, {Name: "y", Size: 2}, {Name: "z", Size: 2}}
	a, err := blocks.Show(&blocks.Request{Text: "P('a<b', 'y', 'z') : f32[2,2,2]", Mesh: mesh})
	if err != nil {
		t.Fatal(err)
	}
	svg := string(chart.Blocks(a))
	if n := strings.Count(svg, "<rect "); n != 8 || !strings.Contains(svg, ">dimension 0 at 1:2</text>") || strings.Contains(svg, "a<b") {
		t.Errorf("%d boxes in\n%s", n, svg)
	}
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
		t.Error(err)
	}
}
