package propagate_test

import (
	"slices"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/rule"
	"autoshard/propagate"
	"autoshard/subaxis"

	"github.com/google/go-cmp/cmp"
)

// loop has a loop whose body and result are one value to propagation, an inlined mesh, a constraint and a group.
const loop = `
sdy.mesh @mesh = <["a"=2, "b"=4]>
func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x16xf32> {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %c = sdy.sharding_constraint %x <@mesh, [{"a"}, {"b"}]> : tensor<8x16xf32>
  sdy.sharding_group %c group_id=0 : tensor<8x16xf32>
  %0:2 = stablehlo.while(%i = %n, %v = %c) : tensor<i32>, tensor<8x16xf32>
    cond {
    %p = stablehlo.compare LT, %i, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %t = stablehlo.tanh %v : tensor<8x16xf32>
    stablehlo.return %i, %t : tensor<i32>, tensor<8x16xf32>
  }
  return %0#1 : tensor<8x16xf32>
}
`

func parsed(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func printed(m *ir.Module) string { return string(mlir.Print(m, mlir.PrintOptions{})) }

// Import is Normalize and Connect for programs without calls, and Disconnect takes out what Connect inserted.
func TestImportInParts(t *testing.T) {
	whole, parts := parsed(t, loop), parsed(t, loop)
	if err := propagate.Import(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	if err := propagate.Normalize(t.Context(), parts); err != nil {
		t.Fatal(err)
	}
	if err := propagate.Connect(t.Context(), parts); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(printed(whole), printed(parts)); d != "" {
		t.Errorf("Import, and Normalize and Connect: %s", d)
	}
	propagate.Disconnect(parts)
	edges := 0
	parts.Walk(parts.Body(), func(op ir.OpID) {
		if k := parts.Kind(op); k == ir.OpSdyDataFlowEdge || k == ir.OpSdyShardingGroup {
			edges++
		}
	})
	if edges != 0 {
		t.Errorf("Disconnect leaves %d edges and groups", edges)
	}
}

// Spread reaches values behind loops, and leaves nothing behind that connects them.
func TestSpread(t *testing.T) {
	m := parsed(t, loop)
	main := m.MainFunc()
	if err := propagate.Spread(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	out := m.Operand(m.LastOp(main.Body), 0)
	if id := m.Sharding(out); id == 0 || len(m.ShardingOf(id).Dims[0].Axes) != 1 {
		t.Errorf("what the loop returns has no sharding:\n%s", printed(m))
	}
	if len(m.OpsOf(main.Body, ir.OpSdyDataFlowEdge)) > 0 {
		t.Error("edges are left")
	}
}

// Names of strategies are those of Shardy's option, and read back.
func TestStrategyNames(t *testing.T) {
	for s, name := range map[propagate.Strategy]string{propagate.Aggressive: "aggressive", propagate.Basic: "basic",
		propagate.BasicThenAggressive: "basic-then-aggressive"} {
		if back, ok := propagate.ParseStrategy(name); !ok || back != s || s.String() != name {
			t.Errorf("%s is read as %v", name, back)
		}
	}
	if _, ok := propagate.ParseStrategy("gentle"); ok {
		t.Error("unknown strategy accepted")
	}
}

// The relations of a dimension are those with which an op, an edge, a group or the function's results ties it, and hold both ways.
func TestRelations(t *testing.T) {
	m := parsed(t, loop)
	if err := propagate.Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	r, err := propagate.NewRelations(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	related := 0
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		for d := range m.Shape(v) {
			p, ok := r.Place(v, d)
			if !ok {
				continue
			}
			for _, q := range r.Related(p) {
				related++
				if !slices.Contains(r.Related(q), p) {
					t.Errorf("%v is related to %v, but not the other way", p, q)
				}
			}
		}
	}
	if related == 0 {
		t.Error("nothing is related")
	}
}

// Exported keeps the axes that divide a dimension, and of an open one whole axes.
func TestExported(t *testing.T) {
	m := parsed(t, loop)
	mesh := m.ShardingOf(m.Sharding(m.BlockArgs(m.Func(1).Body)[0])).Mesh
	a, b := m.Mesh(mesh).Full(0), m.Mesh(mesh).Full(1)
	half := b
	half.Size = 2
	open := m.InternSharding(ir.Sharding{Mesh: mesh, Dims: []ir.DimSharding{{Axes: ir.ShardAxes{a, half}, Priority: ir.NoPriority}}})
	closed := m.InternSharding(ir.Sharding{Mesh: mesh, Dims: []ir.DimSharding{{Axes: ir.ShardAxes{b}, Closed: true, Priority: ir.NoPriority}}})
	for _, c := range []struct {
		id   ir.ShardingID
		size int64
		want string
	}{
		{open, 8, `<@mesh, [{"a", ?}]>`},
		{closed, 8, `<@mesh, [{"b"}]>`},
		{closed, 6, `<@mesh, [{"b":(1)2}]>`},
		{closed, 7, `<@mesh, [{}]>`},
	} {
		if got := m.FormatSharding(propagate.Exported(m, c.id, []int64{c.size})); got != c.want {
			t.Errorf("%s of a dimension of size %d is exported as %s, want %s", m.FormatSharding(c.id), c.size, got, c.want)
		}
	}
}

// A projection gives back the shardings that it was filled with, axes that fit no factor among them. What Set changes shows in the
// sharding, and Set says whether it changed anything.
func TestProjection(t *testing.T) {
	m := parsed(t, `sdy.mesh @mesh = <["a"=2, "b"=3]>
func.func @main(%x: tensor<12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) -> tensor<2x6xf32> {
  %0 = stablehlo.reshape %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : (tensor<12xf32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}`)
	main, _ := m.Main()
	mesh, _ := m.LookupMesh("mesh")
	op := m.FirstOp(m.Func(main).Body)
	r := rule.Of(m, op, false)
	shardings := []ir.ShardingID{m.Sharding(m.Operand(op, 0)), m.Sharding(m.Result(op, 0))}
	var p propagate.Projection
	p.Project(m, mesh, r, shardings)
	for i, want := range shardings {
		if got := m.InternSharding(p.Sharding(i, mesh)); got != want || p.Tensors() != len(shardings) {
			t.Errorf("%s is given back as %s", m.FormatSharding(want), m.FormatSharding(got))
		}
	}
	major := p.Dims(0)[0][0] // of 2, which three devices do not divide
	a, b := []subaxis.Ref{m.Mesh(mesh).Full(0)}, []subaxis.Ref{m.Mesh(mesh).Full(1)}
	if !p.Maps(0, major) || len(p.Axes(0, major)) > 0 || !slices.Equal(p.Overflow(0, major), b) || !slices.Equal(p.Axes(1, major), a) {
		t.Errorf("the major factor has axes %v and %v, and keeps %v", p.Axes(0, major), p.Axes(1, major), p.Overflow(0, major))
	}
	if first, second := p.Set(0, major, a, nil), p.Set(0, major, a, nil); !first || second {
		t.Errorf("setting the axes twice changes something: %t, %t", first, second)
	}
	if got := m.FormatSharding(m.InternSharding(p.Sharding(0, mesh))); got != `<@mesh, [{"a"}]>` {
		t.Errorf("cut along the other axis, the tensor is %s", got)
	}
}

// A program without the constraints that nothing reads is propagated as the one with them, once they count for what they are on: where two
// disagree, or the value has another sharding, they decide nothing in either.
func TestUnreadConstraints(t *testing.T) {
	const text = `sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %arg1: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {"b"}]> : tensor<8x8xf32>
  %1 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {"b"}]> : tensor<8x8xf32>
  %3 = stablehlo.tanh %1 : tensor<8x8xf32>
  %4 = stablehlo.optimization_barrier %arg1 : tensor<8x8xf32>
  %5 = sdy.sharding_constraint %4 <@mesh, [{"b"}, {"a"}]> : tensor<8x8xf32>
  %6 = stablehlo.negate %4 : tensor<8x8xf32>
  %7 = stablehlo.transpose %3, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %8 = sdy.sharding_constraint %7 <@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  %9 = sdy.sharding_constraint %7 <@mesh, [{"b"}, {}]> : tensor<8x8xf32>
  return %3, %6, %7 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}`
	whole, without := parsed(t, text), parsed(t, text)
	var lines []int
	for _, op := range propagate.ApplyUnreadConstraints(without) {
		lines = append(lines, without.OpPos(op).Line)
	}
	if want := []int{3, 11, 12}; !slices.Equal(lines, want) {
		t.Errorf("lines %v decide nothing, want %v", lines, want)
	}
	ir.EraseDead(without)
	for _, m := range []*ir.Module{whole, without} {
		if err := propagate.Spread(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	for i, id := range whole.MainFunc().ResultShardings {
		other := without.MainFunc().ResultShardings[i]
		if got, want := without.FormatSharding(other), whole.FormatSharding(id); id == 0 || got != want {
			t.Errorf("result %d is %s, want %s", i, got, want)
		}
	}
}

// Of constraints on each other that nothing reads the first counts for the value, and the other one for nothing.
func TestUnreadChain(t *testing.T) {
	m := parsed(t, `sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.tanh %arg0 : tensor<8x8xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  %2 = sdy.sharding_constraint %1 <@mesh, [{"b"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}`)
	idle := propagate.ApplyUnreadConstraints(m)
	if len(idle) != 1 || m.OpPos(idle[0]).Line != 5 {
		t.Errorf("%v decide nothing", idle)
	}
	if got := m.FormatSharding(m.Sharding(m.Result(m.OpsOf(m.Body(), ir.OpTanh)[0], 0))); got != `<@mesh, [{"a"}, {}]>` {
		t.Errorf("the value is kept as %s", got)
	}
}

// Notes for people change nothing else: taken away again, but for the names of constraints, a program is as it is without them.
func TestDebugOnlyNotes(t *testing.T) {
	propagated := func(debug propagate.Debug) *ir.Module {
		m := parsed(t, loop)
		propagate.AddDataFlowEdges(m)
		propagate.ApplyConstraintsWith(m, debug)
		if _, err := propagate.Run(t.Context(), m, propagate.Options{Debug: debug}); err != nil {
			t.Fatal(err)
		}
		propagate.SinkDataFlowEdgesWith(m, debug)
		return m
	}
	plain := parsed(t, loop)
	propagate.AddDataFlowEdges(plain)
	propagate.ApplyConstraints(plain)
	if _, err := propagate.Run(t.Context(), plain, propagate.Options{}); err != nil {
		t.Fatal(err)
	}
	propagate.SinkDataFlowEdges(plain)
	for _, debug := range []propagate.Debug{{}, {Origins: true}, {Edges: true}, {Origins: true, Edges: true}} {
		m := propagated(debug)
		noted := printed(m)
		if strings.Contains(noted, "sharding_origins = ") != debug.Origins || strings.Contains(noted, "propagation_edges = ") != debug.Edges {
			t.Errorf("%+v leaves\n%s", debug, noted)
		}
		propagate.RemoveDebugInfo(m)
		without := strings.ReplaceAll(printed(m), ` {sdy.sharding_origin_name = "constraint_0"}`, "")
		if d := cmp.Diff(printed(plain), without); d != "" {
			t.Errorf("%+v (-without +with):\n%s", debug, d)
		}
	}
}
