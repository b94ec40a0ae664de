package cost

import (
	"slices"
	"strings"
	"testing"

	"autoshard/collectives"
	"autoshard/subaxis"
)

// What a user says of the network is what a mesh is laid over.
func TestOn(t *testing.T) {
	for text, want := range map[string]string{
		"4x4":           "4x4 a=0:1*4 b=1:1*4",
		"16x1":          "16*x1 a=0:4*4 b=0:1*4",
		"4x4:ring,line": "4*x4 a=0:1*4 b=1:1*4",
		"2x2":           "4 of 2x2 a=0:1*4 b=1:1*2,2:1*2",
	} {
		h, err := mustLookup(t, "tpu-v5e").On("8x2:line,line") // another one takes its place
		if err == nil {
			h, err = h.On(text)
		}
		if err != nil {
			t.Fatal(err)
		}
		topology, err := NewTopology(h, mesh(4, 4), Planning())
		if err != nil {
			t.Fatal(err)
		}
		if got := topology.format(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// Devices of smaller nodes send each other more through the network between them.
func TestOnSwitches(t *testing.T) {
	whole := mustLookup(t, "h100")
	halves, err := whole.On("node=4,leaf=2")
	if err != nil {
		t.Fatal(err)
	}
	if got := []int64{halves.Levels[0].Degree, halves.Levels[1].Degree, whole.Levels[0].Degree}; !slices.Equal(got, []int64{4, 2, 8}) {
		t.Errorf("degrees %v", got)
	}
	seconds := func(h Hardware) float64 {
		topology, err := NewTopology(h, mesh(8), Planning())
		if err != nil {
			t.Fatal(err)
		}
		return topology.Collective(collectives.AllToAll, []subaxis.Ref{{Axis: 0, Pre: 1, Size: 8}}, 1<<30).Seconds
	}
	if seconds(halves) <= seconds(whole) {
		t.Errorf("%v s in two nodes, %v s in one", seconds(halves), seconds(whole))
	}
}

func TestOnErrors(t *testing.T) {
	for _, c := range []struct{ hardware, text, want string }{
		{"tpu-v5e", "4xfour", "1:3: the shape of a slice must be sizes"},
		{"tpu-v5e", "32x4", "1:1: a slice 32x4 is no part of a torus 16x16"},
		{"tpu-v5e", "4x4:ring", "1:5: 2 axes, but 1 kind of ring and line"},
		{"tpu-v5e", "4x4:ring,loop", "1:10: an axis must be a `ring` or a `line`, not \"loop\""},
		{"h100", "noda=4", "1:1: hardware \"h100\" has no level \"noda\", did you mean `node`?"},
		{"h100", "node=4,leaf=none", "1:13: level \"leaf\" needs a number of children"},
		{"h100", "4x4", "1:1: hardware \"h100\" has no level \"4x4\""},
	} {
		if _, err := mustLookup(t, c.hardware).On(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
