package plan

import (
	"math"
	"slices"
	"testing"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// From inputs in blocks along all axes the descent comes to a faster program that fits, and leaves what the user wrote.
func TestArrangement(t *testing.T) {
	p, s := planning(t, "examples/mlp_train.mlir", "2,4", "tpu-v5p")
	p.Memory = 30e3
	if err := p.steer([]Pin{{Value: "arg6", Sharding: "P('b', 'a')"}}, nil); err != nil {
		t.Fatal(err)
	}
	a := &arrangement{choice: &choice{planner: p, ctx: t.Context(), late: t.Context(), space: s}, ctx: t.Context(), until: math.MaxInt64}
	blocks := lists.Map(a.args(), func(v ir.ValueID) collectives.Layout { return a.along(v, 0, a.axes()) })
	if fits, err := a.change(blocks); !fits || err != nil {
		t.Fatalf("blocks do not fit: %v", err)
	}
	before := a.program.step.Total()
	if err := a.descend(); err != nil {
		t.Fatal(err)
	}
	if step := &a.program.step; step.Total() >= before || step.Peak > p.Memory {
		t.Errorf("%d ps with %d bytes after %d ps", step.Total(), step.Peak, before)
	}
	if written := a.args()[6]; a.program.annotated.Sharding(written) != a.module.Sharding(written) {
		t.Errorf("arg6 is not as the user wrote it")
	}
}

// An axis moves to the dimensions that it divides, in the order of the mesh, and away.
func TestMoved(t *testing.T) {
	x, y := subaxis.Ref{Axis: 0, Pre: 1, Size: 2}, subaxis.Ref{Axis: 1, Pre: 1, Size: 4}
	from := collectives.Layout{Dims: [][]subaxis.Ref{{y}, {}}}
	for _, c := range []struct {
		axis subaxis.Ref
		dim  int
		want [][]subaxis.Ref // nil if it cannot be
	}{
		{x, 0, [][]subaxis.Ref{{x, y}, {}}},
		{x, 1, [][]subaxis.Ref{{y}, {x}}},
		{x, -1, nil},
		{y, -1, [][]subaxis.Ref{{}, {}}},
		{y, 0, nil},
		{y, 1, nil}, // 4 devices do not divide 6
	} {
		l, ok := moved(&from, c.axis, c.dim, []int64{16, 6})
		if ok != (c.want != nil) || ok && !slices.EqualFunc(l.Dims, c.want, slices.Equal) {
			t.Errorf("%v to %d: %v, %v", c.axis, c.dim, l.Dims, ok)
		}
	}
}
