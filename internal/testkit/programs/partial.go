package programs

import (
	"math"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Choose draws a module with a function of one reduction of two operands: the greatest element along some dimensions and the number that
// stands at its place in another tensor, as argmax finds them. It adds the mesh. The axes cut the operands, and of the results the
// dimensions that stay.
func Choose(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	e := rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.BF16}).Draw(t, "element")
	return n.reduction(over, cuts, []dtype.Type{e, dtype.I32}, func(b *ir.Builder, reduced ir.Ints, f *ir.Func) []ir.ValueID {
		return choose(b, n.m, reduced, f.ResultTypes, n.m.BlockArgs(f.Body)...)
	})
}

// Fold draws a module with a function of one product along some dimensions, or of what it makes of the bits of integers, which no
// collective makes. It adds the mesh. The axes cut the operand, and of the result the dimensions that stay.
func Fold(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	m, kind := n.m, rapid.SampledFrom([]ir.Kind{ir.OpMultiply, ir.OpAnd, ir.OpOr, ir.OpXor}).Draw(t, "folded by")
	e := rapid.SampledFrom([]dtype.Type{dtype.I8, dtype.I32}).Draw(t, "element")
	if kind == ir.OpMultiply && rapid.Bool().Draw(t, "floats") {
		e = dtype.F32
	}
	return n.reduction(over, cuts, []dtype.Type{e}, func(b *ir.Builder, reduced ir.Ints, f *ir.Func) []ir.ValueID {
		init := tensor.FromFloats(e, nil, map[ir.Kind]float64{ir.OpMultiply: 1, ir.OpAnd: -1, ir.OpOr: 0, ir.OpXor: 0}[kind])
		op := b.OpRegions(ir.OpReduce, f.ResultTypes, attrs("dimensions", reduced), 1, m.BlockArgs(f.Body)[0],
			b.Constant(m.Dense(m.TensorType(e), init.Data)))
		m.AddReducer(op, kind, e)
		return m.ResultValues(op)
	})
}

// reduction adds the mesh and a function that reduces operands of the same shape along some dimensions, which emit does.
func (n *neighbours) reduction(over subaxis.Mesh, cuts [][]subaxis.Ref, elements []dtype.Type,
	emit func(b *ir.Builder, reduced ir.Ints, f *ir.Func) []ir.ValueID) (*ir.Module, ir.MeshID) {
	m, whole := n.m, n.each(n.size)
	reduced := rapid.SliceOfNDistinct(rapid.IntRange(0, len(cuts)-1), 1, len(cuts), rapid.ID).Draw(n.t, "reduced")
	slices.Sort(reduced)
	stay := lists.Of(len(cuts), func(d int) int { return d })
	stay = slices.DeleteFunc(stay, func(d int) bool { return slices.Contains(reduced, d) })
	left := lists.Map(stay, func(d int) int64 { return whole[d] })
	args := lists.Map(elements, func(e dtype.Type) ir.TypeID { return m.TensorType(e, whole...) })
	found := lists.Map(elements, func(e dtype.Type) ir.TypeID { return m.TensorType(e, left...) })
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: args, Results: found}))
	b := m.BuilderAtEnd(f.Body)
	results := emit(b, lists.Map(reduced, func(d int) int64 { return int64(d) }), f)
	b.Op(ir.OpReturn, nil, nil, results...)
	mesh := m.AddMesh("mesh", over, nil, 0)
	for i, v := range results {
		n.place(mesh, m.BlockArgs(f.Body)[i], cuts)
		n.place(mesh, v, lists.Map(stay, func(d int) []subaxis.Ref { return cuts[d] }))
		f.ResultShardings[i] = m.Sharding(v)
	}
	return m, mesh
}

// choose emits argmax as JAX writes it: what is not a number wins, of equals the least index.
func choose(b *ir.Builder, m *ir.Module, reduced ir.Ints, results []ir.TypeID, operands ...ir.ValueID) []ir.ValueID {
	e := m.TypeOf(results[0]).DType
	least := tensor.FromFloats(e, nil, math.Inf(-1))
	inits := []ir.ValueID{b.Constant(m.Dense(m.TensorType(e), least.Data)), b.Integer(dtype.I32, 0)}
	op := b.OpRegions(ir.OpReduce, results, attrs("dimensions", reduced), 1, append(operands, inits...)...)
	body := m.AddBlock(m.Regions(op)[0])
	var args []ir.ValueID
	for _, t := range []dtype.Type{e, dtype.I32, e, dtype.I32} {
		args = append(args, m.AddBlockArg(body, m.TensorType(t)))
	}
	in := m.BuilderAtEnd(body)
	compare := func(direction string, x, y ir.ValueID) ir.ValueID {
		return in.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.CompareAttrs(direction, m.ValueType(x).DType), x, y)
	}
	both := func(kind ir.Kind, x, y ir.ValueID) ir.ValueID { return in.Op1(kind, m.TensorType(dtype.I1), nil, x, y) }
	first := both(ir.OpOr, compare("GT", args[0], args[2]), compare("NE", args[0], args[0]))
	lower := both(ir.OpAnd, compare("EQ", args[0], args[2]), compare("LT", args[1], args[3]))
	index := both(ir.OpOr, first, lower)
	in.Op(ir.OpStablehloReturn, nil, nil, in.Op1(ir.OpSelect, m.TensorType(e), nil, first, args[0], args[2]),
		in.Op1(ir.OpSelect, m.TensorType(dtype.I32), nil, index, args[1], args[3]))
	return m.ResultValues(op)
}

// Run draws a module with a function of one running sum, product or extreme along some dimension, in either direction, or of one running
// composition of affine maps: of two operands, whose order matters. It adds the mesh. The axes cut operands and results.
func Run(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	m, e := n.m, rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.I8}).Draw(t, "element")
	whole, d := n.each(n.size), rapid.IntRange(0, len(cuts)-1).Draw(t, "run along")
	kind := rapid.SampledFrom([]ir.Kind{ir.OpAdd, ir.OpMultiply, ir.OpMaximum, ir.OpMinimum, ir.OpUnregistered}).Draw(t, "folded by")
	if kind == ir.OpUnregistered {
		e = dtype.I8 // whose sums and products are exact
	}
	types := []ir.TypeID{m.TensorType(e, whole...)}
	if kind == ir.OpUnregistered {
		types = append(types, types[0])
	}
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: types, Results: types}))
	b := m.BuilderAtEnd(f.Body)
	operands := m.BlockArgs(f.Body)
	for i := range types {
		init := map[ir.Kind]int64{ir.OpMultiply: 1, ir.OpMaximum: -3, ir.OpMinimum: 3, ir.OpUnregistered: int64(1 - i)}[kind]
		operands = append(operands, b.Constant(m.Dense(m.TensorType(e), tensor.FromFloats(e, nil, float64(init)).Data)))
	}
	size, padding := slices.Repeat([]int64{1}, len(whole)), make([]int64, 2*len(whole))
	size[d], padding[2*d+int(n.between(0, 1, "reverse"))] = whole[d], whole[d]-1
	op := b.OpRegions(ir.OpReduceWindow, types, attrs("window_dimensions", ir.Ints(size),
		"padding", m.DenseInts(padding, int64(len(whole)), 2)), 1, operands...)
	if kind == ir.OpUnregistered {
		compose(m, op, e)
	} else {
		m.AddReducer(op, kind, e)
	}
	b.Op(ir.OpReturn, nil, nil, m.ResultValues(op)...)
	mesh := m.AddMesh("mesh", over, nil, 0)
	for i, v := range m.ResultValues(op) {
		n.place(mesh, v, cuts)
		n.place(mesh, m.BlockArgs(f.Body)[i], cuts)
		f.ResultShardings[i] = m.Sharding(v)
	}
	return m, mesh
}

// Best draws a module with a function of one top_k, and adds the mesh. The axes cut the operand, and the results along the dimensions that
// are not searched.
func Best(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	m, e := n.m, rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.BF16, dtype.I8}).Draw(t, "element")
	whole, last := n.each(n.size), len(cuts)-1
	found := slices.Clone(whole)
	found[last] = n.between(1, whole[last], "k")
	arg, results := m.TensorType(e, whole...), []ir.TypeID{m.TensorType(e, found...), m.TensorType(dtype.I32, found...)}
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{arg}, Results: results}))
	b := m.BuilderAtEnd(f.Body)
	op := b.Op(ir.OpChloTopK, results, attrs("k", m.I64(found[last])), m.BlockArgs(f.Body)[0])
	b.Op(ir.OpReturn, nil, nil, m.ResultValues(op)...)
	mesh := m.AddMesh("mesh", over, nil, 0)
	n.place(mesh, m.BlockArgs(f.Body)[0], cuts)
	left := slices.Clone(cuts)
	left[last] = nil
	for i, v := range m.ResultValues(op) {
		n.place(mesh, v, left)
		f.ResultShardings[i] = m.Sharding(v)
	}
	return m, mesh
}

// compose gives an op of two operands a region that composes affine maps: x to ax + b and then to cx + d.
func compose(m *ir.Module, op ir.OpID, e dtype.Type) {
	t := m.TensorType(e)
	body := m.AddBlock(m.Regions(op)[0])
	a, shift, c, d := m.AddBlockArg(body, t), m.AddBlockArg(body, t), m.AddBlockArg(body, t), m.AddBlockArg(body, t)
	b := m.BuilderAtEnd(body)
	b.Op(ir.OpStablehloReturn, nil, nil, b.Op1(ir.OpMultiply, t, nil, a, c),
		b.Op1(ir.OpAdd, t, nil, b.Op1(ir.OpMultiply, t, nil, shift, c), d))
}

// running adds up a value along one dimension, in either direction.
func (g *generator) running(v ir.ValueID, dims []int64) {
	d, ok := g.dim(dims)
	if !ok || dims[d] == 0 || dims[d] > 16 {
		return
	}
	size, padding := slices.Repeat([]int64{1}, len(dims)), make([]int64, 2*len(dims))
	size[d], padding[2*d+rapid.IntRange(0, 1).Draw(g.t, "reverse")] = dims[d], dims[d]-1
	op := g.b.OpRegions(ir.OpReduceWindow, []ir.TypeID{g.m.Type(v)}, attrs("window_dimensions", ir.Ints(size),
		"padding", g.m.DenseInts(padding, int64(len(dims)), 2)), 1, v, g.constant(0))
	combiner(g.m, op, ir.OpAdd)
	g.add(g.m.Result(op, 0))
}

// argmax adds the greatest elements along one dimension to their places.
func (g *generator) argmax(v ir.ValueID, dims []int64) {
	d, ok := g.dim(dims)
	if !ok || dims[d] == 0 {
		return
	}
	m, left := g.m, slices.Delete(slices.Clone(dims), d, d+1)
	places := g.b.Op1(ir.OpIota, m.TensorType(dtype.I32, dims...), attrs("iota_dimension", m.I64(int64(d))))
	t := m.TensorType(dtype.F32, left...)
	found := choose(g.b, m, ir.Ints{int64(d)}, []ir.TypeID{t, m.TensorType(dtype.I32, left...)}, v, places)
	g.add(g.b.Op1(ir.OpAdd, t, nil, found[0], g.b.Op1(ir.OpConvert, t, nil, found[1])))
}
