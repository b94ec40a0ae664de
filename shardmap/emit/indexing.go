package emit

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

func indexOps() map[ir.Kind]handler {
	return map[ir.Kind]handler{
		ir.OpDynamicSlice:       single((*emitter).dynamicSlice),
		ir.OpDynamicUpdateSlice: single((*emitter).dynamicUpdateSlice),
		ir.OpGather:             single((*emitter).gather),
		ir.OpDynamicGather:      single((*emitter).gather),
		ir.OpScatter:            (*emitter).scatter,
		ir.OpSort:               (*emitter).sort,
		ir.OpTorchIndexSelect:   single((*emitter).torchIndexSelect),
	}
}

// starts returns the start indices from operand first on, in one type as JAX demands, and the function that takes them: JAX counts
// negative ones from the end, StableHLO takes them for zero, as the function of the prelude does.
func (e *emitter) starts(function string, op ir.OpID, first int) (string, *expr) {
	var out []*expr
	negative, constant := false, true
	operands := e.m.Operands(op)[first:]
	for _, v := range operands {
		text, ok := e.splat(v)
		constant = constant && ok && isWeak(dtype.I32, text)
		negative = negative || e.mayBeNegative(v)
	}
	for _, v := range operands {
		if text, _ := e.splat(v); constant {
			out = append(out, atom(text))
		} else {
			out = append(out, e.startIndex(v))
		}
	}
	if !negative {
		function = "lax." + function
	}
	return function, tuple(out...)
}

// startIndex returns a start index, of 32 bits at least: the sizes may not fit in less.
func (e *emitter) startIndex(v ir.ValueID) *expr {
	if e.m.ValueType(v).DType.Bits() < 32 {
		return e.cast(v, dtype.I32)
	}
	return e.ref(v)
}

func (e *emitter) mayBeNegative(v ir.ValueID) bool {
	if text, ok := e.splat(v); ok {
		return text[0] == '-'
	}
	low, _, known := e.bounds(v)
	return e.m.ValueType(v).DType.Kind() != dtype.Unsigned && (!known || low < 0)
}

// onlyCut returns the dimension in which a slice of these sizes is smaller than an array, if that is one alone and its
// start index, of which the first is an operand of the op, is not negative. Start indices in whole dimensions do not
// matter: they are clamped to 0.
func (e *emitter) onlyCut(op ir.OpID, dims, sizes []int64, first int) (int, bool) {
	cut := -1
	for d := range dims {
		if sizes[d] == dims[d] {
			continue
		}
		if cut >= 0 {
			return 0, false
		}
		cut = d
	}
	return cut, cut >= 0 && !e.mayBeNegative(e.m.Operand(op, first+cut))
}

func (e *emitter) dynamicSlice(op ir.OpID) (*expr, error) {
	x, sizes := e.m.Operand(op, 0), e.m.OpAttrs(op).Ints("slice_sizes")
	if d, ok := e.onlyCut(op, e.m.Shape(x), sizes, 1); ok {
		return call("lax.dynamic_slice_in_dim", e.ref(x), e.startIndex(e.m.Operand(op, 1+d)), number(sizes[d]),
			keyword("axis", number(int64(d)))), nil
	}
	fn, starts := e.starts("dynamic_slice", op, 1)
	return e.helper(fn, e.ref(x), starts, ints(sizes)), nil
}

func (e *emitter) dynamicUpdateSlice(op ir.OpID) (*expr, error) {
	x, update := e.m.Operand(op, 0), e.m.Operand(op, 1)
	if d, ok := e.onlyCut(op, e.m.Shape(x), e.m.Shape(update), 2); ok {
		return call("lax.dynamic_update_slice_in_dim", e.ref(x), e.ref(update), e.startIndex(e.m.Operand(op, 2+d)),
			keyword("axis", number(int64(d)))), nil
	}
	fn, starts := e.starts("dynamic_update_slice", op, 2)
	return e.helper(fn, e.ref(x), e.ref(update), starts), nil
}

// vectors returns the start indices with their vectors along the last dimension, where JAX has them.
func (e *emitter) vectors(v ir.ValueID, at int64) *expr {
	x, rank := e.ref(v), int64(len(e.m.Shape(v)))
	switch at {
	case rank - 1:
		return x
	case rank:
		return atom(x.String() + "[..., None]")
	}
	return call("jnp.moveaxis", x, number(at), atom("-1"))
}

func (e *emitter) gather(op ir.OpID) (*expr, error) {
	m, a := e.m, e.m.OpAttrs(op)
	d, ok := a.Get("dimension_numbers").(*ir.GatherDims)
	if !ok {
		return nil, e.invalid(op, "dimension_numbers")
	}
	sizes := a.Ints("slice_sizes")
	if m.Kind(op) == ir.OpDynamicGather {
		if sizes, ok = e.constantInts(m.Operand(op, 2)); !ok {
			return nil, e.unsupported(op, "JAX needs slice sizes that are constants")
		}
	}
	dims := call("lax.GatherDimensionNumbers", keyword("offset_dims", ints(d.Offset)),
		keyword("collapsed_slice_dims", ints(d.Collapsed)), keyword("start_index_map", ints(d.StartIndexMap)))
	if len(d.OperandBatch) > 0 {
		dims.items = append(dims.items, keyword("operand_batching_dims", ints(d.OperandBatch)),
			keyword("start_indices_batching_dims", ints(d.IndicesBatch)))
	}
	out := call("lax.gather", e.ref(m.Operand(op, 0)), e.vectors(m.Operand(op, 1), d.IndexVectorDim), dims, ints(sizes))
	if a.Bool("indices_are_sorted") {
		out.items = append(out.items, keyword("indices_are_sorted", truth(true)))
	}
	out.items = append(out.items, keyword("mode", atom(`"clip"`)))
	return out, nil
}

// scatters are the functions for regions that apply one op to the old and the new element, or return the new one.
var scatters = map[ir.Kind]string{ir.OpUnregistered: "lax.scatter", ir.OpAdd: "lax.scatter_add", ir.OpMultiply: "lax.scatter_mul",
	ir.OpMaximum: "lax.scatter_max", ir.OpMinimum: "lax.scatter_min"}

func (e *emitter) scatter(op ir.OpID) error {
	m, a := e.m, e.m.OpAttrs(op)
	d, ok := a.Get("scatter_dimension_numbers").(*ir.ScatterDims)
	if !ok {
		return e.invalid(op, "scatter_dimension_numbers")
	}
	n := (m.NumOperands(op) - 1) / 2
	operands := m.Operands(op)
	types := e.regionTypes(op, 0)
	dims := call("lax.ScatterDimensionNumbers", keyword("update_window_dims", ints(d.UpdateWindow)),
		keyword("inserted_window_dims", ints(d.InsertedWindow)), keyword("scatter_dims_to_operand_dims", ints(d.ToOperand)))
	if len(d.InputBatch) > 0 {
		dims.items = append(dims.items, keyword("operand_batching_dims", ints(d.InputBatch)),
			keyword("scatter_indices_batching_dims", ints(d.IndicesBatch)))
	}
	indices := e.vectors(operands[n], d.IndexVectorDim)
	fn := ""
	if n == 1 {
		kind, ok := ir.ReducerOf(m, op, 0, ir.Computed)
		if ok && (types[0] != dtype.I1 || kind == ir.OpUnregistered) {
			fn = scatters[kind]
		}
	}
	if fn == "" {
		return e.scatterWith(op, types, n, indices, dims)
	}
	args := []*expr{e.cast(operands[0], types[0]), indices, e.cast(operands[2], types[0]), dims}
	for _, name := range []string{"indices_are_sorted", "unique_indices"} {
		if a.Bool(name) {
			args = append(args, keyword(name, truth(true)))
		}
	}
	e.define(op, call(fn, append(args, keyword("mode", atom(`"drop"`)))...))
	return nil
}

// scatterWith scatters with a region that JAX has no function for.
func (e *emitter) scatterWith(op ir.OpID, types []dtype.Type, n int, indices, dims *expr) error {
	combine, err := e.function("combine", op, 0)
	if err != nil {
		return err
	}
	var olds, news []*expr
	for k := range n {
		olds = append(olds, e.cast(e.m.Operand(op, k), types[k]))
		news = append(news, e.cast(e.m.Operand(op, n+1+k), types[k]))
	}
	e.assign(op, e.helper("scatter_with", combine, tuple(olds...), indices, tuple(news...), dims), e.m.ResultValues(op)...)
	return nil
}

// regionTypes returns the element types that a reduction's region computes in: those of the first half of its
// arguments.
func (e *emitter) regionTypes(op ir.OpID, region int) []dtype.Type {
	args := e.m.BlockArgs(e.m.RegionBlock(op, region))
	return lists.Of(len(args)/2, func(i int) dtype.Type { return e.m.ValueType(args[i]).DType })
}

func (e *emitter) torchIndexSelect(op ir.OpID) (*expr, error) {
	a := e.m.OpAttrs(op)
	return e.helper("take_along", e.ref(e.m.Operand(op, 0)), e.ref(e.m.Operand(op, 1)),
		number(a.Int("dim", 0)), number(a.Int("batch_dims", 0))), nil
}

// sort uses lax.sort where the comparator orders by the first operands in ascending order, as JAX's own comparators do.
func (e *emitter) sort(op ir.OpID) error {
	m, a := e.m, e.m.OpAttrs(op)
	d, rank := a.Int("dimension", -1), int64(len(m.Shape(m.Operand(op, 0))))
	if d < 0 {
		d += rank
	}
	values := e.bundle(m.Operands(op))
	if keys := e.sortKeys(m.RegionBlock(op, 0)); keys > 0 {
		args := []*expr{values, keyword("dimension", number(d))}
		if keys > 1 {
			args = append(args, keyword("num_keys", number(int64(keys))))
		}
		if m.NumOperands(op) > 1 && !a.Bool("is_stable") {
			args = append(args, keyword("is_stable", atom("False")))
		}
		e.assign(op, call("lax.sort", args...), m.ResultValues(op)...)
		return nil
	}
	less, err := e.function("less", op, 0)
	if err != nil {
		return err
	}
	e.assign(op, e.helper("sort_with", less, tuple(e.refs(op)...), number(d)), m.ResultValues(op)...)
	return nil
}

// sortKeys returns how many operands, from the first on, a comparator orders by as lax.sort does: ascending, floats in JAX's
// canonical form. It returns 0 for other comparators.
func (e *emitter) sortKeys(b ir.BlockID) int {
	keys := ir.SortKeys(e.m, b)
	for k, key := range keys {
		floats := e.m.ValueType(e.m.BlockArgs(b)[2*k]).DType.Kind() == dtype.Float
		if key.Operand != k || key.Descending || floats && !key.Canonical {
			return 0
		}
	}
	return len(keys)
}
