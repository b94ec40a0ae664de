package propagate

import (
	"testing"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// TestSettledVisitsAllocateNothing visits every op of a propagated chain again: the few allocations are those of a
// whole pass, not of its visits.
func TestSettledVisitsAllocateNothing(t *testing.T) {
	m := ir.NewModule()
	mesh := m.AddMesh("mesh", subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 2}}}, nil, 0)
	f32 := m.TensorType(dtype.F32, 8, 8)
	f := m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{f32}, Results: []ir.TypeID{f32}})
	b := m.BuilderAtEnd(m.Func(f).Body)
	v := m.BlockArgs(m.Func(f).Body)[0]
	m.SetSharding(v, m.InternSharding(ir.Sharding{Mesh: mesh, Dims: []ir.DimSharding{
		{Axes: ir.ShardAxes{m.Mesh(mesh).Full(0)}, Priority: ir.NoPriority}, {Priority: ir.NoPriority}}}))
	const ops = 1000
	for range ops {
		v = b.Op1(ir.OpAdd, f32, nil, v, v)
	}
	b.Op(ir.OpReturn, nil, nil, v)

	e := newEngine(t.Context(), m, Options{})
	e.aggressive = true
	e.fixpoint()
	if id := e.shardings[e.home[v]]; id == 0 || m.ShardingOf(id).IsReplicated() {
		t.Fatal("the sharding did not arrive at the end of the chain")
	}
	if n := testing.AllocsPerRun(10, e.fixpoint); n > 5 {
		t.Errorf("%v allocations in %d settled visits", n, ops)
	}
}
