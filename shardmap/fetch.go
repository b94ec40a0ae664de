package shardmap

import (
	"encoding/binary"
	"slices"

	"autoshard/collectives"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
	"autoshard/subaxis"
)

// fetcher brings this device what it needs of the blocks of others along one dimension of an operand (specification:
// localforms.md section 2.1).
type fetcher struct {
	*lowerer
	b    *ir.Builder
	op   ir.OpID // that reads the operand
	dim  int
	axes []subaxis.Ref
	fill ir.ValueID // a scalar that stands outside the dimension; 0 for zeros
}

// fetch replaces operands of an op, dimension by dimension, by what the local op needs of them, and returns which pieces those are.
// fill returns the scalar that surrounds an operand, 0 for zeros.
func (l *lowerer) fetch(op ir.OpID, fill func(operand int) ir.ValueID) []localform.Piece {
	m := l.m
	var out []localform.Piece
	for _, d := range l.dims(op) {
		cut := m.Result(op, 0)
		operand, dim := d.Cut()
		if operand >= 0 {
			cut = m.Operand(op, operand)
		}
		axes := l.axes(cut, dim)
		if len(axes) == 0 {
			continue
		}
		for _, p := range d.Pieces(subaxis.Product(axes)) {
			v := m.Operand(op, p.Operand)
			if !slices.Equal(l.axes(v, p.Dim), axes) {
				continue
			}
			f := &fetcher{l, m.BuilderBefore(op), op, p.Dim, axes, fill(p.Operand)}
			fetched := f.piece(v, &p)
			m.SetSharding(fetched, m.Sharding(v))
			m.SetOperand(op, p.Operand, fetched)
			out = append(out, p)
		}
	}
	return out
}

// dims returns the dimensions of an op whose turn it is along which elements may move. Its operands have their local types already.
func (l *lowerer) dims(op ir.OpID) []localform.Dim { return localform.Dims(l.m, op, l.whole(op)) }

// whole returns the sizes of whole tensors for an op whose turn it is.
func (l *lowerer) whole(op ir.OpID) func(ir.ValueID) []int64 {
	return func(v ir.ValueID) []int64 {
		if l.m.DefiningOp(v) == op {
			return l.m.Shape(v)
		}
		return l.global(v)
	}
}

// piece emits what the local op slides over.
func (f *fetcher) piece(v ir.ValueID, p *localform.Piece) ir.ValueID {
	v = f.exchange(v, p.Exchange())
	if p.At == nil {
		return v
	}
	return f.part(f.padded(v, 0, p.High, p.Dilation-1), p.At, p.Need)
}

// exchange emits the rows that a fetch brings this device.
func (f *fetcher) exchange(v ir.ValueID, x *localform.Exchange) ir.ValueID {
	switch x.Way {
	case localform.Direct:
		return f.round(v, x, 0)
	case localform.Placed:
		return f.part(f.place(f.filled(v, x.Width), v, x), x.At, x.Rows)
	}
	pieces := make([]ir.ValueID, 0, len(x.Rounds)+1)
	for i := range x.Rounds {
		pieces = append(pieces, f.round(v, x, i))
	}
	joined := f.joined(slices.Insert(pieces, x.Before, v))
	low, high := x.Padding()
	at := lists.Map(x.At, func(at int64) int64 { return at + low })
	return f.part(f.padded(joined, low, high, 0), at, x.Rows)
}

// round emits one permute of an exchange.
func (f *fetcher) round(v ir.ValueID, x *localform.Exchange, i int) ir.ValueID {
	m, r := f.m, &x.Rounds[i]
	sent := f.part(v, r.Send, r.Rows)
	if len(r.Pairs) == 0 {
		return f.filled(v, r.Rows)
	}
	out := f.b.Op1(ir.OpShardMapPpermute, m.Type(sent), f.along(f.axes).With("perm", Perm(r.Pairs)), sent)
	f.record(out, collectives.Permute, f.axes, sent, f.op)
	f.p.Collectives[len(f.p.Collectives)-1].Fetch = r.Pairs
	if !r.Filled {
		return out
	}
	direction, bound := "LT", -r.Distance
	if r.Distance > 0 {
		direction, bound = "GE", x.K-r.Distance
	}
	outside := f.b.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.CompareAttrs(direction, dtype.I32), f.axisIndex(f.axes),
		f.b.Integer(dtype.I32, bound))
	return f.b.Op1(ir.OpSelect, m.Type(out), nil, outside, f.filled(v, r.Rows), out)
}

// place writes this device's block, and those that it receives, into a buffer. What it receives from nobody, and what of its own block
// it does not need, goes where nobody looks.
func (f *fetcher) place(buffer, v ir.ValueID, x *localform.Exchange) ir.ValueID {
	buffer = f.put(buffer, v, x.Own)
	for i := range x.Rounds {
		buffer = f.put(buffer, f.round(v, x, i), x.Rounds[i].Put)
	}
	return buffer
}

// put writes rows into a buffer, from where on a table has by position.
func (f *fetcher) put(buffer, rows ir.ValueID, at []int64) ir.ValueID {
	starts := lists.Of(len(f.m.Shape(rows)), func(int) ir.ValueID { return f.b.Integer(dtype.I32, 0) })
	starts[f.dim] = f.look(at)
	return f.b.Op1(ir.OpDynamicUpdateSlice, f.m.Type(buffer), nil, append([]ir.ValueID{buffer, rows}, starts...)...)
}

// joined emits pieces one behind the other.
func (f *fetcher) joined(pieces []ir.ValueID) ir.ValueID {
	if len(pieces) == 1 {
		return pieces[0]
	}
	rows := int64(0)
	for _, v := range pieces {
		rows += f.m.Shape(v)[f.dim]
	}
	return f.b.Op1(ir.OpConcatenate, f.resized(pieces[0], rows), ir.MakeAttrs(ir.Named("dimension", f.m.I64(int64(f.dim)))), pieces...)
}

// padded emits a value with the fill before, behind and between its rows.
func (f *fetcher) padded(v ir.ValueID, low, high, inner int64) ir.ValueID {
	if low == 0 && high == 0 && inner == 0 {
		return v
	}
	rank, rows := len(f.m.Shape(v)), f.m.Shape(v)[f.dim]
	along := func(n int64) ir.Attr {
		list := make(ir.Ints, rank)
		list[f.dim] = n
		return list
	}
	attrs := ir.MakeAttrs(ir.Named("edge_padding_low", along(low)), ir.Named("edge_padding_high", along(high)),
		ir.Named("interior_padding", along(inner)))
	return f.b.Op1(ir.OpPad, f.resized(v, low+rows+(rows-1)*inner+high), attrs, v, f.scalar(v))
}

// part emits rows of a value from a start on that a table has by position.
func (f *fetcher) part(v ir.ValueID, at []int64, rows int64) ir.ValueID {
	dims := slices.Clone(f.m.Shape(v))
	same := !slices.ContainsFunc(at, func(x int64) bool { return x != at[0] })
	if same && rows == dims[f.dim] {
		return v
	}
	dims[f.dim] = rows
	if same {
		start, limit := make([]int64, len(dims)), dims
		start[f.dim], limit = at[0], slices.Clone(dims)
		limit[f.dim] = at[0] + rows
		return f.b.Op1(ir.OpSlice, f.resized(v, rows), ir.MakeAttrs(ir.Named("start_indices", ir.Ints(start)),
			ir.Named("limit_indices", ir.Ints(limit)), ir.Named("strides", ir.Ints(slices.Repeat([]int64{1}, len(dims))))), v)
	}
	starts := lists.Of(len(dims), func(int) ir.ValueID { return f.b.Integer(dtype.I32, 0) })
	starts[f.dim] = f.look(at)
	return f.b.Op1(ir.OpDynamicSlice, f.resized(v, rows), ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints(dims))),
		append([]ir.ValueID{v}, starts...)...)
}

// look emits what a table has for this device's position, as an i32 scalar: by arithmetic where the entries are as far apart as each
// other.
func (f *fetcher) look(table []int64) ir.ValueID {
	i32, first, step := f.m.TensorType(dtype.I32), table[0], table[len(table)-1]-table[0]
	if n := int64(len(table)) - 1; n > 0 {
		step /= n
	}
	for i, x := range table {
		if x != first+int64(i)*step {
			return f.tabled(table)
		}
	}
	if step == 0 {
		return f.b.Integer(dtype.I32, first)
	}
	v := f.axisIndex(f.axes)
	if step != 1 {
		v = f.b.Op1(ir.OpMultiply, i32, nil, v, f.b.Integer(dtype.I32, step))
	}
	if first != 0 {
		v = f.b.Op1(ir.OpAdd, i32, nil, v, f.b.Integer(dtype.I32, first))
	}
	return v
}

// tabled emits the look-up in a constant.
func (f *fetcher) tabled(table []int64) ir.ValueID {
	m := f.m
	elements, _ := binary.Append(nil, binary.LittleEndian, lists.Map(table, func(x int64) int32 { return int32(x) }))
	data := f.b.Constant(m.Dense(m.TensorType(dtype.I32, int64(len(table))), elements))
	one := f.b.Op1(ir.OpDynamicSlice, m.TensorType(dtype.I32, 1), ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints{1})), data, f.axisIndex(f.axes))
	return f.b.Op1(ir.OpReshape, m.TensorType(dtype.I32), nil, one)
}

// filled emits rows of the fill, in the other dimensions like a value.
func (f *fetcher) filled(v ir.ValueID, rows int64) ir.ValueID {
	m, t := f.m, f.resized(v, rows)
	fill := f.scalar(v)
	if op := m.DefiningOp(fill); op != 0 && m.Kind(op) == ir.OpConstant {
		splat := m.Attr(op, "value").(*ir.Dense)
		whole := *splat
		whole.Type, whole.Splat = t, true
		return f.b.Constant(&whole)
	}
	return f.broadcast(f.b, fill, m.TypeOf(t).Dims)
}

// scalar returns the fill.
func (f *fetcher) scalar(v ir.ValueID) ir.ValueID {
	if f.fill == 0 {
		f.fill = f.b.Constant(f.m.Zeros(f.m.TensorType(f.m.ValueType(v).DType)))
	}
	return f.fill
}

// resized returns the type of a value with another number of rows.
func (f *fetcher) resized(v ir.ValueID, rows int64) ir.TypeID {
	dims := slices.Clone(f.m.Shape(v))
	dims[f.dim] = rows
	return f.m.WithDims(f.m.Type(v), dims)
}
