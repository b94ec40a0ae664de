package programs

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Update draws a module with a function of one dynamic_update_slice, and adds the mesh. The axes cut the operand and the result, and of
// the update the dimensions that it covers whole. Starts are small integers of any type, which lie outside now and then.
func Update(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	return dynamic(t, over, cuts, func(_ *ir.Module, b *ir.Builder, whole, _ ir.TypeID, args []ir.ValueID) ir.ValueID {
		return b.Op1(ir.OpDynamicUpdateSlice, whole, nil, args...)
	})
}

// Slice is like Update for a dynamic_slice: the axes cut the operand, and of the result the dimensions that it has whole.
func Slice(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	return dynamic(t, over, cuts, func(m *ir.Module, b *ir.Builder, _, part ir.TypeID, args []ir.ValueID) ir.ValueID {
		args = slices.Delete(slices.Clone(args), 1, 2)
		return b.Op1(ir.OpDynamicSlice, part, attrs("slice_sizes", ir.Ints(m.TypeOf(part).Dims)), args...)
	})
}

// dynamic draws the function of one op on a tensor, on a part of it, and on a start for every dimension.
func dynamic(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref,
	emit func(m *ir.Module, b *ir.Builder, whole, part ir.TypeID, args []ir.ValueID) ir.ValueID) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	e := rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.I8, dtype.BF16, dtype.I1}).Draw(t, "element")
	whole := n.each(n.size)
	part := n.each(func(d int) int64 { return n.between(1, whole[d], "rows of the part") })
	m := n.m
	start := m.TensorType(rapid.SampledFrom([]dtype.Type{dtype.I32, dtype.I32, dtype.I64, dtype.I8, dtype.UI32}).Draw(t, "index"))
	args := append([]ir.TypeID{m.TensorType(e, whole...), m.TensorType(e, part...)}, slices.Repeat([]ir.TypeID{start}, len(cuts))...)
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: args, Results: args[:1]}))
	b := m.BuilderAtEnd(f.Body)
	result := emit(m, b, args[0], args[1], m.BlockArgs(f.Body))
	f.ResultTypes[0] = m.Type(result)
	b.Op(ir.OpReturn, nil, nil, result)
	mesh := m.AddMesh("mesh", over, nil, 0)
	for _, v := range append(m.BlockArgs(f.Body), result) {
		kept := make([][]subaxis.Ref, len(m.Shape(v)))
		for d := range kept {
			if m.Shape(v)[d] == whole[d] {
				kept[d] = cuts[d]
			}
		}
		n.place(mesh, v, kept)
	}
	f.ResultShardings[0] = m.Sharding(result)
	return m, mesh
}

// Take draws a module with a function of one gather of slices of any size, and adds the mesh. The axes cut the operand, and of the result
// the dimensions that slices have whole. Indices lie outside now and then.
func Take(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	m, e := n.m, rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.I8, dtype.BF16}).Draw(t, "element")
	whole := n.each(n.size)
	sizes := n.each(func(d int) int64 { return n.between(1, whole[d], "rows of a slice") })
	rows, rank := n.between(1, 4, "slices"), int64(len(cuts))
	result := m.TensorType(e, append([]int64{rows}, sizes...)...)
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: []ir.TypeID{m.TensorType(e, whole...), m.TensorType(dtype.I32, rows, rank)},
		Results: []ir.TypeID{result}}))
	b, all := m.BuilderAtEnd(f.Body), n.each(func(d int) int64 { return int64(d) })
	dims := &ir.GatherDims{Offset: n.each(func(d int) int64 { return int64(d) + 1 }), StartIndexMap: all, IndexVectorDim: 1}
	v := b.Op1(ir.OpGather, result, attrs("dimension_numbers", dims, "slice_sizes", ir.Ints(sizes), "indices_are_sorted", ir.BoolAttr(false)),
		m.BlockArgs(f.Body)...)
	b.Op(ir.OpReturn, nil, nil, v)
	mesh := m.AddMesh("mesh", over, nil, 0)
	n.place(mesh, m.BlockArgs(f.Body)[0], cuts)
	n.place(mesh, m.BlockArgs(f.Body)[1], make([][]subaxis.Ref, 2))
	kept := make([][]subaxis.Ref, len(cuts)+1)
	for d := range cuts {
		if sizes[d] == whole[d] {
			kept[d+1] = cuts[d]
		}
	}
	n.place(mesh, v, kept)
	f.ResultShardings[0] = m.Sharding(v)
	return m, mesh
}
