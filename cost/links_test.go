package cost_test

import (
	"slices"
	"testing"

	"autoshard/cost"
)

// Axes of a mesh that lie on different axes of a torus use different links, and so do devices of one node and those of several.
func TestLinks(t *testing.T) {
	torus := on("tpu-v5e", "X4 Y8", cost.Planning())
	if x, y := torus.Links(torus.axes("X")), torus.Links(torus.axes("Y")); len(x) != 1 || len(y) != 1 || x[0] == y[0] {
		t.Errorf("links %v and %v", x, y)
	}
	if both := torus.Links(torus.axes("XY")); len(both) != 2 {
		t.Errorf("links %v", both)
	}
	nodes := on("h100", "X4 Y8", cost.Planning())
	if x, y := nodes.Links(nodes.axes("X")), nodes.Links(nodes.axes("Y")); !slices.Equal(x, []int{1}) || !slices.Equal(y, []int{0}) {
		t.Errorf("links %v and %v", x, y)
	}
	if names := nodes.LinkNames(); !slices.Equal(names, []string{"level node", "level leaf", "level spine"}) {
		t.Errorf("names %v", names)
	}
	if names := on("tpu-v5e", "X32 Y16", cost.Planning()).LinkNames(); names[0] != "between slices" || len(names) != 3 {
		t.Errorf("names %v", names)
	}
}
