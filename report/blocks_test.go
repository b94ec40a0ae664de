package report_test

import (
	"strings"
	"testing"

	"autoshard/blocks"
	"autoshard/report"
	"autoshard/report/chart"
	"autoshard/subaxis"
)

// Text and picture show the same: a box for each block, and in it who holds it.
func TestBlocks(t *testing.T) {
	a, err := blocks.Show(&blocks.Request{Text: "P('x', 'y') : f32[4,4]", Mesh: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}},
		DeviceIDs: []int64{3, 1, 2, 0}})
	if err != nil {
		t.Fatal(err)
	}
	text, svg := report.Blocks(a), string(chart.Blocks(a))
	for _, want := range []string{"│ 0:2             │ 3   │ 1   │", "│ 2:4             │ 2   │ 0   │",
		"device  x  y  holds\n0       1  1  [2:4, 2:4]\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report is\n%s\nand has no\n%s", text, want)
		}
	}
	for id, at := range map[string]string{"3": `x="108" y="110"`, "1": `x="196" y="110"`, "2": `x="108" y="154"`, "0": `x="196" y="154"`} {
		if !strings.Contains(svg, "<text "+at+" text-anchor=\"middle\">"+id+"</text>") {
			t.Errorf("the picture\n%s\nhas no %s at %s", svg, id, at)
		}
	}
}
