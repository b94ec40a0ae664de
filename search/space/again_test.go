package space_test

import (
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/search/space"
	"autoshard/subaxis"
)

// A space made again has none of the pins and suggestions of the first, and the same strategies and prices. A suggestion that a pin
// contradicts is followed by the nodes that the pin leaves alone.
func TestAgain(t *testing.T) {
	m, mesh, model := load(t, "../../examples/mlp_train.mlir", subaxis.Axis{Name: "x", Size: 4})
	first := space.New(m, mesh, model)
	p, err := first.Build(t.Context(), 0, &space.Effort{})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]int32, p.NumNodes())
	for i := range x {
		x[i] = int32(p.NumStrategies(i) - 1)
	}
	settled := m.Clone()
	assignment := first.Apply(settled, x)
	args := m.BlockArgs(m.MainFunc().Body)
	whole := parse(t, m, `[{}, {}]`)
	v := args[slices.IndexFunc(args, func(v ir.ValueID) bool {
		return len(m.Shape(v)) == 2 && settled.FormatSharding(settled.Sharding(v)) != m.FormatSharding(whole)
	})]
	first.Pin(v, whole)

	again := first.Again()
	q, err := again.Build(t.Context(), 0, &space.Effort{})
	if err != nil || !slices.Equal(p.Cost, q.Cost) || !slices.Equal(p.MatVal, q.MatVal) {
		t.Errorf("the problem is another one: %v", err)
	}
	pinned := first.Again()
	pinned.Pin(v, whole)
	pinned.Suggest(settled, assignment)
	if q, err = pinned.Build(t.Context(), 0, &space.Effort{}); err != nil {
		t.Fatal(err)
	}
	nearest, apart := pinned.Nearest(q)
	if _, _, err := q.Evaluate(nearest); err != nil || len(apart) != 1 {
		t.Errorf("%v: %d nodes differ", err, len(apart))
	}
	for i, s := range pinned.WarmStarts() {
		t.Errorf("warm start %d, %v, contradicts the pin", i, s)
	}
	followed := m.Clone()
	pinned.Apply(followed, nearest)
	for _, w := range args {
		if got, want := followed.FormatSharding(followed.Sharding(w)), settled.FormatSharding(settled.Sharding(w)); w != v && got != want {
			t.Errorf("an input is %s, suggested %s", got, want)
		}
	}
}
