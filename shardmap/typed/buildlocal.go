package typed

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// localName returns the name of an op of StableHLO or of shard_map programs without its dialect, that of others as a whole.
func localName(kind ir.Kind) string {
	if kind.IsShardMap() {
		return kind.ShardMapName()
	}
	return strings.TrimPrefix(kind.String(), "stablehlo.")
}

// Op adds any op of package ir with one result, of a type that does not follow from its operands.
func (b *Builder) Op(kind ir.Kind, result ir.TypeID, attrs ir.Attrs, operands ...ir.ValueID) ir.ValueID {
	if b.err != nil || slices.Contains(operands, 0) {
		return 0
	}
	return b.at.Op1(kind, result, attrs, operands...)
}

// Local adds an op of package ir with one result, whose type follows from operands and attributes (ir.Infer).
func (b *Builder) Local(kind ir.Kind, attrs ir.Attrs, operands ...ir.ValueID) ir.ValueID {
	if b.err != nil || slices.Contains(operands, 0) {
		return 0
	}
	types, err := ir.Infer(b.m, kind, operands, attrs)
	if err != nil {
		return b.badOp(kind, operands, err.Error())
	}
	return b.at.Op1(kind, types[0], attrs, operands...)
}

// Constant returns a constant of that shape; one value fills it.
func (b *Builder) Constant(t dtype.Type, dims []int64, values ...float64) ir.ValueID {
	if b.err != nil {
		return 0
	}
	typ := b.m.TensorType(t, dims...)
	if n := int64(len(values)); n != 1 && n != b.m.TypeOf(typ).Elements() {
		return b.badOp(ir.OpConstant, nil, itoa(n)+" values for "+formatType(b.m.TypeOf(typ)))
	}
	var data []byte
	for _, v := range values {
		data = appendElement(data, t, v)
	}
	return b.at.Constant(&ir.Dense{Type: typ, Data: data, Splat: len(values) == 1})
}

// appendElement appends the bytes of one element.
func appendElement(data []byte, t dtype.Type, v float64) []byte {
	var bits uint64
	switch t.Kind() {
	case dtype.Float:
		bits = dtype.Encode(t, v)
	case dtype.Complex:
		if t == dtype.C64 {
			bits = uint64(math.Float32bits(float32(v)))
			return append(binary.LittleEndian.AppendUint32(data, uint32(bits)), 0, 0, 0, 0)
		}
		return append(binary.LittleEndian.AppendUint64(data, math.Float64bits(v)), make([]byte, 8)...)
	default:
		switch {
		case v < 0:
			bits = uint64(int64(v))
		case v >= 1<<64:
			bits = math.MaxUint64
		case v >= 1<<63 && t.Kind() == dtype.Signed:
			bits = math.MaxInt64
		default:
			bits = uint64(v)
		}
	}
	return append(data, binary.LittleEndian.AppendUint64(nil, bits)[:t.Bytes()]...)
}

// Unary adds an elementwise op of one operand whose result has the operand's type.
func (b *Builder) Unary(kind ir.Kind, x ir.ValueID) ir.ValueID {
	return b.Local(kind, nil, x)
}

// Binary adds an elementwise op. A scalar operand is broadcast to the shape of the other one.
func (b *Builder) Binary(kind ir.Kind, x, y ir.ValueID) ir.ValueID {
	if b.level(&x, &y); b.err != nil || x == 0 || y == 0 {
		return 0
	}
	if b.m.Type(x) != b.m.Type(y) {
		return b.badOp(kind, []ir.ValueID{x, y}, "operands differ in type; broadcast or convert one of them")
	}
	return b.Op(kind, b.m.Type(x), nil, x, y)
}

// level broadcasts the scalars among the values to the shape of the others.
func (b *Builder) level(values ...*ir.ValueID) {
	if b.err != nil {
		return
	}
	var dims []int64
	for _, v := range values {
		if *v != 0 && len(b.m.Shape(*v)) > len(dims) {
			dims = b.m.Shape(*v)
		}
	}
	for _, v := range values {
		if *v != 0 && len(b.m.Shape(*v)) == 0 && len(dims) > 0 {
			*v = b.Broadcast(*v, dims)
		}
	}
}

// Compare returns whether x stands in a relation to y: EQ, NE, LT, LE, GT or GE. Scalars are broadcast.
func (b *Builder) Compare(direction string, x, y ir.ValueID) ir.ValueID {
	if b.level(&x, &y); b.err != nil || x == 0 || y == 0 {
		return 0
	}
	return b.Local(ir.OpCompare, ir.CompareAttrs(direction, b.m.ValueType(x).DType), x, y)
}

// Select returns elements of x where p holds and of y elsewhere. Scalars are broadcast.
func (b *Builder) Select(p, x, y ir.ValueID) ir.ValueID {
	b.level(&p, &x, &y)
	return b.Local(ir.OpSelect, nil, p, x, y)
}

// Convert changes the element type.
func (b *Builder) Convert(x ir.ValueID, t dtype.Type) ir.ValueID {
	if b.err != nil || x == 0 {
		return 0
	}
	return b.Op(ir.OpConvert, b.m.TensorType(t, b.m.Shape(x)...), nil, x)
}

// Reshape keeps the elements in row-major order.
func (b *Builder) Reshape(x ir.ValueID, dims ...int64) ir.ValueID {
	if b.err != nil || x == 0 {
		return 0
	}
	return b.Op(ir.OpReshape, b.m.WithDims(b.m.Type(x), dims), nil, x)
}

// Broadcast puts dimension k of x in dimension places[k] of the result and repeats it along the others.
func (b *Builder) Broadcast(x ir.ValueID, dims []int64, places ...int64) ir.ValueID {
	if b.err != nil || x == 0 {
		return 0
	}
	return b.Op(ir.OpBroadcastInDim, b.m.WithDims(b.m.Type(x), dims), ir.MakeAttrs(ir.Named("broadcast_dimensions", i64s(places))), x)
}

// Transpose puts dimension perm[k] in place k.
func (b *Builder) Transpose(x ir.ValueID, perm ...int64) ir.ValueID {
	return b.Local(ir.OpTranspose, ir.MakeAttrs(ir.Named("permutation", i64s(perm))), x)
}

// Slice returns elements from start to limit, every stride-th; strides may be nil.
func (b *Builder) Slice(x ir.ValueID, start, limit, strides []int64) ir.ValueID {
	if strides == nil {
		strides = slices.Repeat([]int64{1}, len(start))
	}
	return b.Local(ir.OpSlice, ir.MakeAttrs(ir.Named("start_indices", i64s(start)), ir.Named("limit_indices", i64s(limit)),
		ir.Named("strides", i64s(strides))), x)
}

// DynamicSlice returns the window of those sizes that begins at the scalars in index.
func (b *Builder) DynamicSlice(x ir.ValueID, sizes []int64, index ...ir.ValueID) ir.ValueID {
	return b.Local(ir.OpDynamicSlice, ir.MakeAttrs(ir.Named("slice_sizes", i64s(sizes))), append([]ir.ValueID{x}, index...)...)
}

// DynamicUpdateSlice replaces the window that begins at the scalars in index.
func (b *Builder) DynamicUpdateSlice(x, update ir.ValueID, index ...ir.ValueID) ir.ValueID {
	return b.Local(ir.OpDynamicUpdateSlice, nil, append([]ir.ValueID{x, update}, index...)...)
}

// Pad puts value around and between the elements.
func (b *Builder) Pad(x, value ir.ValueID, low, high, interior []int64) ir.ValueID {
	return b.Local(ir.OpPad, ir.MakeAttrs(ir.Named("edge_padding_low", i64s(low)), ir.Named("edge_padding_high", i64s(high)),
		ir.Named("interior_padding", i64s(interior))), x, value)
}

// Concatenate joins values along a dimension.
func (b *Builder) Concatenate(dim int64, xs ...ir.ValueID) ir.ValueID {
	return b.Local(ir.OpConcatenate, ir.MakeAttrs(ir.Named("dimension", b.m.I64(dim))), xs...)
}

// Dot contracts and batches dimensions; the result has the batch dimensions, then the rest of x, then the rest of y.
func (b *Builder) Dot(x, y ir.ValueID, dims ir.DotDims) ir.ValueID {
	return b.Local(ir.OpDotGeneral, ir.MakeAttrs(ir.Named("dot_dimension_numbers", &dims)), x, y)
}

// Reduce folds dimensions with an elementwise op from its neutral element: OpAdd, OpMultiply, OpMaximum, OpMinimum,
// OpAnd or OpOr.
func (b *Builder) Reduce(kind ir.Kind, x ir.ValueID, dims ...int64) ir.ValueID {
	if b.err != nil || x == 0 {
		return 0
	}
	t := b.m.ValueType(x).DType
	init := b.Constant(t, nil, neutral(kind, t))
	attrs := ir.MakeAttrs(ir.Named("dimensions", i64s(dims)))
	types, err := ir.Infer(b.m, ir.OpReduce, []ir.ValueID{x, init}, attrs)
	if err != nil {
		return b.badOp(ir.OpReduce, []ir.ValueID{x, init}, err.Error())
	}
	return b.Folded(ir.OpReduce, types[0], attrs, kind, x, init)
}

// Sort orders arrays of one shape along a dimension together: before tells from the elements of two places, one of each
// array, whether the first place comes first. A stable sort keeps the order of places of which neither comes first.
func (b *Builder) Sort(dim int64, stable bool, before func(x, y []ir.ValueID) ir.ValueID, xs ...ir.ValueID) []ir.ValueID {
	none := make([]ir.ValueID, len(xs))
	if b.err != nil || slices.Contains(xs, 0) {
		return none
	}
	region := b.m.DetachedRegion()
	var args []ir.TypeID
	for _, x := range xs { // pairs of elements of one array stand next to each other
		t := b.m.TensorType(b.m.ValueType(x).DType)
		args = append(args, t, t)
	}
	b.inside(region, args, func(v []ir.ValueID) []ir.ValueID {
		var x, y []ir.ValueID
		for k := 0; k < len(v); k += 2 {
			x, y = append(x, v[k]), append(y, v[k+1])
		}
		return []ir.ValueID{before(x, y)}
	})
	if b.err != nil {
		return none
	}
	attrs := ir.MakeAttrs(ir.Named("dimension", b.m.I64(dim)), ir.Named("is_stable", ir.BoolAttr(stable)))
	op := b.at.Op(ir.OpSort, b.m.TypesOf(xs), attrs, xs...)
	b.m.AdoptRegions(op, []ir.RegionID{region})
	return b.m.ResultValues(op)
}

// neutral returns the element that changes nothing.
func neutral(kind ir.Kind, t dtype.Type) float64 {
	low, high := math.Inf(-1), math.Inf(1)
	if t.Kind() != dtype.Float && t.Kind() != dtype.Complex {
		lo, hi := dtype.IntRange(t)
		low, high = float64(lo), float64(hi)
	}
	switch kind {
	case ir.OpMultiply, ir.OpAnd:
		return 1
	case ir.OpMaximum:
		return low
	case ir.OpMinimum:
		return high
	}
	return 0
}
