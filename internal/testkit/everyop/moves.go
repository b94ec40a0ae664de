package everyop

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
)

var moveOps = family{
	ir.OpBroadcast: (*drawing).broadcast, ir.OpBroadcastInDim: (*drawing).broadcastInDim, ir.OpConcatenate: (*drawing).concatenate,
	ir.OpConstant: (*drawing).constants, ir.OpIota: (*drawing).iota, ir.OpPad: (*drawing).pad, ir.OpReshape: (*drawing).reshape,
	ir.OpReverse: (*drawing).reverse, ir.OpSlice: (*drawing).slice, ir.OpTranspose: (*drawing).transpose,
	ir.OpGetDimensionSize: (*drawing).dimensionSize, ir.OpChloConstant: (*drawing).constants, ir.OpChloConstantLike: (*drawing).constantLike,
}

// dynamicOps are the same of sizes that operands hold: constants, of which the types of the results follow.
var dynamicOps = family{
	ir.OpDynamicBroadcastInDim: (*drawing).broadcastInDim, ir.OpDynamicIota: (*drawing).iota, ir.OpDynamicPad: (*drawing).pad,
	ir.OpDynamicReshape: (*drawing).reshape, ir.OpRealDynamicSlice: (*drawing).slice, ir.OpChloDynamicReshape: (*drawing).reshape,
	ir.OpChloReshapeDynamic: (*drawing).reshape, ir.OpChloConstantWithShape: (*drawing).constantWithShape,
}

func (d *drawing) broadcast(k ir.Kind) {
	d.emit(k, attrs("broadcast_sizes", ir.Ints(d.shape(0, 2))), d.moved(0, 3))
}

// broadcastInDim puts the dimensions of an operand, some of size one, among others, in any order.
func (d *drawing) broadcastInDim(k ir.Kind) {
	x := d.moved(0, 3)
	dims := d.m.Shape(x)
	rank := len(dims) + int(d.between(0, 2, "new dimensions"))
	at := d.permutation(rank)[:len(dims)]
	out := each(rank, func(int) int64 { return d.some() })
	a := attrs("broadcast_dimensions", ir.Ints(at))
	var expanding, others []int64
	for i, to := range at {
		if dims[i] != 1 {
			out[to] = dims[i]
			others = append(others, int64(i))
		} else {
			expanding = append(expanding, int64(i))
		}
	}
	t := d.m.TensorType(d.typeOf(x), out...)
	if k == ir.OpBroadcastInDim {
		d.typed(k, t, a, x)
		return
	}
	if d.odds("said", 2) {
		a = a.With("known_expanding_dimensions", ir.Ints(expanding)).With("known_nonexpanding_dimensions", ir.Ints(others))
	}
	d.typed(k, t, a, x, d.sizes(out))
}

func (d *drawing) concatenate(k ir.Kind) {
	x := d.moved(1, 4)
	dims, at := d.m.Shape(x), d.between(0, int64(len(d.m.Shape(x)))-1, "dimension")
	parts := []ir.ValueID{x}
	for range d.between(0, 2, "more") {
		other := slices.Clone(dims)
		other[at] = d.size()
		parts = append(parts, d.like(d.m.TensorType(d.typeOf(x), other...)))
	}
	d.emit(k, attrs("dimension", d.m.I64(at)), parts...)
}

func (d *drawing) constants(k ir.Kind) {
	e, dims := d.drawType(isAny), d.shape(0, 3)
	t := d.m.TensorType(e, dims...)
	d.typed(k, t, attrs("value", d.m.Dense(t, d.tensorOf(e, dims, anything).Data)))
}

// constantLike repeats a number in the shape of an operand.
func (d *drawing) constantLike(k ir.Kind) {
	x := d.any(isNumber, 0, 3)
	e := d.typeOf(x)
	var value ir.Attr
	switch {
	case isFloat(e):
		value = ir.FloatAttr{Bits: d.float(e), Type: d.m.ScalarType(e)}
	case isComplex(e):
		value = d.m.Dense(d.m.TensorType(e), d.tensorOf(e, nil, anything).Data)
	default:
		value = ir.IntAttr{Value: dtype.Wrap(e, d.integer(e, anything)), Type: d.m.ScalarType(e)}
	}
	d.typed(k, d.m.Type(x), attrs("value", value), x)
}

func (d *drawing) constantWithShape(k ir.Kind) {
	e, dims := d.drawType(isNumber), d.shape(0, 3)
	t := d.m.TensorType(e)
	d.typed(k, d.m.TensorType(e, dims...), attrs("value", d.m.Dense(t, d.tensorOf(e, nil, anything).Data)), d.sizes(dims))
}

func (d *drawing) iota(k ir.Kind) {
	dims := d.shape(1, 3)
	at := d.between(0, int64(len(dims))-1, "dimension")
	dims[at] = pick(d, []int64{dims[at], dims[at], 20, 40}, "long") // more than narrow types count
	t := d.m.TensorType(d.drawType(func(e dtype.Type) bool { return isNumber(e) && !Lacking(e) }), dims...)
	a := attrs("iota_dimension", d.m.I64(at))
	if k == ir.OpIota {
		d.typed(k, t, a)
		return
	}
	d.typed(k, t, a, d.sizes(dims))
}

// pad draws edges, negative ones, too, and what is between elements.
func (d *drawing) pad(k ir.Kind) {
	x := d.moved(0, 3)
	dims := d.m.Shape(x)
	inner := each(len(dims), func(int) int64 { return max(0, d.between(-1, 2, "interior")) })
	low := each(len(dims), func(int) int64 { return d.between(-2, 3, "low") })
	out := make([]int64, len(dims))
	high := each(len(dims), func(i int) int64 {
		size := low[i] + dims[i] + max(dims[i]-1, 0)*inner[i]
		high := max(-size, d.between(-2, 3, "high"))
		out[i] = size + high
		return high
	})
	value := d.scalar(x, anything)
	if k == ir.OpPad {
		d.emit(k, attrs("edge_padding_low", ir.Ints(low), "edge_padding_high", ir.Ints(high), "interior_padding", ir.Ints(inner)), x, value)
		return
	}
	l, h, i := d.sizes(low), d.sizes(high), d.sizes(inner)
	if t := d.m.Type(l); d.m.Type(h) == t && d.m.Type(i) == t {
		d.typed(k, d.m.TensorType(d.typeOf(x), out...), nil, x, value, l, h, i)
	}
}

func (d *drawing) reshape(k ir.Kind) {
	x := d.moved(0, 4)
	n := lists.Product(d.m.Shape(x))
	out := []int64{}
	for rest := n; len(out) < 3 && (rest > 1 || d.odds("more dimensions", 3)); {
		by := pick(d, lists.Filter([]int64{1, 2, 3, 4, 5, 6, 7, rest}, func(s int64) bool { return rest%max(s, 1) == 0 }), "size")
		out, rest = append(out, by), rest/max(by, 1)
	}
	if rest := n / max(1, lists.Product(out)); rest != 1 {
		out = append(out, rest)
	}
	operands := []ir.ValueID{x}
	if k != ir.OpReshape {
		operands = append(operands, d.sizes(out))
	}
	d.typed(k, d.m.TensorType(d.typeOf(x), out...), nil, operands...)
}

func (d *drawing) reverse(k ir.Kind) {
	x := d.moved(0, 4)
	d.emit(k, attrs("dimensions", ir.Ints(d.subset(len(d.m.Shape(x)), "reversed"))), x)
}

func (d *drawing) slice(k ir.Kind) {
	x := d.moved(0, 4)
	dims := d.m.Shape(x)
	start := each(len(dims), func(i int) int64 { return d.between(0, dims[i], "start") })
	limit := each(len(dims), func(i int) int64 { return d.between(start[i], dims[i], "limit") })
	strides := each(len(dims), func(int) int64 { return d.between(1, 3, "stride") })
	if k == ir.OpSlice {
		d.emit(k, attrs("start_indices", ir.Ints(start), "limit_indices", ir.Ints(limit), "strides", ir.Ints(strides)), x)
		return
	}
	out := each(len(dims), func(i int) int64 { return (limit[i] - start[i] + strides[i] - 1) / strides[i] })
	s, l, by := d.sizes(start), d.sizes(limit), d.sizes(strides)
	if t := d.m.Type(s); d.m.Type(l) == t && d.m.Type(by) == t {
		d.typed(k, d.m.TensorType(d.typeOf(x), out...), nil, x, s, l, by)
	}
}

func (d *drawing) transpose(k ir.Kind) {
	x := d.moved(0, 4)
	d.emit(k, attrs("permutation", ir.Ints(d.permutation(len(d.m.Shape(x))))), x)
}

func (d *drawing) dimensionSize(k ir.Kind) {
	x := d.moved(1, 4)
	v := d.emit(k, attrs("dimension", d.m.I64(d.between(0, int64(len(d.m.Shape(x)))-1, "dimension"))), x)
	delete(d.rounded, v)
}

// isIndex says whether indices may have a type.
func isIndex(e dtype.Type) bool { return isInteger(e) && e.Bits() >= 8 }
