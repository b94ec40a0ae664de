package transpose

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
)

func (t *transposer) scalarZero(v ir.ValueID) ir.ValueID {
	return t.b.Constant(t.m.ValueType(v).DType, nil, 0)
}

func (t *transposer) slice(op ir.OpID, g ir.ValueID) {
	x := t.m.Operand(op, 0)
	in, out, attrs := t.m.Shape(x), t.m.Shape(g), t.m.OpAttrs(op)
	low, strides := attrs.Ints("start_indices"), attrs.Ints("strides")
	high, interior := make([]int64, len(in)), make([]int64, len(in))
	for d := range in {
		interior[d] = strides[d] - 1
		high[d] = in[d] - low[d]
		if out[d] > 0 {
			high[d] = in[d] - (low[d] + (out[d]-1)*strides[d] + 1)
		}
	}
	t.add(x, t.b.Pad(g, t.scalarZero(x), low, high, interior))
}

func (t *transposer) pad(op ir.OpID, g ir.ValueID) {
	if !t.homogeneous(op, 0, 2) {
		return
	}
	x, v := t.m.Operand(op, 0), t.m.Operand(op, 1)
	in, attrs := t.m.Shape(x), t.m.OpAttrs(op)
	low, high, strides := negated(attrs.Ints("edge_padding_low")), negated(attrs.Ints("edge_padding_high")),
		slices.Clone(attrs.Ints("interior_padding"))
	zero := t.scalarZero(x)
	inside := t.b.Pad(g, zero, low, high, make([]int64, len(in)))
	strided := false
	for d := range strides {
		strided = strided || strides[d] > 0
		strides[d]++
	}
	if strided && inside != 0 {
		inside = t.b.Slice(inside, make([]int64, len(in)), t.m.Shape(inside), strides)
	}
	t.add(x, inside)
	if t.linear[v] {
		t.add(v, t.b.Binary(ir.OpSubtract, t.total(g), t.total(inside)))
	}
}

func negated(list []int64) []int64 {
	return lists.Map(list, func(n int64) int64 { return -n })
}

func (t *transposer) concatenate(op ir.OpID, g ir.ValueID) {
	if !t.homogeneous(op, 0, t.m.NumOperands(op)) {
		return
	}
	dim := t.m.OpAttrs(op).Int("dimension", 0)
	at := int64(0)
	for _, x := range t.m.Operands(op) {
		n := t.m.Shape(x)[dim]
		if t.linear[x] {
			start, limit := make([]int64, len(t.m.Shape(g))), slices.Clone(t.m.Shape(g))
			start[dim], limit[dim] = at, at+n
			t.add(x, t.b.Slice(g, start, limit, nil))
		}
		at += n
	}
}

func (t *transposer) dynamicSlice(op ir.OpID, g ir.ValueID) {
	if x := t.m.Operand(op, 0); t.only(op, 0) {
		t.add(x, t.b.DynamicUpdateSlice(t.zeros(x), g, lists.Map(t.m.Operands(op)[1:], t.value)...))
	}
}

func (t *transposer) dynamicUpdateSlice(op ir.OpID, g ir.ValueID) {
	if !t.only(op, 0, 1) || !t.homogeneous(op, 0, 2) {
		return
	}
	x, update := t.m.Operand(op, 0), t.m.Operand(op, 1)
	index := lists.Map(t.m.Operands(op)[2:], t.value)
	if t.linear[x] {
		t.add(x, t.b.DynamicUpdateSlice(g, t.zeros(update), index...))
	}
	if t.linear[update] {
		t.add(update, t.b.DynamicSlice(g, t.m.Shape(update), index...))
	}
}

// gather adds the cotangents of the windows where they were taken from. Starts are kept inside the operand, as the
// gather does.
func (t *transposer) gather(op ir.OpID, g ir.ValueID) {
	x := t.m.Operand(op, 0)
	d, ok := t.m.Attr(op, "dimension_numbers").(*ir.GatherDims)
	if !ok || !t.only(op, 0) {
		t.nonlinear(op)
		return
	}
	to := &ir.ScatterDims{UpdateWindow: d.Offset, InsertedWindow: d.Collapsed, InputBatch: d.OperandBatch, IndicesBatch: d.IndicesBatch,
		ToOperand: d.StartIndexMap, IndexVectorDim: d.IndexVectorDim}
	starts, _ := t.starts(t.value(t.m.Operand(op, 1)), t.bounds(x, t.m.OpAttrs(op).Ints("slice_sizes"), d.StartIndexMap), d.IndexVectorDim)
	t.add(x, t.b.Folded(ir.OpScatter, t.m.Type(x), ir.MakeAttrs(ir.Named("scatter_dimension_numbers", to)), ir.OpAdd, t.zeros(x), starts, g))
}

// bounds returns the last start in each dimension that an index names.
func (t *transposer) bounds(x ir.ValueID, sizes, dims []int64) []float64 {
	return lists.Map(dims, func(d int64) float64 { return float64(t.m.Shape(x)[d] - sizes[d]) })
}

// starts returns indices kept between zero and bounds, and for each window whether its index was there before.
func (t *transposer) starts(index ir.ValueID, bounds []float64, vector int64) (kept, inside ir.ValueID) {
	if index == 0 {
		return 0, 0
	}
	typ, dims := t.m.ValueType(index).DType, t.m.Shape(index)
	low := t.b.Constant(typ, dims, 0)
	var high ir.ValueID
	if vector < int64(len(dims)) {
		high = t.b.Broadcast(t.b.Constant(typ, []int64{int64(len(bounds))}, bounds...), dims, vector)
	} else {
		high = t.b.Constant(typ, dims, bounds...)
	}
	kept = t.b.Local(ir.OpClamp, nil, low, index, high)
	inside = t.b.Compare("EQ", kept, index)
	if vector < int64(len(dims)) {
		inside = t.b.Reduce(ir.OpAnd, inside, vector)
	}
	return kept, inside
}

// scatter gives the cotangent to the operand, and its windows to the updates; updates outside were dropped. One that
// replaces elements is linear where no element is replaced twice.
func (t *transposer) scatter(op ir.OpID, g ir.ValueID) {
	d, ok := t.m.Attr(op, "scatter_dimension_numbers").(*ir.ScatterDims)
	if !ok || t.m.NumOperands(op) != 3 || !t.only(op, 0, 2) {
		t.nonlinear(op)
		return
	}
	add := adds(t.m, op)
	if !add && !(replaces(t.m, op) && t.m.OpAttrs(op).Bool("unique_indices")) {
		t.unsupported(op, "only sums, and replacements with unique indices, have one")
		return
	}
	if !t.homogeneous(op, 0, 1) || !t.homogeneous(op, 2, 3) {
		return
	}
	x, updates := t.m.Operand(op, 0), t.m.Operand(op, 2)
	index := t.value(t.m.Operand(op, 1))
	if t.linear[x] {
		gx := g
		if !add {
			gx = t.b.Folded(ir.OpScatter, t.m.Type(x), t.m.OpAttrs(op), 0, g, index, t.zeros(updates))
		}
		t.add(x, gx)
	}
	if t.linear[updates] {
		t.add(updates, t.windows(x, updates, index, g, d))
	}
}

// replaces says whether the op's region returns its second argument.
func replaces(m *ir.Module, op ir.OpID) bool {
	kind, ok := ir.ReducerOf(m, op, 0, ir.Computed)
	return ok && kind == ir.OpUnregistered
}

// windows takes from g the windows that updates of a scatter went to, zeros for those that were dropped.
func (t *transposer) windows(x, updates, index, g ir.ValueID, d *ir.ScatterDims) ir.ValueID {
	sizes := slices.Repeat([]int64{1}, len(t.m.Shape(x)))
	window := lists.Others(len(sizes), d.InsertedWindow, d.InputBatch)
	for k, dim := range d.UpdateWindow {
		sizes[window[k]] = t.m.Shape(updates)[dim]
	}
	from := &ir.GatherDims{Offset: d.UpdateWindow, Collapsed: d.InsertedWindow, OperandBatch: d.InputBatch, IndicesBatch: d.IndicesBatch,
		StartIndexMap: d.ToOperand, IndexVectorDim: d.IndexVectorDim}
	starts, inside := t.starts(index, t.bounds(x, sizes, d.ToOperand), d.IndexVectorDim)
	taken := t.b.Local(ir.OpGather, ir.MakeAttrs(ir.Named("dimension_numbers", from), ir.Named("slice_sizes", ir.Ints(sizes))), g, starts)
	if taken == 0 {
		return 0
	}
	shape := t.m.Shape(updates)
	if len(shape) > 0 {
		inside = t.b.Broadcast(inside, shape, lists.Others(len(shape), d.UpdateWindow)...)
	}
	return t.b.Select(inside, taken, t.b.Constant(t.m.ValueType(updates).DType, shape, 0))
}
