package programs

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

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

// unary writes an op on a value. What tanh reads is made small: where it is 1 in all digits, numbers lie together that the least error of
// another implementation puts in another order, and an argmax elsewhere.
func (g *generator) unary(v ir.ValueID) {
	t := g.m.Type(v)
	kind := rapid.SampledFrom([]ir.Kind{ir.OpNegate, ir.OpTanh}).Draw(g.t, "unary")
	if kind == ir.OpTanh {
		v = g.b.Op1(ir.OpMultiply, t, nil, v, g.b.Broadcast(t, g.constant(1.0/64)))
	}
	g.add(g.b.Op1(kind, t, nil, v))
}

// op writes an op on a random value, or nothing where the drawn kind does not fit the value.
func (g *generator) op() {
	v := g.pick()
	dims := g.m.Shape(v)
	last := 15
	if g.Windows {
		last = 24
	}
	switch rapid.IntRange(0, last).Draw(g.t, "op") {
	case 0:
		g.unary(v)
	case 1:
		g.add(g.b.Op1(ir.OpAdd, g.m.Type(v), nil, v, g.alike(v)))
	case 2:
		g.transpose(v, dims)
	case 3:
		g.reshape(v, dims)
	case 4:
		g.reduce(v, dims)
	case 5, 6, 7:
		g.dot(v, dims)
	case 8:
		g.gather(v, dims)
	case 9:
		g.scatter(v, dims)
	case 10:
		g.iota(v, dims)
	case 11:
		g.slice(v, dims)
	case 12:
		g.pad(v, dims)
	case 13:
		g.concatenate(v, dims)
	case 14:
		g.loop(v)
	case 15:
		g.table(v)
	case 16:
		g.reverse(v, dims)
	case 17:
		g.window(v, dims)
	case 18:
		g.convolve(v, dims)
	case 19:
		g.half(v, dims)
	case 20:
		g.spread(v, dims)
	case 21:
		g.argmax(v, dims)
	case 22:
		g.running(v, dims)
	case 23:
		g.unpool(v, dims)
	case 24:
		g.ordered(v, dims)
	}
}

// alike returns a value of the same type.
func (g *generator) alike(v ir.ValueID) ir.ValueID {
	var all []ir.ValueID
	for _, w := range g.values {
		if g.m.Type(w) == g.m.Type(v) {
			all = append(all, w)
		}
	}
	return rapid.SampledFrom(all).Draw(g.t, "other")
}

// table adds a constant of elements that differ to a value of few.
func (g *generator) table(v ir.ValueID) {
	n := g.m.ValueType(v).Elements()
	if n > 64 {
		return
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i%7) - 3
	}
	x := tensor.FromFloats(dtype.F32, g.m.Shape(v), values...)
	g.add(g.b.Op1(ir.OpAdd, g.m.Type(v), nil, v, g.b.Constant(g.m.Dense(g.m.Type(v), x.Data))))
}

// loop runs one or two ops three times on a value that it carries.
func (g *generator) loop(v ir.ValueID) {
	if !g.Loops || g.inLoop {
		return
	}
	t := g.m.Type(v)
	op, b, end := threeRounds(g.m, g.b, v)
	inside := *g
	inside.b, inside.inLoop, inside.values = b, true, append(slices.Clone(g.values), g.m.BlockArgs(g.m.RegionBlock(op, 1))[1])
	for range rapid.IntRange(1, 2).Draw(g.t, "ops in the loop") {
		inside.op()
	}
	next := inside.values[len(inside.values)-1]
	if g.m.Type(next) != t {
		next = b.Op1(ir.OpAdd, t, nil, v, inside.values[len(g.values)])
	}
	end(next)
	g.add(g.m.Result(op, 1))
}

// threeRounds writes a loop of three rounds that carries their number and a value. Its body, which the builder writes, ends with what the
// value is next.
func threeRounds(m *ir.Module, b *ir.Builder, v ir.ValueID) (op ir.OpID, body *ir.Builder, end func(next ir.ValueID)) {
	t, counter := m.Type(v), m.TensorType(dtype.I32)
	op = b.OpRegions(ir.OpWhile, []ir.TypeID{counter, t}, nil, 2, b.Integer(dtype.I32, 0), v)
	cond, round := m.AddBlock(m.Regions(op)[0]), m.AddBlock(m.Regions(op)[1])
	i, test := m.AddBlockArg(cond, counter), m.BuilderAtEnd(cond)
	m.AddBlockArg(cond, t)
	less := ir.EnumAttr{Dialect: "stablehlo", Enum: "comparison_direction", Value: "LT"}
	test.Op(ir.OpStablehloReturn, nil, nil,
		test.Op1(ir.OpCompare, m.TensorType(dtype.I1), attrs("comparison_direction", less), i, test.Integer(dtype.I32, 3)))

	i, body = m.AddBlockArg(round, counter), m.BuilderAtEnd(round)
	m.AddBlockArg(round, t)
	return op, body, func(next ir.ValueID) {
		body.Op(ir.OpStablehloReturn, nil, nil, body.Op1(ir.OpAdd, counter, nil, i, body.Integer(dtype.I32, 1)), next)
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
		d := rapid.SampledFrom(g.Sizes).Draw(g.t, "split")
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
		if kind, init = ir.OpMaximum, -2; g.Identities {
			init = math.Inf(-1)
		}
	}
	t := g.m.TensorType(dtype.F32, slices.Delete(slices.Clone(dims), d, d+1)...)
	op := g.b.OpRegions(ir.OpReduce, []ir.TypeID{t}, attrs("dimensions", ir.Ints{int64(d)}), 1, v, g.constant(init))
	combiner(g.m, op, kind)
	g.add(g.m.Result(op, 0))
}

// combiner writes the region of an op that combines two numbers.
func combiner(m *ir.Module, op ir.OpID, kind ir.Kind) {
	body := m.AddBlock(m.Regions(op)[0])
	t := m.TensorType(dtype.F32)
	a, b := m.AddBlockArg(body, t), m.AddBlockArg(body, t)
	inner := m.BuilderAtEnd(body)
	inner.Op(ir.OpStablehloReturn, nil, nil, inner.Op1(kind, t, nil, a, b))
}

// dot contracts a dimension of a value with one of another value of the same size, over another pair as batch perhaps.
func (g *generator) dot(v ir.ValueID, dims []int64) {
	w := g.pick()
	left, right, d := slices.Clone(dims), slices.Clone(g.m.Shape(w)), &ir.DotDims{}
	pair := func(name string) (i, j int, ok bool) {
		var pairs [][2]int
		for i := range left {
			for j := range right {
				if left[i] > 0 && left[i] == right[j] {
					pairs = append(pairs, [2]int{i, j})
				}
			}
		}
		if len(pairs) == 0 {
			return 0, 0, false
		}
		p := rapid.SampledFrom(pairs).Draw(g.t, name)
		return p[0], p[1], true
	}
	i, j, ok := pair("contracted")
	if !ok {
		return
	}
	left[i], right[j] = 0, 0
	d.LhsContract, d.RhsContract = []int64{int64(i)}, []int64{int64(j)}
	var out []int64
	if i, j, ok = pair("batch"); ok && rapid.Bool().Draw(g.t, "batched") {
		d.LhsBatch, d.RhsBatch, out = []int64{int64(i)}, []int64{int64(j)}, []int64{left[i]}
		left[i], right[j] = 0, 0
	}
	taken := func(size int64) bool { return size == 0 }
	out = slices.Concat(out, slices.DeleteFunc(left, taken), slices.DeleteFunc(right, taken))
	if len(out) > 4 {
		return
	}
	g.add(g.b.Op1(ir.OpDotGeneral, g.m.TensorType(dtype.F32, out...), attrs("dot_dimension_numbers", d), v, w))
}

// gather takes rows of a matrix, as an embedding does, or runs of rows; indices run beyond both ends.
func (g *generator) gather(v ir.ValueID, dims []int64) {
	if len(dims) != 2 || g.indices == 0 {
		return
	}
	rows := g.m.Shape(g.indices)[0]
	if g.Windows && rapid.Bool().Draw(g.t, "runs") && dims[0] > 0 && rows <= 16 {
		run := rapid.Int64Range(1, min(dims[0], 4)).Draw(g.t, "run")
		d := &ir.GatherDims{Offset: []int64{1, 2}, StartIndexMap: []int64{0}, IndexVectorDim: 1}
		g.add(g.b.Op1(ir.OpGather, g.m.TensorType(dtype.F32, rows, run, dims[1]), attrs("dimension_numbers", d,
			"slice_sizes", ir.Ints{run, dims[1]}, "indices_are_sorted", ir.BoolAttr(false)), v, g.indices))
		return
	}
	d := &ir.GatherDims{Offset: []int64{1}, Collapsed: []int64{0}, StartIndexMap: []int64{0}, IndexVectorDim: 1}
	g.add(g.b.Op1(ir.OpGather, g.m.TensorType(dtype.F32, rows, dims[1]), attrs("dimension_numbers", d,
		"slice_sizes", ir.Ints{1, dims[1]}, "indices_are_sorted", ir.BoolAttr(false)), v, g.indices))
}

// scatter adds rows to a matrix, as an embedding's gradient does, or runs of rows, as that of slices does.
func (g *generator) scatter(v ir.ValueID, dims []int64) {
	if len(dims) != 2 || g.indices == 0 {
		return
	}
	window := []int64{dims[1]}
	d := &ir.ScatterDims{UpdateWindow: []int64{1}, InsertedWindow: []int64{0}, ToOperand: []int64{0}, IndexVectorDim: 1}
	if run := rapid.Int64Range(1, 3).Draw(g.t, "rows of a window"); g.Windows && run > 1 && run < dims[0] {
		window = append([]int64{run}, window...)
		d.UpdateWindow, d.InsertedWindow = []int64{1, 2}, nil
	}
	one, t := g.constant(1), g.m.TensorType(dtype.F32, append([]int64{g.m.Shape(g.indices)[0]}, window...)...)
	updates := g.b.Op1(ir.OpBroadcastInDim, t, attrs("broadcast_dimensions", ir.Ints{}), one)
	op := g.b.OpRegions(ir.OpScatter, []ir.TypeID{g.m.Type(v)}, attrs("scatter_dimension_numbers", d,
		"indices_are_sorted", ir.BoolAttr(false), "unique_indices", ir.BoolAttr(false)), 1, v, g.indices, updates)
	combiner(g.m, op, ir.OpAdd)
	g.add(g.m.Result(op, 0))
}

func (g *generator) iota(v ir.ValueID, dims []int64) {
	if len(dims) == 0 {
		return
	}
	d := rapid.IntRange(0, len(dims)-1).Draw(g.t, "counted")
	count := g.b.Op1(ir.OpIota, g.m.Type(v), attrs("iota_dimension", g.m.I64(int64(d))))
	g.add(g.b.Op1(ir.OpMultiply, g.m.Type(v), nil, v, count))
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
	g.add(g.b.Op1(ir.OpConcatenate, g.m.TensorType(dtype.F32, out...), attrs("dimension", g.m.I64(int64(d))), v, v))
}
