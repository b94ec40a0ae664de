package interp

import (
	"slices"

	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
)

var indexOps = map[ir.Kind]builder{
	ir.OpGather:           reading(buildGather),
	ir.OpScatter:          buildScatter,
	ir.OpSort:             buildSort,
	ir.OpTorchIndexSelect: reading(buildTorchIndexSelect),
}

var indexManners = map[ir.Kind]manner{
	ir.OpGather:           batched,
	ir.OpScatter:          blockwise,
	ir.OpSort:             batched,
	ir.OpTorchIndexSelect: blockwise,
}

func gatherDims(r *attrReader) tensor.GatherDims {
	a, ok := r.m.Attr(r.op, "dimension_numbers").(*ir.GatherDims)
	if !ok {
		r.missing("dimension_numbers")
		return tensor.GatherDims{}
	}
	return tensor.GatherDims{
		OffsetDims: a.Offset, CollapsedSliceDims: a.Collapsed,
		OperandBatchingDims: a.OperandBatch, StartIndicesBatchingDims: a.IndicesBatch,
		StartIndexMap: a.StartIndexMap, IndexVectorDim: a.IndexVectorDim,
	}
}

func buildGather(r *attrReader) kernel {
	dims, sizes := gatherDims(r), r.list("slice_sizes", r.rank(0))
	if r.batch != nil {
		dims, sizes = r.gatherBlocks(dims, sizes)
	}
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.Gather(in[0], in[1], dims, sizes) })
}

// gatherBlocks makes blocks of the operand and of the indices batching dimensions; where all have one operand, those of the indices are
// like other dimensions of them.
func (r *attrReader) gatherBlocks(d tensor.GatherDims, sizes []int64) (tensor.GatherDims, []int64) {
	d.OffsetDims, d.IndexVectorDim = r.shift(d.OffsetDims), r.behind(d.IndexVectorDim)
	d.StartIndicesBatchingDims = r.shift(d.StartIndicesBatchingDims)
	if r.joint.spreads[r.m.Operand(r.op, 0)] == nil {
		return d, sizes
	}
	d.StartIndicesBatchingDims = r.before(0, d.StartIndicesBatchingDims)
	d.OperandBatchingDims = r.before(0, r.shift(d.OperandBatchingDims))
	d.CollapsedSliceDims, d.StartIndexMap = r.shift(d.CollapsedSliceDims), r.shift(d.StartIndexMap)
	return d, r.before(1, sizes)
}

// buildScatter updates in place where nobody else holds the operands.
func buildScatter(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	a, ok := c.m.Attr(op, "scatter_dimension_numbers").(*ir.ScatterDims)
	if !ok {
		r.missing("scatter_dimension_numbers")
		return r.err
	}
	dims := tensor.ScatterDims{
		UpdateWindowDims: a.UpdateWindow, InsertedWindowDims: a.InsertedWindow,
		InputBatchingDims: a.InputBatch, ScatterIndicesBatchDims: a.IndicesBatch,
		ScatterDimsToOperandDims: a.ToOperand, IndexVectorDim: a.IndexVectorDim,
		WholeWindows: c.in.opts.WholeWindows,
	}
	n := (c.m.NumOperands(op) - 1) / 2
	body, err := c.reducer(op, 0, n)
	if err != nil {
		return err
	}
	i.monoid = body.monoid
	i.kernel = func(f *frame, i *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		inputs, updates := slices.Clone(body.promote(in[:n])), body.promote(in[n+1:])
		mine := f.p.observe == nil // who may run the op again
		for k := range inputs {
			mine = mine && (f.owns(i, k) || !memory.Within(inputs[k].Data, in[k].Data))
		}
		scatter := tensor.Scatter
		if mine {
			scatter = tensor.ScatterInPlace
		}
		return scatter(inputs, in[n], updates, dims, body.combiner(f))
	}
	return nil
}

func buildTorchIndexSelect(r *attrReader) kernel {
	d, batch := r.dimension("dim", r.rank(0)), r.int("batch_dims", 0)
	return one(func(in []tensor.Tensor) tensor.Tensor { return tensor.TorchIndexSelect(in[0], in[1], d, batch) })
}

func buildSort(c *compiler, op ir.OpID, i *instr) error {
	r := c.attrs(op)
	d, rank := r.int("dimension", -1), int64(r.rank(0))
	if d < 0 {
		d += rank
	}
	if d < 0 || d >= rank {
		r.missing("dimension")
		return r.err
	}
	d = r.behind(d)
	region := c.m.RegionBlock(op, 0)
	body, err := c.block(region, op, true)
	if err != nil {
		return err
	}
	if len(body.args) != 2*len(i.in) || len(body.returns) != 1 {
		return diag.Invalid(diag.BadOp, diag.Position{}, "the comparator of %d tensors takes %d arguments and returns %d values",
			len(i.in), len(body.args), len(body.returns))
	}
	keys := lists.Map(ir.SortKeys(c.m, region), func(k ir.SortKey) tensor.SortKey {
		return tensor.SortKey{Operand: k.Operand, Descending: k.Descending, TotalOrder: !k.Canonical}
	})
	i.kernel = func(f *frame, _ *instr, in []tensor.Tensor) ([]tensor.Tensor, error) {
		return tensor.Sort(slices.Clone(in), d, tensor.Comparator{Keys: keys, Body: f.region(body)})
	}
	return nil
}
