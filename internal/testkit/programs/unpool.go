package programs

import (
	"math"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Unpool draws a module with a function of one select_and_scatter, the gradient of a pooling, and adds the mesh. The axes cut its operand,
// its source and its result. Windows may reach over the ends, also by several elements, or leave out elements there.
func Unpool(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	m, e := n.m, rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.I8}).Draw(t, "element")
	windows := n.each(n.size)
	size := n.each(func(int) int64 { return n.between(1, 5, "window") })
	stride := n.each(func(int) int64 { return n.between(1, 4, "stride") })
	var padding []int64
	whole := n.each(func(d int) int64 {
		low, covered := n.between(-2, size[d]-1, "low"), (windows[d]-1)*stride[d]+size[d]+n.between(0, stride[d]-1, "rest")
		rows := n.rounded(d, max(1, covered-low-n.between(-1, size[d], "high")))
		padding = append(padding, low, covered-low-rows)
		return rows
	})
	operand, source, init := m.TensorType(e, whole...), m.TensorType(e, windows...), m.TensorType(e)
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{operand, source, init}, Results: []ir.TypeID{operand}}))
	b := m.BuilderAtEnd(f.Body)
	op := b.OpRegions(ir.OpSelectAndScatter, []ir.TypeID{operand}, attrs("window_dimensions", ir.Ints(size), "window_strides", ir.Ints(stride),
		"padding", m.DenseInts(padding, int64(len(cuts)), 2)), 2, m.BlockArgs(f.Body)...)
	choosing(m, op, e, rapid.SampledFrom([]string{"GE", "GT", "LE", "LT"}).Draw(t, "selected by"))
	m.AddReducer(op, rapid.SampledFrom([]ir.Kind{ir.OpAdd, ir.OpMaximum}).Draw(t, "scattered by"), e)
	b.Op(ir.OpReturn, nil, nil, m.Result(op, 0))
	mesh := m.AddMesh("mesh", over, nil, 0)
	for i, v := range append(m.BlockArgs(f.Body), m.Result(op, 0)) {
		if i != 2 {
			n.place(mesh, v, cuts)
		} else {
			n.place(mesh, v, nil)
		}
	}
	f.ResultShardings[0] = m.Sharding(m.Result(op, 0))
	return m, mesh
}

// choosing gives an op its first region, which compares two elements.
func choosing(m *ir.Module, op ir.OpID, e dtype.Type, direction string) {
	body, t := m.AddBlock(m.Regions(op)[0]), m.TensorType(e)
	x, y, in := m.AddBlockArg(body, t), m.AddBlockArg(body, t), m.BuilderAtEnd(body)
	in.Op(ir.OpStablehloReturn, nil, nil, in.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.CompareAttrs(direction, e), x, y))
}

// unpool adds up maxima of windows of a few neighbours along one dimension, which may reach over its ends, each at one element of its
// window. Which one that is depends on no rounding: it is that where i(5-i) is greatest, for the i-th element.
func (g *generator) unpool(v ir.ValueID, dims []int64) {
	d, ok := g.dim(dims)
	if !ok || dims[d] < 4 {
		return
	}
	size, stride, out := slices.Repeat([]int64{1}, len(dims)), slices.Repeat([]int64{1}, len(dims)), slices.Clone(dims)
	size[d], stride[d] = rapid.Int64Range(1, 3).Draw(g.t, "window"), rapid.Int64Range(1, 3).Draw(g.t, "stride")
	padding := make([]int64, 2*len(dims))
	padding[2*d], padding[2*d+1] = rapid.Int64Range(0, size[d]-1).Draw(g.t, "low"), rapid.Int64Range(0, size[d]-1).Draw(g.t, "high")
	out[d] = (padding[2*d]+dims[d]+padding[2*d+1]-size[d])/stride[d] + 1
	window := attrs("window_dimensions", ir.Ints(size), "window_strides", ir.Ints(stride),
		"padding", g.m.DenseInts(padding, int64(len(dims)), 2))
	source := g.b.OpRegions(ir.OpReduceWindow, []ir.TypeID{g.m.TensorType(dtype.F32, out...)}, window, 1, v, g.constant(math.Inf(-1)))
	combiner(g.m, source, ir.OpMaximum)
	t := g.m.Type(v)
	i := g.b.Op1(ir.OpIota, t, attrs("iota_dimension", g.m.I64(int64(d))))
	five := g.b.Op1(ir.OpBroadcastInDim, t, attrs("broadcast_dimensions", ir.Ints{}), g.constant(5))
	rank := g.b.Op1(ir.OpMultiply, t, nil, i, g.b.Op1(ir.OpSubtract, t, nil, five, i))
	op := g.b.OpRegions(ir.OpSelectAndScatter, []ir.TypeID{t}, window, 2, rank, g.m.Result(source, 0), g.constant(0))
	choosing(g.m, op, dtype.F32, "GE")
	g.m.AddReducer(op, ir.OpAdd, dtype.F32)
	g.add(g.m.Result(op, 0))
}
