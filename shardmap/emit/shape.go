package emit

import (
	"fmt"
	"slices"
	"strings"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

func shapeOps() map[ir.Kind]handler {
	return map[ir.Kind]handler{
		ir.OpConstant:              single((*emitter).constantOp),
		ir.OpSdyConstant:           single((*emitter).constantOp),
		ir.OpIota:                  single((*emitter).iota),
		ir.OpDynamicIota:           single((*emitter).iota),
		ir.OpBroadcast:             single((*emitter).broadcast),
		ir.OpBroadcastInDim:        single((*emitter).broadcastInDim),
		ir.OpDynamicBroadcastInDim: single((*emitter).broadcastInDim),
		ir.OpReshape:               single((*emitter).reshape),
		ir.OpDynamicReshape:        single((*emitter).reshape),
		ir.OpChloDynamicReshape:    single((*emitter).reshape),
		ir.OpChloReshapeDynamic:    single((*emitter).reshape),
		ir.OpTranspose:             single((*emitter).transpose),
		ir.OpSlice:                 single((*emitter).slice),
		ir.OpRealDynamicSlice:      single((*emitter).realDynamicSlice),
		ir.OpConcatenate:           single((*emitter).concatenate),
		ir.OpReverse:               single((*emitter).reverse),
		ir.OpPad:                   single((*emitter).pad),
		ir.OpDynamicPad:            single((*emitter).pad),
		ir.OpGetDimensionSize:      single((*emitter).dimensionSize),
		ir.OpSetDimensionSize:      (*emitter).setDimensionSize,
	}
}

// resultDims returns the dimensions of an op's first result.
func (e *emitter) resultDims(op ir.OpID) []int64 { return e.m.Shape(e.m.Result(op, 0)) }

func (e *emitter) constantOp(op ir.OpID) (*expr, error) {
	d, ok := e.m.Attr(op, "value").(*ir.Dense)
	if !ok {
		return nil, e.unsupported(op, "a constant of this kind has no form in JAX")
	}
	return e.dense(op, d)
}

func (e *emitter) iota(op ir.OpID) (*expr, error) {
	t := e.m.ValueType(e.m.Result(op, 0))
	d := e.m.OpAttrs(op).Int("iota_dimension", 0)
	count := t.DType
	plain := (count.Kind() == dtype.Float || count.Kind() == dtype.Signed || count.Kind() == dtype.Unsigned) && count.Bits() >= 16
	if !plain {
		count = dtype.I32
	}
	x := call("lax.broadcasted_iota", e.dtypeOf(count), ints(t.Dims), number(d))
	if len(t.Dims) == 1 {
		x = call("jnp.arange", number(t.Dims[0]), keyword("dtype", e.dtypeOf(count)))
	}
	if !plain {
		return method(x, "astype", e.dtypeOf(t.DType)), nil
	}
	return x, nil
}

// broadcast adds dimensions in front.
func (e *emitter) broadcast(op ir.OpID) (*expr, error) {
	return call("jnp.broadcast_to", e.ref(e.m.Operand(op, 0)), ints(e.resultDims(op))), nil
}

func (e *emitter) broadcastInDim(op ir.OpID) (*expr, error) {
	v := e.m.Operand(op, 0)
	dims, shape := e.m.OpAttrs(op).Ints("broadcast_dimensions"), e.resultDims(op)
	if len(dims) != len(e.m.Shape(v)) {
		return nil, e.invalid(op, "broadcast_dimensions")
	}
	x, sizes := e.ref(v), slices.Clone(e.m.Shape(v))
	if !slices.IsSorted(dims) {
		order := lists.Range[int64](len(dims))
		slices.SortFunc(order, func(a, b int64) int { return int(dims[a] - dims[b]) })
		for k, from := range order {
			sizes[k] = e.m.Shape(v)[from]
		}
		x, dims = method(x, "transpose", lists.Map(order, number)...), slices.Sorted(slices.Values(dims))
	}
	x = atom(x.String() + newAxes(dims, len(shape)))
	if indexGives(sizes, dims, shape) {
		return x, nil
	}
	return call("jnp.broadcast_to", x, ints(shape)), nil
}

// indexGives says whether new axes alone make a shape of an array of these sizes.
func indexGives(sizes, dims, shape []int64) bool {
	if newAxes(dims, len(shape)) == "" || dims[0] != 0 {
		return false
	}
	for d, n := range shape {
		k := slices.Index(dims, int64(d))
		if k < 0 && n != 1 || k >= 0 && sizes[k] != n {
			return false
		}
	}
	return true
}

func (e *emitter) reshape(op ir.OpID) (*expr, error) {
	dims := e.resultDims(op)
	if len(dims) == 0 {
		return method(e.ref(e.m.Operand(op, 0)), "reshape", tuple()), nil
	}
	return method(e.ref(e.m.Operand(op, 0)), "reshape", lists.Map(dims, number)...), nil
}

func (e *emitter) transpose(op ir.OpID) (*expr, error) {
	perm := e.m.OpAttrs(op).Ints("permutation")
	x := e.ref(e.m.Operand(op, 0))
	if slices.Equal(perm, []int64{1, 0}) {
		return atom(x.String() + ".T"), nil
	}
	if len(perm) == 0 {
		return x, nil
	}
	return method(x, "transpose", lists.Map(perm, number)...), nil
}

// slice uses Python's own notation.
func (e *emitter) slice(op ir.OpID) (*expr, error) {
	a := e.m.OpAttrs(op)
	return e.sliced(op, a.Ints("start_indices"), a.Ints("limit_indices"), a.Ints("strides"))
}

func (e *emitter) sliced(op ir.OpID, start, limit, strides []int64) (*expr, error) {
	dims := e.m.Shape(e.m.Operand(op, 0))
	if len(start) != len(dims) || len(limit) != len(dims) || len(strides) != len(dims) {
		return nil, e.invalid(op, "start_indices")
	}
	x := e.ref(e.m.Operand(op, 0))
	if len(dims) == 0 {
		return x, nil
	}
	parts := make([]string, len(dims))
	for d, n := range dims {
		text := ":"
		if start[d] != 0 {
			text = fmt.Sprint(start[d]) + text
		}
		if limit[d] != n {
			text += fmt.Sprint(limit[d])
		}
		if strides[d] != 1 {
			text += fmt.Sprintf(":%d", strides[d])
		}
		parts[d] = text
	}
	for len(parts) > 1 && parts[len(parts)-1] == ":" {
		parts = parts[:len(parts)-1]
	}
	return atom(x.String() + "[" + strings.Join(parts, ", ") + "]"), nil
}

// realDynamicSlice has bounds as operands, which have to be constants, or a start and the size of the result.
func (e *emitter) realDynamicSlice(op ir.OpID) (*expr, error) {
	start, ok1 := e.constantInts(e.m.Operand(op, 1))
	limit, ok2 := e.constantInts(e.m.Operand(op, 2))
	strides, ok3 := e.constantInts(e.m.Operand(op, 3))
	switch {
	case ok1 && ok2 && ok3:
		return e.sliced(op, start, limit, strides)
	case ok3 && !slices.ContainsFunc(strides, func(s int64) bool { return s != 1 }):
		return call("lax.dynamic_slice", e.ref(e.m.Operand(op, 0)), e.ref(e.m.Operand(op, 1)), ints(e.resultDims(op))), nil
	}
	return nil, e.unsupported(op, "JAX needs bounds and strides that are constants")
}

// constantInts returns the elements of an integer constant.
func (e *emitter) constantInts(v ir.ValueID) ([]int64, bool) {
	v = e.root(v)
	op := e.m.DefiningOp(v)
	if op == 0 || e.m.Kind(op) != ir.OpConstant {
		return nil, false
	}
	d, ok := e.m.Attr(op, "value").(*ir.Dense)
	t := e.m.ValueType(v).DType
	if k := t.Kind(); !ok || k == dtype.Float || k == dtype.Complex || t.Bytes() == 0 {
		return nil, false
	}
	values, n := make([]int64, len(d.Data)/t.Bytes()), e.m.ValueType(v).Elements()
	for i := range values {
		values[i] = dtype.Wrap(t, int64(bitsAt(d.Data, t, i)))
	}
	if d.Splat && len(values) == 1 && n < 1<<16 {
		values = slices.Repeat(values, int(n))
	}
	return values, int64(len(values)) == n
}

func (e *emitter) concatenate(op ir.OpID) (*expr, error) {
	x := e.refs(op)
	if len(x) == 1 {
		return x[0], nil
	}
	return call("jnp.concatenate", list(x...), keyword("axis", number(e.m.OpAttrs(op).Int("dimension", 0)))), nil
}

func (e *emitter) reverse(op ir.OpID) (*expr, error) {
	return call("lax.rev", e.ref(e.m.Operand(op, 0)), ints(e.m.OpAttrs(op).Ints("dimensions"))), nil
}

func (e *emitter) pad(op ir.OpID) (*expr, error) {
	a := e.m.OpAttrs(op)
	low, high, inner := a.Ints("edge_padding_low"), a.Ints("edge_padding_high"), a.Ints("interior_padding")
	if e.m.Kind(op) == ir.OpDynamicPad {
		lists := [3][]int64{}
		for i := range lists {
			values, ok := e.constantInts(e.m.Operand(op, 2+i))
			if !ok {
				return nil, e.unsupported(op, "JAX needs paddings that are constants")
			}
			lists[i] = values
		}
		low, high, inner = lists[0], lists[1], lists[2]
	}
	rank := len(e.m.Shape(e.m.Operand(op, 0)))
	if len(low) != rank || len(high) != rank || len(inner) != rank {
		return nil, e.invalid(op, "edge_padding_low")
	}
	triples := lists.Of(rank, func(d int) *expr { return ints([]int64{low[d], high[d], inner[d]}) })
	return call("lax.pad", e.ref(e.m.Operand(op, 0)), e.ref(e.m.Operand(op, 1)), list(triples...)), nil
}

func (e *emitter) dimensionSize(op ir.OpID) (*expr, error) {
	d := e.m.OpAttrs(op).Int("dimension", 0)
	dims := e.m.Shape(e.m.Operand(op, 0))
	if d < 0 || d >= int64(len(dims)) {
		return nil, e.invalid(op, "dimension")
	}
	return e.full(e.m.ValueType(e.m.Result(op, 0)), fmt.Sprint(dims[d])), nil
}

// setDimensionSize accepts the size that the dimension has.
func (e *emitter) setDimensionSize(op ir.OpID) error {
	d := e.m.OpAttrs(op).Int("dimension", -1)
	dims := e.m.Shape(e.m.Operand(op, 0))
	size, ok := e.constantInts(e.m.Operand(op, 1))
	if !ok || d < 0 || d >= int64(len(dims)) || size[0] != dims[d] {
		return e.unsupported(op, "JAX has no arrays with dimensions that change")
	}
	return e.pass(op)
}
