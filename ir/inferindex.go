package ir

import (
	"cmp"
	"slices"

	"autoshard/internal/lists"
)

// indexing is what gather and scatter have in common, in the words of gather.
type indexing struct {
	window, collapsed, batching, indicesBatching, indexMap []int64
	vectorDim                                              int64
	names                                                  [5]string // of the lists
	operand, indices                                       *Type
	windowOf                                               int // rank of the tensor that has the window dimensions
}

// check applies the rules that do not depend on the window sizes and returns the shape of the indices without the index
// vector.
func (x *indexing) check() ([]int64, error) {
	if !slices.IsSorted(x.window) || !unique(x.window) || !within(x.window, x.windowOf) {
		return nil, badAttr("expects %s to be sorted, unique and in range [0, %d); got: %v", x.names[0], x.windowOf, x.window)
	}
	for i, list := range [][]int64{x.collapsed, x.batching} {
		if !slices.IsSorted(list) || !unique(list) || !within(list, x.operand.Rank()) {
			return nil, badAttr("expects %s to be sorted, unique and in range [0, %d); got: %v", x.names[1+i], x.operand.Rank(), list)
		}
	}
	if both := append(slices.Clone(x.collapsed), x.batching...); !unique(both) {
		return nil, badAttr("%s and %s have duplicate entries: %v", x.names[1], x.names[2], both)
	}
	if n := len(x.window) + len(x.collapsed) + len(x.batching); n != x.operand.Rank() {
		return nil, badAttr("expects rank-of operand to match size-of('%s') + size-of('%s') + size-of('%s') i.e. %d but got %d",
			x.names[0], x.names[1],
			x.names[2], n, x.operand.Rank())
	}
	if x.vectorDim < 0 || x.vectorDim > int64(x.indices.Rank()) {
		return nil, badAttr("index_vector_dim %d is out of bounds for start_indices with rank %d", x.vectorDim, x.indices.Rank())
	}
	return x.batchShape()
}

func (x *indexing) batchShape() ([]int64, error) {
	vector := int64(1)
	if x.vectorDim < int64(x.indices.Rank()) {
		vector = x.indices.Dims[x.vectorDim]
	}
	if !agree(vector, int64(len(x.indexMap))) {
		return nil, badAttr("%s size (%d) is not equal to size of index dimension (%d) of start_indices (%d)",
			x.names[4], len(x.indexMap), x.vectorDim, vector)
	}
	if !within(x.indexMap, x.operand.Rank()) {
		return nil, badAttr("%s has an entry out of range [0, %d): %v", x.names[4], x.operand.Rank(), x.indexMap)
	}
	if both := append(slices.Clone(x.indexMap), x.batching...); !unique(both) {
		return nil, badAttr("%s and %s have duplicate entries: %v", x.names[4], x.names[2], both)
	}
	if !unique(x.indicesBatching) || !within(x.indicesBatching, x.indices.Rank()) || slices.Contains(x.indicesBatching, x.vectorDim) {
		return nil, badAttr("expects %s to be unique, in range and without index_vector_dim; got: %v", x.names[3], x.indicesBatching)
	}
	if len(x.batching) != len(x.indicesBatching) {
		return nil, badAttr("%s and %s should have the same size: %d vs %d", x.names[2], x.names[3], len(x.batching), len(x.indicesBatching))
	}
	for i, d := range x.batching {
		if a, b := x.operand.Dims[d], x.indices.Dims[x.indicesBatching[i]]; !agree(a, b) {
			return nil, badType("%s[%d] and %s[%d] must have compatible sizes, but got %d and %d", x.names[2], i, x.names[3], i, a, b)
		}
	}
	var shape []int64
	for d, n := range x.indices.Dims {
		if int64(d) != x.vectorDim {
			shape = append(shape, n)
		}
	}
	return shape, nil
}

// kept returns the operand's dimensions that a window has: those neither collapsed nor batching.
func (x *indexing) kept() []int64 {
	return lists.Others(x.operand.Rank(), x.collapsed, x.batching)
}

func inferGather(f *inference) error {
	d := f.attrs.Get("dimension_numbers").(*GatherDims)
	operand, indices := f.operand(0), f.operand(1)
	if classOf(indices)&intElem == 0 {
		return badType("operand #1 must be a tensor of integers, but got '%s'", f.text(1))
	}
	rank := len(d.Offset) + max(indices.Rank(), 0)
	if d.IndexVectorDim < int64(indices.Rank()) {
		rank--
	}
	x := indexing{d.Offset, d.Collapsed, d.OperandBatch, d.IndicesBatch, d.StartIndexMap, d.IndexVectorDim,
		[5]string{"offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map"},
		operand, indices, rank}
	batch, err := x.check()
	if err != nil {
		return err
	}
	sizes, err := f.sliceSizes()
	if err != nil {
		return err
	}
	if len(sizes) != operand.Rank() {
		return badAttr("slice_sizes size (%d) not equal to operand rank (%d)", len(sizes), operand.Rank())
	}
	for i, s := range sizes {
		if n := operand.Dims[i]; s != Dynamic && (s < 0 || n != Dynamic && s > n) {
			return badAttr("slice size (%d) is out of bounds for operand dimension (%d) at index %d", s, n, i)
		}
		if s > 1 && (slices.Contains(d.Collapsed, int64(i)) || slices.Contains(d.OperandBatch, int64(i))) {
			return badAttr("expects that for each dim in collapsed_slice_dims or operand_batching_dims, slice_sizes[dim] should be <= 1, but "+
				"got %d at index %d", s, i)
		}
	}
	dims := make([]int64, rank)
	kept, w, b := x.kept(), 0, 0
	for i := range dims {
		if slices.Contains(d.Offset, int64(i)) {
			dims[i] = sizes[kept[w]]
			w++
		} else {
			dims[i] = batch[b]
			b++
		}
	}
	return f.result(operand, dims)
}

// sliceSizes returns the sizes of the slices that a gather takes; those of a dynamic one are not known.
func (f *inference) sliceSizes() ([]int64, error) {
	if f.kind == OpGather {
		return f.attrs.Ints("slice_sizes"), nil
	}
	t := f.operand(2)
	if len(t.Dims) != 1 || t.Dims[0] == Dynamic || classOf(t)&intElem == 0 || t.Quant != 0 {
		return nil, badType("operand #2 must be statically shaped 1-dimensional integer tensor, but got '%s'", f.text(2))
	}
	if n := int64(f.operand(0).Rank()); t.Dims[0] != n {
		return nil, badType("slice_sizes size (%d) not equal to operand rank (%d)", t.Dims[0], n)
	}
	return slices.Repeat([]int64{Dynamic}, int(t.Dims[0])), nil
}

func inferScatter(f *inference) error {
	d := f.attrs.Get("scatter_dimension_numbers").(*ScatterDims)
	total := len(f.operands)
	if total%2 != 1 {
		return badOp("expects n inputs, indices and n updates, but has %d operands", total)
	}
	n := total / 2
	operand, indices, update := f.operand(0), f.operand(n), f.operand(n+1)
	if classOf(indices)&intElem == 0 {
		return badType("operand #%d must be a tensor of integers, but got '%s'", n, f.text(n))
	}
	for i := range n {
		if !sameShape(f.operand(i).Dims, operand.Dims) || !sameShape(f.operand(n+1+i).Dims, update.Dims) {
			return badType("expects all inputs to have one shape and all updates to have one shape")
		}
		if !promotes(f.operand(n+1+i), f.operand(i)) && !sameElem(f.operand(i), f.operand(n+1+i)) {
			return badType("input #%d and update #%d must have fitting element types: '%s' vs '%s'", i, i, f.text(i), f.text(n+1+i))
		}
		f.sized(f.operand(i), f.operand(i).Dims)
	}
	x := indexing{d.UpdateWindow, d.InsertedWindow, d.InputBatch, d.IndicesBatch, d.ToOperand, d.IndexVectorDim,
		[5]string{"update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
			"scatter_dims_to_operand_dims"},
		operand, indices, update.Rank()}
	batch, err := x.check()
	if err != nil {
		return err
	}
	inputs, updates := make([]*Type, n), make([]*Type, n)
	for i := range n {
		inputs[i], updates[i] = f.operand(i), f.operand(n+1+i)
	}
	return cmp.Or(f.updateShape(n, &x, batch), f.reducer(updates, inputs))
}

// updateShape checks the shape of the updates: window sizes at the window dimensions, the indices' shape elsewhere.
func (f *inference) updateShape(n int, x *indexing, batch []int64) error {
	update := f.operand(n + 1)
	if want := len(batch) + len(x.window); update.Rank() != want {
		return badType("expects updates tensor must be of rank %d (== rank-of('scatter_indices') - 1 + size-of('update_window_dims'), where "+
			"'scatter_indices' is expanded by a trailing 1 dimension if 'index_vector_dim' == rank-of('scatter_indices')), but got %d",
			want, update.Rank())
	}
	kept, w, b := x.kept(), 0, 0
	for i, size := range update.Dims {
		if slices.Contains(x.window, int64(i)) {
			if n := x.operand.Dims[kept[w]]; size != Dynamic && n != Dynamic && size > n {
				return badType("expects bounds of the window dimensions of updates to not exceed the bounds of the corresponding dimensions of "+
					"operand. For dimension %d, updates bound is %d, operand bound is %d",
					i, size, n)
			}
			w++
			continue
		}
		if !agree(size, batch[b]) {
			return badType("expects bounds of the scatter dimensions of updates to be same as the bounds of the corresponding dimensions of "+
				"scatter indices. For scatter dimension %d, updates bound is %d , scatter_indices bound is %d",
				i, size, batch[b])
		}
		b++
	}
	return nil
}
