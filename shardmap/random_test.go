package shardmap_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/rewrites"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

var testMesh = subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}}

// testMeshes are of eight devices, the last one not in the order of their numbers.
var testMeshes = []subaxis.Mesh{
	testMesh,
	{Axes: []subaxis.Axis{{Name: "x", Size: 8}}},
	{Axes: []subaxis.Axis{{Name: "x", Size: 2}, {Name: "y", Size: 2}, {Name: "z", Size: 2}}},
	{Axes: testMesh.Axes, DeviceIDs: []int64{7, 1, 2, 4, 3, 5, 6, 0}},
}

// flat prices every step alike, so that plans use few of them.
type flat struct{}

func (flat) Price(kind collectives.Kind, _ []subaxis.Ref, _ int64) int64 {
	if kind == collectives.AllSlice {
		return 0
	}
	return 1000
}

// odd makes detours cheap: most ways have several steps.
type odd struct{}

func (odd) Price(kind collectives.Kind, axes []subaxis.Ref, bytes int64) int64 {
	return bytes * int64(len(axes)+int(kind))
}

// Random programs in which every value has a random sharding, which needs not divide it, compute on eight devices what they compute on
// one, and their collectives move the bytes that are predicted.
func TestShardedRunEqualsUnsharded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, meshID := drawAny(t, testMeshes...)
		inputs := programs.Inputs(t, m)
		want := runWhole(t, m, inputs)
		text := mlir.Print(m, mlir.PrintOptions{})
		_, p := lower(t, m, meshID)
		if err := shardmap.LowerAxes(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatalf("the local program is wrong: %v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
		}
		for i, got := range runSharded(t, p, inputs) {
			if !near(got, want[i]) {
				t.Fatalf("output %d is %v, want %v\n%s\n%s", i, got, want[i], text, mlir.Print(m, mlir.PrintOptions{}))
			}
		}
	})
}

// runWhole runs a program on one device.
func runWhole(t *rapid.T, m *ir.Module, inputs []*tensor.Tensor) []*tensor.Tensor {
	in, err := interp.New(m, interp.Options{WholeWindows: true})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	out, err := in.Run(context.Background(), main, inputs)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// lower partitions a module in place, as its shardings say, and lowers it to the program of one device over axes. It also
// returns the partitioned program.
func lower(t *rapid.T, m *ir.Module, mesh ir.MeshID) (*ir.Module, *shardmap.Program) {
	if err := collectives.Settle(t.Context(), m, mesh); err != nil {
		t.Fatal(err)
	}
	assignment, err := collectives.Derive(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	planner := collectives.NewPlanner(rapid.SampledFrom([]collectives.Pricer{flat{}, odd{}}).Draw(t, "prices"), m.Mesh(mesh).Axes)
	reach := rapid.SampledFrom([]int{0, 2, collectives.Anywhere}).Draw(t, "reach")
	without, _ := rewrites.Parse(rapid.SliceOfN(rapid.SampledFrom(rewrites.Names()), 0, 2).Draw(t, "without"))
	how := collectives.Rewriting{Reach: reach, Without: without}
	if _, err := collectives.Partition(t.Context(), m, mesh, assignment, planner, how); err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatalf("the partitioned program is wrong: %v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	partitioned := m.Clone()
	p, err := shardmap.Lower(t.Context(), m, mesh)
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(t.Context(), m); err != nil {
		t.Fatalf("the program over axes is wrong: %v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	return partitioned, p
}

func near(a, b *tensor.Tensor) bool {
	x, y := a.Floats(), b.Floats()
	largest := 0.0
	for i := range y {
		largest = max(largest, math.Abs(y[i]))
	}
	for i := range y {
		if math.Abs(x[i]-y[i]) > 1e-5*largest {
			return false
		}
	}
	return len(x) == len(y)
}

// runSharded cuts inputs, runs the program on all devices, checks what its collectives moved, and returns the outputs
// of the whole, element by element from the device that holds it.
func runSharded(t *rapid.T, p *shardmap.Program, inputs []*tensor.Tensor) []*tensor.Tensor {
	outs := runBlocks(t, p, cutInputs(p, inputs))
	var results []*tensor.Tensor
	for i, port := range p.Outputs {
		whole := tensor.New(outs[0][i].DType, port.Stored())
		for d := range p.Mesh.Devices() {
			block := outs[p.Mesh.DeviceID(d)][i]
			eachElement(&p.Mesh, &port.Layout, port.Stored(), d, func(w, local int) {
				width := whole.DType.Bytes()
				copy(whole.Data[w*width:(w+1)*width], block.Data[local*width:])
			})
		}
		rank := len(port.Dims)
		whole = tensor.Slice(whole, make([]int64, rank), port.Dims, slices.Repeat([]int64{1}, rank))
		results = append(results, &whole)
	}
	return results
}

// cutInputs returns the blocks of each partition.
func cutInputs(p *shardmap.Program, inputs []*tensor.Tensor) [][]*tensor.Tensor {
	args := make([][]*tensor.Tensor, p.Mesh.Devices())
	for d := range p.Mesh.Devices() {
		for i := range inputs {
			in := stored(&p.Inputs[i], inputs[i])
			block := tensor.New(in.DType, p.Inputs[i].Layout.LocalDims(in.Shape))
			eachElement(&p.Mesh, &p.Inputs[i].Layout, in.Shape, d, func(whole, local int) {
				width := in.DType.Bytes()
				copy(block.Data[local*width:(local+1)*width], in.Data[whole*width:])
			})
			args[p.Mesh.DeviceID(d)] = append(args[p.Mesh.DeviceID(d)], &block)
		}
	}
	return args
}

// stored returns an input as it is cut, padded where its port says so.
func stored(port *shardmap.Port, in *tensor.Tensor) tensor.Tensor {
	none, high := make([]int64, len(in.Shape)), slices.Clone(port.Stored())
	for d, n := range in.Shape {
		high[d] -= n
	}
	return tensor.Pad(*in, tensor.New(in.DType, nil), none, high, none)
}

// runBlocks runs the program on all devices, checks what its collectives moved, and returns the blocks of each partition.
func runBlocks(t *rapid.T, p *shardmap.Program, args [][]*tensor.Tensor) [][]*tensor.Tensor {
	machine, err := mesh.New(p.Module, p.Main, len(args), mesh.Options{WholeWindows: true})
	if err != nil {
		t.Fatal(err)
	}
	outs, traffic, err := machine.Run(context.Background(), args)
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	again, _, err := machine.Run(context.Background(), args)
	if err != nil {
		t.Fatal(err)
	}
	for d := range outs {
		for i, out := range outs[d] {
			if !out.Equal(*again[d][i]) {
				t.Fatalf("output %d of device %d is %v first and %v then\n%s", i, d, out, again[d][i], mlir.Print(p.Module, mlir.PrintOptions{}))
			}
		}
	}
	for _, c := range p.Collectives {
		if got := traffic.Bytes(c.Op); got != c.TotalBytes() {
			t.Fatalf("%s moved %d bytes, predicted %d", c.Kind, got, c.TotalBytes())
		}
	}
	if len(traffic.Collectives) > len(p.Collectives) {
		t.Fatalf("%d collectives run, %d are noted", len(traffic.Collectives), len(p.Collectives))
	}
	return outs
}

// eachElement visits the elements of a device's block with their positions in the whole tensor and in the block.
func eachElement(m *subaxis.Mesh, l *collectives.Layout, dims []int64, device int64, visit func(whole, local int)) {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	for whole := range n {
		rest, local, mine := int64(whole), int64(0), true
		stride := int64(1)
		for d := len(dims) - 1; d >= 0; d-- {
			at := rest % dims[d]
			rest /= dims[d]
			size := dims[d] / subaxis.Product(l.Dims[d])
			mine = mine && at/size == m.ShardIndex(device, l.Dims[d])
			local += at % size * stride
			stride *= size
		}
		if mine {
			visit(whole, int(local))
		}
	}
}

// drawProgram returns a function of a few ops over small tensors on one of the meshes, with a random sharding on every value that divides
// it.
func drawProgram(t *rapid.T, meshes ...subaxis.Mesh) (*ir.Module, ir.MeshID) {
	return drawCut(t, []int64{2, 4, 8, 16}, programs.Layout, meshes)
}

// drawAny returns one of which a third has dimensions that few axes divide, cut by any.
func drawAny(t *rapid.T, meshes ...subaxis.Mesh) (*ir.Module, ir.MeshID) {
	if rapid.IntRange(0, 2).Draw(t, "uneven") == 0 {
		return drawCut(t, []int64{2, 3, 4, 5, 6, 7, 12}, programs.Anywhere, meshes)
	}
	return drawProgram(t, meshes...)
}

// drawCut returns one of tensors of those sizes, cut as a function says.
func drawCut(t *rapid.T, sizes []int64, layout func(*rapid.T, []int64, []subaxis.Ref) collectives.Layout,
	meshes []subaxis.Mesh) (*ir.Module, ir.MeshID) {
	m := programs.Draw(t, programs.Spec{Inputs: 3, Ops: 6, Rank: 3, Sizes: sizes, Indices: true, Windows: true, Loops: true, Identities: true})
	on := rapid.SampledFrom(meshes).Draw(t, "mesh")
	mesh := m.AddMesh("mesh", on, nil, 0)
	main := m.MainFunc()
	var halves []subaxis.Ref
	for _, r := range on.All() {
		for pre := int32(1); pre < r.Size; pre *= 2 {
			halves = append(halves, subaxis.Ref{Axis: r.Axis, Pre: pre, Size: 2})
		}
	}
	sharding := func(v ir.ValueID) ir.ShardingID {
		l := layout(t, m.Shape(v), halves)
		return m.InternSharding(l.Sharding(mesh))
	}
	for i, v := range m.Operands(m.LastOp(main.Body)) {
		main.ResultShardings[i] = sharding(v)
	}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if op := m.DefiningOp(v); op != 0 && m.OpBlock(op) != main.Body || m.ArgBlock(v) != 0 && m.ArgBlock(v) != main.Body {
			continue
		}
		m.SetSharding(v, sharding(v))
	}
	return m, mesh
}
