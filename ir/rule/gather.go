package rule

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

func init() {
	register(&Family{
		Name:  "gather",
		Why:   "batches follow the indices, whole slices follow the operand, cut ones are searched on every shard",
		build: buildGather,
		seeks: true,

		combine: sums,
		judge:   keepUnindexed,
		pads:    masked,
	}, ir.OpGather)
	register(&Family{
		Name:  "scatter",
		Why:   "batches of indices are combined into the result, whole windows follow the updates",
		build: buildScatter,
		seeks: true,

		combine: combineScatter,
		judge:   ownWindows,
		pads:    masked,
	}, ir.OpScatter)
}

// indexing is what gather and scatter have in common: slices (the result of a gather, the updates of a scatter)
// are taken from or put into an input at places that the indices name (source: shardy.md section 2.5).
type indexing struct {
	*builder
	scatter              bool
	offset, collapsed    []int64
	inputBatch, idxBatch []int64
	indexed              []int64 // dimensions of the input
	indexVectorDim       int
	indices              int // operand number
	slices               []int64
}

func buildGather(b *builder) bool {
	d, ok := b.attr("dimension_numbers").(*ir.GatherDims)
	if !ok {
		return false
	}
	x := indexing{builder: b, offset: d.Offset, collapsed: d.Collapsed, inputBatch: d.OperandBatch,
		idxBatch: d.IndicesBatch, indexed: d.StartIndexMap, indexVectorDim: int(d.IndexVectorDim), indices: 1, slices: b.out[0]}
	return x.build()
}

func buildScatter(b *builder) bool {
	d, ok := b.attr("scatter_dimension_numbers").(*ir.ScatterDims)
	if !ok {
		return false
	}
	inputs := len(b.in) / 2
	x := indexing{builder: b, scatter: true, offset: d.UpdateWindow, collapsed: d.InsertedWindow,
		inputBatch: d.InputBatch, idxBatch: d.IndicesBatch, indexed: d.ToOperand, indexVectorDim: int(d.IndexVectorDim),
		indices: inputs, slices: b.in[inputs+1]}
	return x.build()
}

// place adds a factor by dimension of the input, the indices and the slices.
func (x *indexing) place(input, indices, slice int, size int64, kind factorType, blocked bool) {
	if !x.scatter {
		x.factor([]int{input, indices}, []int{slice}, size, kind, blocked)
		return
	}
	ins := slices.Repeat([]int{input}, len(x.in))
	ins[x.indices] = indices
	for i := x.indices + 1; i < len(ins); i++ {
		ins[i] = slice
	}
	x.factor(ins, slices.Repeat([]int{input}, len(x.out)), size, kind, blocked)
}

func (x *indexing) build() bool {
	input, batch := 0, 0
	for s, size := range x.slices {
		if hasInt(x.offset, s) {
			for hasInt(x.collapsed, input) || hasInt(x.inputBatch, input) {
				input++
			}
			x.offsetDim(input, s, size)
			input++
			continue
		}
		x.batchDim(batch, s, size)
		batch++
	}
	for _, c := range x.collapsed {
		x.collapsedDim(int(c))
	}
	if rank := len(x.in[x.indices]); x.indexVectorDim < rank {
		x.place(none, x.indexVectorDim, none, x.in[x.indices][x.indexVectorDim], needReplication, false)
	}
	return true
}

func (x *indexing) offsetDim(input, s int, size int64) {
	whole := x.in[0][input]
	switch {
	case whole == size:
		x.place(input, none, s, whole, passThrough, false)
	case x.scatter:
		kind := needReplication
		if x.computing && hasInt(x.indexed, input) {
			kind = permutation
		}
		x.place(input, none, none, whole, kind, false)
		x.place(none, none, s, size, needReplication, false)
	case size == 1:
		x.place(input, none, none, whole, reduction, false)
		x.place(none, none, s, 1, needReplication, false)
	case x.computing && hasInt(x.indexed, input):
		x.place(input, none, none, whole, reduction, false)
		x.place(none, none, s, size, needReplication, false)
	default:
		x.place(input, none, s, whole, needReplication, true)
	}
}

func (x *indexing) batchDim(position, s int, size int64) {
	indices := position
	if position >= x.indexVectorDim {
		indices++
	}
	input, kind := none, passThrough
	if i := slices.Index(x.idxBatch, int64(indices)); i >= 0 {
		input = int(x.inputBatch[i])
	} else if x.scatter {
		kind = needReplication
		if combines(x.m, x.op) {
			kind = reduction
		}
	}
	x.place(input, indices, s, size, kind, false)
}

func (x *indexing) collapsedDim(c int) {
	kind := reduction
	switch {
	case x.scatter:
		kind = passThrough
	case x.in[0][c] == 1:
		kind = needReplication
	}
	x.place(c, none, none, x.in[0][c], kind, false)
}

// combines says whether the region of a scatter combines each old value with its update by one and the same known
// operation, so that partial results can be combined across devices.
func combines(m *ir.Module, op ir.OpID) bool {
	kind, ok := ir.ReducerOf(m, op, 0, ir.Computed)
	switch kind {
	case ir.OpAdd, ir.OpMultiply, ir.OpMaximum, ir.OpMinimum:
		return ok
	case ir.OpAnd, ir.OpOr:
		return ok && m.ValueType(m.BlockArgs(m.RegionBlock(op, 0))[0]).DType == dtype.I1
	}
	return false
}

// keepUnindexed keeps dimensions of the operand of a gather whole that parts are taken from without an index. Others are cut into blocks
// that are long enough for slices to end in the next one.
func keepUnindexed(v *verdict) {
	dims, _ := v.m.Attr(v.op, "dimension_numbers").(*ir.GatherDims)
	v.together(1, dims.IndexVectorDim)
	for d, size := range v.m.OpAttrs(v.op).Ints("slice_sizes") {
		n := v.m.Shape(v.m.Operand(v.op, 0))[d]
		indexed := slices.Contains(dims.StartIndexMap, int64(d))
		switch {
		case size == n || slices.Contains(dims.OperandBatch, int64(d)):
		case !indexed:
			v.keep("slices are taken of its beginning, without an index", v.rule.Operands[0][d]...)
		case size > 1:
			f := v.rule.Operands[0][d][0]
			for v.parts[f] > 1 && (n%v.parts[f] != 0 || n/v.parts[f] < size-1) {
				v.parts[f]--
				v.why[f] = "slices reach over more than two blocks"
			}
		}
	}
}

// together says why the dimension of indices that holds the components of each is whole.
func (v *verdict) together(indices int, dim int64) {
	if mapping := v.rule.Operands[indices]; int(dim) < len(mapping) {
		v.keep("the components of an index are read together", mapping[dim]...)
	}
}

// combineScatter says how the blocks of a scatter combine to which each device added its updates.
func combineScatter(m *ir.Module, op ir.OpID) (ir.Reduction, bool) { return ir.ReductionOf(m, op, 0) }

// ownWindows lets every device write what of windows falls into its block. Dimensions of a scatter that no index addresses are whole, and
// so are its updates, as far as it is not known how several are combined.
func ownWindows(v *verdict) {
	dims, _ := v.m.Attr(v.op, "scatter_dimension_numbers").(*ir.ScatterDims)
	indices := v.m.NumResults(v.op)
	v.keep("updates are combined in their order", v.rule.NeedReplication...)
	v.together(indices, dims.IndexVectorDim)
	for _, f := range v.rule.Permutation {
		v.cut(f, v.rule.Sizes[f])
	}
	for _, d := range dims.UpdateWindow {
		if f := v.rule.Operands[indices+1][d]; v.parts[f[0]] == 1 {
			v.keep("every device writes what of whole windows falls into its block", f...)
		}
	}
	for d, f := range v.rule.Operands[0] {
		if slices.Contains(dims.InsertedWindow, int64(d)) && !slices.Contains(dims.ToOperand, int64(d)) || v.parts[f[0]] == 1 {
			v.keep("no index says where updates go along it", f...)
		}
	}
}
