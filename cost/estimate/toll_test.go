package estimate_test

import (
	"testing"

	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/subaxis"
)

// A toll is paid on top of the price of what it is for, by the bytes that all devices together send, and on nothing else.
func TestTolled(t *testing.T) {
	axes := []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}
	mesh := subaxis.Mesh{Axes: axes}
	plain, err := estimate.New(cost.Hardware{}.OrDefault(), subaxis.Mesh{Axes: axes})
	if err != nil {
		t.Fatal(err)
	}
	tolled := plain.Tolled(func(kind collectives.Kind, along []subaxis.Ref, bytes int64) int64 {
		if kind != collectives.AllGather || along[0].Axis != 0 {
			return 0
		}
		return 3 * bytes
	})
	const block = 1 << 10
	for _, c := range []struct {
		kind collectives.Kind
		axis int
		toll int64
	}{
		{collectives.AllGather, 0, 3 * 2 * 4 * 3 * block}, // two groups of four, each of which sends three blocks on
		{collectives.AllGather, 1, 0},
		{collectives.AllReduce, 0, 0},
		{collectives.AllSlice, 0, 0},
	} {
		along := []subaxis.Ref{mesh.Full(c.axis)}
		if got := tolled.Price(c.kind, along, block) - plain.Price(c.kind, along, block); got != c.toll {
			t.Errorf("%s along axis %d pays %d, want %d", c.kind, c.axis, got, c.toll)
		}
	}
}
