package shardmap_test

import (
	"slices"
	"testing"

	"autoshard/backend/run"
	"autoshard/collectives"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/padding"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Groups that are named by axes and groups that list devices are the same, where the mesh has its devices in order: every device
// computes the same, bit for bit.
func TestNamedGroupsAreThoseListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, mesh := drawProgram(t, testMeshes[:3]...)
		inputs := programs.Inputs(t, m)
		_, named := lower(t, m, mesh)
		listed := named.Clone()
		shardmap.NameAxes(named, mesh, func(axes []subaxis.Ref) []subaxis.Ref { return axes })
		if err := shardmap.LowerAxes(t.Context(), listed); err != nil {
			t.Fatal(err)
		}
		var outs []*run.Result
		for _, p := range []*shardmap.Program{named, listed} {
			if err := ir.Verify(t.Context(), p.Module); err != nil {
				t.Fatalf("%v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
			}
			out, err := run.Program(t.Context(), p, inputs, run.Options{})
			if err != nil {
				t.Fatalf("%v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
			}
			outs = append(outs, out)
		}
		for d, block := range outs[0].Blocks {
			if !block[0].Equal(*outs[1].Blocks[d][0]) {
				t.Fatalf("device %d has %v by names and %v by lists\n%s", d, block[0], outs[1].Blocks[d][0],
					mlir.Print(named.Module, mlir.PrintOptions{}))
			}
		}
	})
}

// The image of a value, where it still has an op, has the shape of one block of the value, or of what it is stored as.
func TestImagesAreBlocks(t *testing.T) {
	images := 0
	rapid.Check(t, func(t *rapid.T) {
		program, mesh := drawProgram(t, testMeshes...)
		partitioned, p := lower(t, program, mesh)
		if err := shardmap.LowerAxes(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		m := p.Module
		for v := ir.ValueID(1); int(v) < partitioned.NumValues(); v++ {
			image := p.Image(v)
			if gone := m.ArgBlock(image) == 0 && m.OpBlock(m.DefiningOp(image)) == 0; gone || partitioned.Sharding(v) == 0 {
				continue
			}
			images++
			l := collectives.LayoutOf(partitioned.ShardingOf(partitioned.Sharding(v)))
			if want := l.LocalDims(partitioned.Shape(storedAs(partitioned, v))); !slices.Equal(m.Shape(image), want) {
				t.Fatalf("the image of value %d has shape %v, its blocks have %v\n%s\n%s", v, m.Shape(image), want,
					mlir.Print(partitioned, mlir.PrintOptions{}), mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
	if images == 0 {
		t.Error("no value has an image")
	}
}

// storedAs returns the value that blocks of an argument or a result are cut from: itself, unless it is stored padded.
func storedAs(m *ir.Module, v ir.ValueID) ir.ValueID {
	if op := m.DefiningOp(v); padding.AtBoundary(m, op) && m.Kind(op) == ir.OpSlice {
		return m.Operand(op, 0)
	}
	for use := range m.Uses(v) {
		if padding.AtBoundary(m, use.Op) && m.Kind(use.Op) == ir.OpPad {
			return m.Result(use.Op, 0)
		}
	}
	return v
}

// A value that was moved is where the last move has put it, and a copy of the program goes its own way.
func TestImageFollowsMoves(t *testing.T) {
	p := &shardmap.Program{Module: ir.NewModule()}
	p.Move(3, 5)
	p.Move(5, 5)
	p.Move(5, 9)
	other := p.Clone()
	other.Move(9, 11)
	for v, want := range map[ir.ValueID][2]ir.ValueID{3: {9, 11}, 5: {9, 11}, 9: {9, 11}, 4: {4, 4}} {
		if got := [2]ir.ValueID{p.Image(v), other.Image(v)}; got != want {
			t.Errorf("value %d is %d here and %d in the copy, want %d", v, got[0], got[1], want)
		}
	}
}

// What Perm writes PermOf reads, and the axes of an op keep their order; other ops have neither.
func TestPermAndAxesRoundTrip(t *testing.T) {
	x, y, half := subaxis.Ref{Axis: 0, Pre: 1, Size: 4}, subaxis.Ref{Axis: 1, Pre: 1, Size: 2}, subaxis.Ref{Axis: 0, Pre: 2, Size: 2}
	member := rapid.Int64Range(0, 7)
	pair := rapid.Custom(func(t *rapid.T) [2]int64 { return [2]int64{member.Draw(t, "source"), member.Draw(t, "target")} })
	rapid.Check(t, func(t *rapid.T) {
		perm := rapid.SliceOfN(pair, 1, 8).Draw(t, "pairs")
		axes := rapid.SampledFrom([][]subaxis.Ref{{x}, {y}, {x, y}, {y, x}, {half}, {y, half}}).Draw(t, "axes")
		m := ir.NewModule()
		mesh := m.AddMesh("mesh", testMesh, nil, 0)
		block := m.TensorType(dtype.F32, 2)
		body := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{block}, Results: []ir.TypeID{block}})).Body
		b := m.BuilderAtEnd(body)
		sent := b.Op1(ir.OpShardMapPpermute, block, ir.MakeAttrs(
			ir.NamedAttr{Name: "axes", Value: &ir.AxesAttr{Mesh: mesh, Axes: axes}}, ir.NamedAttr{Name: "perm", Value: shardmap.Perm(perm)}),
			m.BlockArgs(body)[0])
		b.Op(ir.OpReturn, nil, nil, sent)
		op, last := m.FirstOp(body), m.LastOp(body)
		if !slices.Equal(shardmap.PermOf(m, op), perm) || !slices.Equal(shardmap.AxesOf(m, op), axes) {
			t.Fatalf("%v along %v became %v along %v", perm, axes, shardmap.PermOf(m, op), shardmap.AxesOf(m, op))
		}
		if shardmap.AxesOf(m, last) != nil || len(shardmap.PermOf(m, last)) > 0 {
			t.Fatal("a return has axes")
		}
	})
}

// Lists of integers come back from the attribute that holds them; an attribute that is no list has none.
func TestListsOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SliceOf(rapid.SliceOf(rapid.Int64())).Draw(t, "lists")
		if got := shardmap.ListsOf(shardmap.Lists(lists)); !slices.EqualFunc(got, lists, slices.Equal) {
			t.Errorf("%v came back as %v", lists, got)
		}
	})
	if got := shardmap.ListsOf(ir.StringAttr("i")); got != nil {
		t.Errorf("a name holds %v", got)
	}
}

// The number of a device along axes is computed once, at the start of the function.
func TestPlacesAreComputedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, mesh := drawProgram(t, testMeshes...)
		_, p := lower(t, m, mesh)
		places := shardmap.NewPlaces(p)
		var ops []ir.OpID
		for _, axis := range append(p.Mesh.All(), p.Mesh.All()...) {
			ops = append(ops, p.Module.DefiningOp(places.Along(&ir.AxesAttr{Mesh: mesh, Axes: []subaxis.Ref{axis}})))
		}
		n := len(p.Mesh.Axes)
		if first := slices.Collect(p.Module.Ops(p.Module.Func(p.Main).Body))[:n]; !slices.Equal(ops[:n], first) || !slices.Equal(ops[n:], first) {
			t.Errorf("the numbers along %d axes are made by ops %v, the function begins with %v", n, ops, first)
		}
	})
}
