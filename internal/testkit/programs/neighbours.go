package programs

import (
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// Moving are the ops along whose dimensions elements move between blocks, which [Neighbours] draws. Of a convolution either the
// result is cut or the kernel.
var Moving = map[string]func(*neighbours){
	"slice": (*neighbours).slice, "pad": (*neighbours).pad, "reverse": (*neighbours).reverse, "concatenate": (*neighbours).concatenate,
	"reduce_window": (*neighbours).reduceWindow, "convolution": (*neighbours).convolution, "convolution by kernel": (*neighbours).byKernel,
}

// Neighbours draws a module with a function of one such op, and adds the mesh. The axes cut the dimensions of the op's operands and
// its result, of a convolution its spatial ones, but those of scalars.
func Neighbours(t *rapid.T, name string, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	m := ir.NewModule()
	n := &neighbours{t: t, m: m, parts: lists.Map(cuts, subaxis.Product)}
	n.kind, _ = ir.ParseKind("stablehlo." + strings.Fields(name)[0])
	n.element = rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.I8, dtype.BF16}).Draw(t, "element")
	Moving[name](n)
	mesh, f := m.AddMesh("mesh", over, nil, 0), m.MainFunc()
	op := m.FirstOp(f.Body)
	for i, v := range append(m.Operands(op), m.Result(op, 0)) {
		l := collectives.Layout{Dims: make([][]subaxis.Ref, len(m.Shape(v)))}
		kernel, result := name == "convolution" && i == 1, name == "convolution by kernel" && i == 2
		if len(l.Dims) >= len(cuts) && !kernel && !result {
			copy(l.Dims, cuts)
		}
		m.SetSharding(v, m.InternSharding(l.Sharding(mesh)))
	}
	f.ResultShardings[0] = m.Sharding(m.Result(op, 0))
	return m, mesh
}

// Cuts returns a mesh, its devices in any order, and the axes that cut each of one to four dimensions, at most two of them: an
// axis, a part of one, or two axes in either order.
func Cuts(t *rapid.T) (subaxis.Mesh, [][]subaxis.Ref) {
	mesh := subaxis.Mesh{}
	axis := func(size int64) int32 {
		mesh.Axes = append(mesh.Axes, subaxis.Axis{Name: fmt.Sprint("x", len(mesh.Axes)), Size: size})
		return int32(len(mesh.Axes) - 1)
	}
	cuts := make([][]subaxis.Ref, rapid.IntRange(1, 4).Draw(t, "rank"))
	for range rapid.IntRange(1, 2).Draw(t, "cut dimensions") {
		d := rapid.IntRange(0, len(cuts)-1).Draw(t, "cut")
		if len(cuts[d]) > 0 {
			continue
		}
		switch n := rapid.Int64Range(2, 4).Draw(t, "parts"); rapid.IntRange(0, 3).Draw(t, "form") {
		case 0:
			cuts[d] = []subaxis.Ref{{Axis: axis(n), Pre: 1, Size: int32(n)}}
		case 1:
			cuts[d] = []subaxis.Ref{{Axis: axis(2 * n), Pre: 2, Size: int32(n)}}
		case 2:
			cuts[d] = []subaxis.Ref{{Axis: axis(2 * n), Pre: 1, Size: int32(n)}}
		default:
			minor, major := axis(2), axis(n)
			cuts[d] = []subaxis.Ref{{Axis: major, Pre: 1, Size: int32(n)}, {Axis: minor, Pre: 1, Size: 2}}
		}
	}
	if rapid.Bool().Draw(t, "device order") {
		var ids []int64
		for d := range mesh.Devices() {
			ids = append(ids, d)
		}
		mesh.DeviceIDs = rapid.Permutation(ids).Draw(t, "devices")
	}
	return mesh, cuts
}

// neighbours writes a function of one op.
type neighbours struct {
	t       *rapid.T
	m       *ir.Module
	kind    ir.Kind
	parts   []int64
	element dtype.Type
}

// place cuts the dimensions of a value.
func (n *neighbours) place(mesh ir.MeshID, v ir.ValueID, dims [][]subaxis.Ref) {
	l := collectives.Layout{Dims: dims}
	n.m.SetSharding(v, n.m.InternSharding(l.Sharding(mesh)))
}

// each returns a number for every dimension.
func (n *neighbours) each(of func(d int) int64) []int64 {
	out := make([]int64, len(n.parts))
	for d := range out {
		out[d] = of(d)
	}
	return out
}

func (n *neighbours) between(low, high int64, what string) int64 {
	return rapid.Int64Range(low, high).Draw(n.t, what)
}

// size returns a size that divides by the parts of a dimension.
func (n *neighbours) size(d int) int64 {
	return n.parts[d] * n.between(1, max(1, 15/n.parts[d]), "rows")
}

// function adds main with one op on tensors of those shapes, and scalars behind them.
func (n *neighbours) function(regions int, attrs ir.Attrs, result []int64, scalars int, shapes ...[]int64) ir.OpID {
	m, e := n.m, n.element
	var args []ir.TypeID
	for _, dims := range shapes {
		args = append(args, m.TensorType(e, dims...))
	}
	args = append(args, slices.Repeat([]ir.TypeID{m.TensorType(e)}, scalars)...)
	out := m.TensorType(e, result...)
	body := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: args, Results: []ir.TypeID{out}})).Body
	b := m.BuilderAtEnd(body)
	op := b.OpRegions(n.kind, []ir.TypeID{out}, attrs, regions, m.BlockArgs(body)...)
	b.Op(ir.OpReturn, nil, nil, m.Result(op, 0))
	return op
}

func (n *neighbours) slice() {
	out := n.each(n.size)
	start := n.each(func(int) int64 { return n.between(0, 6, "start") })
	stride := n.each(func(int) int64 { return n.between(1, 4, "stride") })
	limit := n.each(func(d int) int64 { return start[d] + (out[d]-1)*stride[d] + 1 })
	in := n.each(func(d int) int64 { return n.rounded(d, limit[d]+n.between(0, 3, "rest")) })
	n.function(0, attrs("start_indices", ir.Ints(start), "limit_indices", ir.Ints(limit), "strides", ir.Ints(stride)), out, 0, in)
}

// rounded returns the next size that divides by the parts of a dimension.
func (n *neighbours) rounded(d int, size int64) int64 {
	return (size + n.parts[d] - 1) / n.parts[d] * n.parts[d]
}

func (n *neighbours) pad() {
	in, out := n.each(n.size), n.each(n.size)
	low := n.each(func(int) int64 { return n.between(-8, 8, "low") })
	inner := n.each(func(int) int64 { return n.between(0, 3, "interior") })
	high := n.each(func(d int) int64 { return out[d] - low[d] - ((in[d]-1)*(inner[d]+1) + 1) })
	n.function(0, attrs("edge_padding_low", ir.Ints(low), "edge_padding_high", ir.Ints(high), "interior_padding", ir.Ints(inner)),
		out, 1, in)
}

func (n *neighbours) reverse() {
	dims, reversed := n.each(n.size), ir.Ints{}
	for d := range dims {
		if rapid.Bool().Draw(n.t, "reversed") {
			reversed = append(reversed, int64(d))
		}
	}
	n.function(0, attrs("dimensions", reversed), dims, 0, dims)
}

func (n *neighbours) concatenate() {
	joined := int(n.between(0, int64(len(n.parts))-1, "joined"))
	out := n.each(n.size)
	out[joined] = 0
	var pieces [][]int64
	for range n.between(1, 3, "pieces") {
		dims := slices.Clone(out)
		dims[joined] = n.size(joined)
		pieces = append(pieces, dims)
	}
	for _, dims := range pieces {
		out[joined] += dims[joined]
	}
	n.function(0, attrs("dimension", n.m.I64(int64(joined))), out, 0, pieces...)
}

// windows draws windows over inputs, of given sizes.
func (n *neighbours) windows(in, out, size []int64) (all []ir.Window, padding ir.Attr) {
	var list []int64
	for d := range in {
		w := ir.Window{Size: size[d], Stride: n.between(1, 4, "stride"), Low: n.between(-6, 8, "low"),
			BaseDilation: n.between(1, 3, "base dilation"), Dilation: n.between(1, 3, "dilation")}
		covered := (out[d]-1)*w.Stride + (w.Size-1)*w.Dilation + 1 + n.between(0, w.Stride-1, "rest")
		w.High = covered - w.Low - ((in[d]-1)*w.BaseDilation + 1)
		all, list = append(all, w), append(list, w.Low, w.High)
	}
	return all, n.m.DenseInts(list, int64(len(in)), 2)
}

// reduceWindow draws windows that do not reach from end to end of what they slide over, which would be running sums.
func (n *neighbours) reduceWindow() {
	in, out := n.each(n.size), n.each(n.size)
	w, padding := n.windows(in, out, n.each(func(d int) int64 { return n.between(1, max(1, min(5, (in[d]-1)/3)), "window") }))
	of := func(field func(ir.Window) int64) ir.Ints { return n.each(func(d int) int64 { return field(w[d]) }) }
	op := n.function(1, attrs("window_dimensions", of(func(w ir.Window) int64 { return w.Size }),
		"window_strides", of(func(w ir.Window) int64 { return w.Stride }),
		"base_dilations", of(func(w ir.Window) int64 { return w.BaseDilation }),
		"window_dilations", of(func(w ir.Window) int64 { return w.Dilation }), "padding", padding), out, 1, in)
	n.m.AddReducer(op, rapid.SampledFrom([]ir.Kind{ir.OpAdd, ir.OpMaximum, ir.OpMinimum}).Draw(n.t, "reducer"), n.element)
}

// convolution has the spatial dimensions before the batch, which is before the features. Its kernel is no larger than its result:
// the rule of others does not cut the result.
func (n *neighbours) convolution() {
	in, out := n.each(n.size), n.each(n.size)
	n.convolve(in, out, n.each(func(d int) int64 { return n.between(1, min(5, out[d]), "window") }))
}

// byKernel has a kernel that is larger than its result along dimensions that are cut, as that of a gradient is.
func (n *neighbours) byKernel() {
	size := n.each(n.size)
	n.convolve(n.each(n.size), n.each(func(d int) int64 { return n.between(1, max(1, min(4, size[d]-1)), "places") }), size)
}

func (n *neighbours) convolve(in, out, size []int64) {
	w, padding := n.windows(in, out, size)
	of := func(field func(ir.Window) int64) ir.Ints { return n.each(func(d int) int64 { return field(w[d]) }) }
	reversal := make(ir.Bools, len(w))
	var spatial []int64
	for d := range w {
		reversal[d] = rapid.Bool().Draw(n.t, "reversed")
		spatial = append(spatial, int64(d))
	}
	rank, batch, from, to := int64(len(w)), n.between(1, 3, "batch"), n.between(1, 3, "input features"), n.between(1, 3, "features")
	groups := [2]int64{1, 1} // of features and of the batch
	groups[n.between(0, 1, "grouped")] = n.between(1, 3, "groups")
	all := groups[0] * groups[1]
	dims := &ir.ConvDims{InBatch: rank, InFeature: rank + 1, InSpatial: spatial, KernelIn: rank, KernelOut: rank + 1, KernelSpatial: spatial,
		OutBatch: rank, OutFeature: rank + 1, OutSpatial: spatial}
	n.function(0, attrs("dimension_numbers", dims, "window_strides", of(func(w ir.Window) int64 { return w.Stride }),
		"lhs_dilation", of(func(w ir.Window) int64 { return w.BaseDilation }), "rhs_dilation", of(func(w ir.Window) int64 { return w.Dilation }),
		"padding", padding, "window_reversal", reversal, "batch_group_count", n.m.I64(groups[1]),
		"feature_group_count", n.m.I64(groups[0])),
		append(out, batch, to*all), 0, append(in, batch*groups[1], from*groups[0]),
		append(of(func(w ir.Window) int64 { return w.Size }), from, to*all))
}
