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
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

var testMesh = subaxis.Mesh{Axes: []subaxis.Axis{{Name: "x", Size: 4}, {Name: "y", Size: 2}}}

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

// Random programs in which every value has a random sharding compute on eight devices what they compute on one, and
// their collectives move the bytes that are predicted.
func TestShardedRunEqualsUnsharded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, meshID := drawProgram(t)
		main, _ := m.Main()
		inputs := drawInputs(t, m)
		in, err := interp.New(m, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := in.Run(context.Background(), main, inputs)
		if err != nil {
			t.Fatal(err)
		}
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
	if err := collectives.Partition(t.Context(), m, mesh, assignment, planner, reach); err != nil {
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
	devices := p.Mesh.Devices()
	args := make([][]*tensor.Tensor, devices)
	for d := range devices {
		for i, in := range inputs {
			block := tensor.New(in.DType, p.Inputs[i].Layout.LocalDims(in.Shape))
			eachElement(&p.Mesh, &p.Inputs[i].Layout, in.Shape, d, func(whole, local int) {
				width := in.DType.Bytes()
				copy(block.Data[local*width:(local+1)*width], in.Data[whole*width:])
			})
			args[d] = append(args[d], &block)
		}
	}
	outs, traffic, err := mesh.Run(context.Background(), p.Module, p.Main, int(devices), args, mesh.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	for _, c := range p.Collectives {
		if got := traffic.Bytes(c.Op); got != c.TotalBytes() {
			t.Fatalf("%s moved %d bytes, predicted %d", c.Kind, got, c.TotalBytes())
		}
	}
	var results []*tensor.Tensor
	for i, port := range p.Outputs {
		whole := tensor.New(outs[0][i].DType, port.Dims)
		for d := range devices {
			block := outs[d][i]
			eachElement(&p.Mesh, &port.Layout, port.Dims, d, func(w, local int) {
				width := whole.DType.Bytes()
				copy(whole.Data[w*width:(w+1)*width], block.Data[local*width:])
			})
		}
		results = append(results, &whole)
	}
	return results
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

func drawInputs(t *rapid.T, m *ir.Module) (inputs []*tensor.Tensor) {
	main, _ := m.Main()
	for _, arg := range m.BlockArgs(m.Func(main).Body) {
		inputs = append(inputs, drawTensor(t, m.ValueType(arg)))
	}
	return inputs
}

func drawTensor(t *rapid.T, typ *ir.Type) *tensor.Tensor {
	n := int(typ.Elements())
	if typ.DType == dtype.I32 {
		values := rapid.SliceOfN(rapid.Int64Range(-2, 18), n, n).Draw(t, "indices")
		out := tensor.FromInts(typ.DType, typ.Dims, values...)
		return &out
	}
	values := make([]float64, n)
	for i, v := range rapid.SliceOfN(rapid.IntRange(-3, 3), n, n).Draw(t, "values") {
		values[i] = float64(v)
	}
	out := tensor.FromFloats(typ.DType, typ.Dims, values...)
	return &out
}

// drawProgram returns a function of a few ops over small tensors, with a random sharding on every value.
func drawProgram(t *rapid.T) (*ir.Module, ir.MeshID) {
	m := ir.NewModule()
	meshID := m.AddMesh("mesh", testMesh, nil, 0)
	size := rapid.SampledFrom([]int64{2, 4, 8, 16})
	var args []ir.TypeID
	for range rapid.IntRange(1, 3).Draw(t, "inputs") {
		dims := rapid.SliceOfN(size, 1, 3).Draw(t, "shape")
		args = append(args, m.TensorType(dtype.F32, dims...))
	}
	args = append(args, m.TensorType(dtype.I32, size.Draw(t, "rows"), 1))
	main := m.AddFunc(ir.FuncSpec{Name: "main", Args: args})
	body := m.Func(main).Body
	g := &generator{t: t, m: m, b: m.BuilderAtEnd(body), values: slices.Clone(m.BlockArgs(body)[:len(args)-1]),
		indices: m.BlockArgs(body)[len(args)-1]}
	for range rapid.IntRange(1, 6).Draw(t, "ops") {
		g.op()
	}
	out := g.values[len(g.values)-1]
	g.b.Op(ir.OpReturn, nil, nil, out)
	f := m.Func(main)
	f.ResultTypes, f.ResultAttrs = []ir.TypeID{m.Type(out)}, make([]ir.Attrs, 1)
	f.ResultShardings = []ir.ShardingID{g.sharding(out, meshID)}
	for v := ir.ValueID(1); int(v) < m.NumValues(); v++ {
		if op := m.DefiningOp(v); op != 0 && m.OpBlock(op) != body || m.ArgBlock(v) != 0 && m.ArgBlock(v) != body {
			continue
		}
		m.SetSharding(v, g.sharding(v, meshID))
	}
	return m, meshID
}

type generator struct {
	t       *rapid.T
	m       *ir.Module
	b       *ir.Builder
	values  []ir.ValueID
	indices ir.ValueID
}

// sharding puts axes and halves of x on random dimensions that they divide.
func (g *generator) sharding(v ir.ValueID, meshID ir.MeshID) ir.ShardingID {
	dims := g.m.Shape(v)
	l := collectives.Layout{Dims: make([][]subaxis.Ref, len(dims))}
	pool := []subaxis.Ref{{Axis: 0, Pre: 1, Size: 2}, {Axis: 0, Pre: 2, Size: 2}, {Axis: 1, Pre: 1, Size: 2}}
	for _, r := range rapid.Permutation(pool).Draw(g.t, "axes") {
		d := rapid.IntRange(-1, len(dims)-1).Draw(g.t, "dimension")
		if d < 0 {
			continue
		}
		if axes := subaxis.AppendMerge(slices.Clone(l.Dims[d]), r); dims[d]%subaxis.Product(axes) == 0 {
			l.Dims[d] = axes
		}
	}
	return g.m.InternSharding(l.Sharding(meshID))
}

func (g *generator) pick() ir.ValueID { return rapid.SampledFrom(g.values).Draw(g.t, "value") }

func (g *generator) add(v ir.ValueID) { g.values = append(g.values, v) }

func (g *generator) constant(value float64) ir.ValueID {
	x := tensor.FromFloats(dtype.F32, nil, value)
	t := g.m.TensorType(dtype.F32)
	return g.b.Op1(ir.OpConstant, t, attrs("value", &ir.Dense{Type: t, Data: x.Data, Splat: true}))
}

func attrs(pairs ...any) ir.Attrs {
	var out []ir.NamedAttr
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, ir.NamedAttr{Name: pairs[i].(string), Value: pairs[i+1].(ir.Attr)})
	}
	return ir.MakeAttrs(out...)
}

func (g *generator) op() {
	v := g.pick()
	dims := g.m.Shape(v)
	switch rapid.IntRange(0, 11).Draw(g.t, "op") {
	case 0:
		g.add(g.b.Op1(ir.OpNegate, g.m.Type(v), nil, v))
	case 1:
		g.add(g.b.Op1(ir.OpAdd, g.m.Type(v), nil, v, v))
	case 2:
		g.transpose(v, dims)
	case 3:
		g.reshape(v, dims)
	case 4:
		g.reduce(v, dims)
	case 5:
		g.dot(v, dims)
	case 6:
		g.gather(v, dims)
	case 7:
		g.scatter(v, dims)
	case 8:
		g.iota(v, dims)
	case 9:
		g.slice(v, dims)
	case 10:
		g.pad(v, dims)
	case 11:
		g.concatenate(v, dims)
	}
}

func (g *generator) transpose(v ir.ValueID, dims []int64) {
	perm := make([]int64, len(dims))
	for i := range perm {
		perm[i] = int64(i)
	}
	perm = rapid.Permutation(perm).Draw(g.t, "permutation")
	out := make([]int64, len(dims))
	for i, d := range perm {
		out[i] = dims[d]
	}
	g.add(g.b.Op1(ir.OpTranspose, g.m.TensorType(dtype.F32, out...), attrs("permutation", ir.Ints(perm)), v))
}

func (g *generator) reshape(v ir.ValueID, dims []int64) {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	var out []int64
	for n > 1 {
		d := rapid.SampledFrom([]int64{2, 4, 8, 16}).Draw(g.t, "split")
		if n%d != 0 {
			d = n
		}
		out = append(out, d)
		n /= d
	}
	if len(out) > 4 {
		return
	}
	g.add(g.b.Op1(ir.OpReshape, g.m.TensorType(dtype.F32, out...), nil, v))
}

func (g *generator) reduce(v ir.ValueID, dims []int64) {
	if len(dims) == 0 {
		return
	}
	d := rapid.IntRange(0, len(dims)-1).Draw(g.t, "reduced")
	kind, init := ir.OpAdd, 0.0
	if rapid.Bool().Draw(g.t, "maximum") {
		kind, init = ir.OpMaximum, -2
	}
	t := g.m.TensorType(dtype.F32, slices.Delete(slices.Clone(dims), d, d+1)...)
	op := g.b.OpRegions(ir.OpReduce, []ir.TypeID{t}, attrs("dimensions", ir.Ints{int64(d)}), 1, v, g.constant(init))
	g.combiner(op, kind)
	g.add(g.m.Result(op, 0))
}

func (g *generator) combiner(op ir.OpID, kind ir.Kind) {
	body := g.m.AddBlock(g.m.Regions(op)[0])
	t := g.m.TensorType(dtype.F32)
	a, b := g.m.AddBlockArg(body, t), g.m.AddBlockArg(body, t)
	inner := g.m.BuilderAtEnd(body)
	inner.Op(ir.OpStablehloReturn, nil, nil, inner.Op1(kind, t, nil, a, b))
}

// dot contracts the last dimension of a value with the last of another of the same size, over the first as batch
// where both have it.
func (g *generator) dot(v ir.ValueID, dims []int64) {
	w := g.pick()
	other := g.m.Shape(w)
	if len(dims) == 0 || len(other) == 0 || dims[len(dims)-1] != other[len(other)-1] {
		return
	}
	d := &ir.DotDims{LhsContract: []int64{int64(len(dims) - 1)}, RhsContract: []int64{int64(len(other) - 1)}}
	left, right := dims[:len(dims)-1], other[:len(other)-1]
	if len(left) > 0 && len(right) > 0 && left[0] == right[0] {
		d.LhsBatch, d.RhsBatch = []int64{0}, []int64{0}
		right = right[1:]
	}
	out := append(slices.Clone(left), right...)
	if len(out) > 4 {
		return
	}
	g.add(g.b.Op1(ir.OpDotGeneral, g.m.TensorType(dtype.F32, out...), attrs("dot_dimension_numbers", d), v, w))
}

// gather takes rows of a matrix, as an embedding does; indices run beyond both ends.
func (g *generator) gather(v ir.ValueID, dims []int64) {
	if len(dims) != 2 {
		return
	}
	rows := g.m.Shape(g.indices)[0]
	d := &ir.GatherDims{Offset: []int64{1}, Collapsed: []int64{0}, StartIndexMap: []int64{0}, IndexVectorDim: 1}
	g.add(g.b.Op1(ir.OpGather, g.m.TensorType(dtype.F32, rows, dims[1]), attrs("dimension_numbers", d,
		"slice_sizes", ir.Ints{1, dims[1]}, "indices_are_sorted", ir.BoolAttr(false)), v, g.indices))
}

// scatter adds rows to a matrix, as an embedding's gradient does.
func (g *generator) scatter(v ir.ValueID, dims []int64) {
	if len(dims) != 2 {
		return
	}
	rows := g.m.Shape(g.indices)[0]
	zero := g.constant(1)
	t := g.m.TensorType(dtype.F32, rows, dims[1])
	updates := g.b.Op1(ir.OpBroadcastInDim, t, attrs("broadcast_dimensions", ir.Ints{}), zero)
	d := &ir.ScatterDims{UpdateWindow: []int64{1}, InsertedWindow: []int64{0}, ToOperand: []int64{0}, IndexVectorDim: 1}
	op := g.b.OpRegions(ir.OpScatter, []ir.TypeID{g.m.Type(v)}, attrs("scatter_dimension_numbers", d,
		"indices_are_sorted", ir.BoolAttr(false), "unique_indices", ir.BoolAttr(false)), 1, v, g.indices, updates)
	g.combiner(op, ir.OpAdd)
	g.add(g.m.Result(op, 0))
}

func (g *generator) iota(v ir.ValueID, dims []int64) {
	if len(dims) == 0 {
		return
	}
	d := rapid.IntRange(0, len(dims)-1).Draw(g.t, "counted")
	count := g.b.Op1(ir.OpIota, g.m.Type(v), attrs("iota_dimension", i64(g.m, int64(d))))
	g.add(g.b.Op1(ir.OpMultiply, g.m.Type(v), nil, v, count))
}

func i64(m *ir.Module, v int64) ir.IntAttr {
	return ir.IntAttr{Value: v, Type: m.ScalarType(dtype.I64)}
}

// slice drops the ends of one dimension and keeps the others whole.
func (g *generator) slice(v ir.ValueID, dims []int64) {
	if len(dims) == 0 {
		return
	}
	d := rapid.IntRange(0, len(dims)-1).Draw(g.t, "sliced")
	if dims[d] < 4 {
		return
	}
	start, limit, stride := make([]int64, len(dims)), slices.Clone(dims), make([]int64, len(dims))
	for i := range stride {
		stride[i] = 1
	}
	start[d], limit[d] = 1, dims[d]-1
	out := slices.Clone(dims)
	out[d] -= 2
	g.add(g.b.Op1(ir.OpSlice, g.m.TensorType(dtype.F32, out...), attrs("start_indices", ir.Ints(start),
		"limit_indices", ir.Ints(limit), "strides", ir.Ints(stride)), v))
}

// pad shifts one dimension by one place and keeps its size.
func (g *generator) pad(v ir.ValueID, dims []int64) {
	if len(dims) == 0 {
		return
	}
	d := rapid.IntRange(0, len(dims)-1).Draw(g.t, "padded")
	low, high, none := make([]int64, len(dims)), make([]int64, len(dims)), make([]int64, len(dims))
	low[d], high[d] = -1, 1
	g.add(g.b.Op1(ir.OpPad, g.m.Type(v), attrs("edge_padding_low", ir.Ints(low), "edge_padding_high", ir.Ints(high),
		"interior_padding", ir.Ints(none)), v, g.constant(2)))
}

func (g *generator) concatenate(v ir.ValueID, dims []int64) {
	if len(dims) == 0 || dims[0] > 16 {
		return
	}
	d := rapid.IntRange(0, len(dims)-1).Draw(g.t, "joined")
	out := slices.Clone(dims)
	out[d] *= 2
	g.add(g.b.Op1(ir.OpConcatenate, g.m.TensorType(dtype.F32, out...), attrs("dimension", i64(g.m, int64(d))), v, v))
}
