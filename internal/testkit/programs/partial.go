package programs

import (
	"math"
	"slices"

	"autoshard/backend/tensor"
	"autoshard/collectives"
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
	m, e := n.m, rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.BF16}).Draw(t, "element")
	whole := n.each(n.size)
	reduced := rapid.SliceOfNDistinct(rapid.IntRange(0, len(cuts)-1), 1, len(cuts), rapid.ID).Draw(t, "reduced")
	slices.Sort(reduced)
	stay := lists.Of(len(cuts), func(d int) int { return d })
	stay = slices.DeleteFunc(stay, func(d int) bool { return slices.Contains(reduced, d) })
	left := lists.Map(stay, func(d int) int64 { return whole[d] })
	args := []ir.TypeID{m.TensorType(e, whole...), m.TensorType(dtype.I32, whole...)}
	found := []ir.TypeID{m.TensorType(e, left...), m.TensorType(dtype.I32, left...)}
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: args, Results: found}))
	b := m.BuilderAtEnd(f.Body)
	results := choose(b, m, lists.Map(reduced, func(d int) int64 { return int64(d) }), f.ResultTypes, m.BlockArgs(f.Body)...)
	b.Op(ir.OpReturn, nil, nil, results...)
	mesh := m.AddMesh("mesh", over, nil, 0)
	place := func(v ir.ValueID, dims [][]subaxis.Ref) {
		l := collectives.Layout{Dims: dims}
		m.SetSharding(v, m.InternSharding(l.Sharding(mesh)))
	}
	for i := range 2 {
		place(m.BlockArgs(f.Body)[i], cuts)
		place(results[i], lists.Map(stay, func(d int) []subaxis.Ref { return cuts[d] }))
		f.ResultShardings[i] = m.Sharding(results[i])
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
