package report_test

import (
	"strings"
	"testing"

	"autoshard/cost"
	"autoshard/report"
	"autoshard/resharding"
	"autoshard/subaxis"
)

// Two dimensions that are cut are a grid of devices, more or fewer a list of blocks; summands stand with plus signs.
func TestResharding(t *testing.T) {
	hardware, err := cost.Lookup("cpu")
	if err != nil {
		t.Fatal(err)
	}
	mesh := []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}, {Name: "z", Size: 2}}
	a, err := resharding.Find(t.Context(), &resharding.Request{Mesh: mesh, Tensor: "f32[4,4,4]",
		From: "P('x', 'y', unreduced={'z'})", To: "P('x', 'y', 'z')", Hardware: hardware})
	if err != nil {
		t.Fatal(err)
	}
	text := report.Resharding(a)
	for _, want := range []string{`before
dimension 0 \ 1  0:2  2:4
0:2              0+1  2+3
2:4              4+5  6+7
`, `after
dimension 0  dimension 1  dimension 2  devices
0:2          0:2          0:2          0
0:2          0:2          2:4          1
`, "reduce_scatter  z     2          P('x', 'y', 'z')"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report is\n%s\nand has no\n%s", text, want)
		}
	}
}
