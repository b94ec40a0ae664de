package programs

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// Put draws a module with a function of one scatter of windows of any size, and adds the mesh. The axes cut the operand and the result,
// and of the others the dimensions that are those of a batch or that windows cover whole. Some indices lie outside, others hit the same
// elements.
func Put(t *rapid.T, over subaxis.Mesh, cuts [][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	n := &neighbours{t: t, m: ir.NewModule(), parts: lists.Map(cuts, subaxis.Product)}
	n.kind, n.element = ir.OpScatter, rapid.SampledFrom([]dtype.Type{dtype.F32, dtype.I8}).Draw(t, "element")
	whole := n.each(n.size)
	dims := &ir.ScatterDims{}
	var indices, updates, windows []int64
	var indexCuts, updateCuts, windowCuts [][]subaxis.Ref
	for d, size := range whole {
		switch window := n.between(1, size, "rows of a window"); {
		case d == len(indices) && rapid.IntRange(0, 3).Draw(t, "batch") == 0:
			dims.InputBatch, dims.IndicesBatch = append(dims.InputBatch, int64(d)), append(dims.IndicesBatch, int64(d))
			indices, indexCuts = append(indices, size), append(indexCuts, cuts[d])
			continue
		case window == 1 && rapid.Bool().Draw(t, "inserted"):
			dims.InsertedWindow = append(dims.InsertedWindow, int64(d))
			dims.ToOperand = append(dims.ToOperand, int64(d))
		case window == size:
			windows, windowCuts = append(windows, size), append(windowCuts, cuts[d])
		default:
			windows, windowCuts = append(windows, window), append(windowCuts, nil)
			dims.ToOperand = append(dims.ToOperand, int64(d))
		}
	}
	rows := n.between(1, 4, "windows")
	updates, updateCuts = append(slices.Clone(indices), rows), append(slices.Clone(indexCuts), nil)
	dims.UpdateWindow = lists.Map(lists.Range[int64](len(windows)), func(d int64) int64 { return int64(len(updates)) + d })
	updates, updateCuts = append(updates, windows...), append(updateCuts, windowCuts...)
	indices, indexCuts = append(indices, rows, int64(len(dims.ToOperand))), append(indexCuts, nil, nil)
	dims.IndexVectorDim = int64(len(indices)) - 1
	return n.put(over, dims, [][]int64{whole, indices, updates}, [][][]subaxis.Ref{cuts, indexCuts, updateCuts})
}

// put adds the function of one scatter on tensors of those shapes, cut by those axes, and the mesh.
func (n *neighbours) put(over subaxis.Mesh, dims *ir.ScatterDims, shapes [][]int64, cuts [][][]subaxis.Ref) (*ir.Module, ir.MeshID) {
	m := n.m
	index := rapid.SampledFrom([]dtype.Type{dtype.I32, dtype.I32, dtype.I8, dtype.I64}).Draw(n.t, "index")
	args := []ir.TypeID{m.TensorType(n.element, shapes[0]...), m.TensorType(index, shapes[1]...), m.TensorType(n.element, shapes[2]...)}
	f := m.Func(m.AddFunc(ir.FuncSpec{Name: "main", Args: args, Results: args[:1]}))
	b := m.BuilderAtEnd(f.Body)
	op := b.OpRegions(n.kind, args[:1], attrs("scatter_dimension_numbers", dims, "indices_are_sorted", ir.BoolAttr(false),
		"unique_indices", ir.BoolAttr(false)), 1, m.BlockArgs(f.Body)...)
	m.AddReducer(op, rapid.SampledFrom([]ir.Kind{ir.OpAdd, ir.OpMaximum, ir.OpUnregistered}).Draw(n.t, "combined by"), n.element)
	b.Op(ir.OpReturn, nil, nil, m.Result(op, 0))
	mesh := m.AddMesh("mesh", over, nil, 0)
	for i, v := range append(m.BlockArgs(f.Body), m.Result(op, 0)) {
		n.place(mesh, v, cuts[i%len(cuts)])
	}
	f.ResultShardings[0] = m.Sharding(m.Result(op, 0))
	return m, mesh
}
