package shardmap

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
	"autoshard/subaxis"
)

// gather reads whole blocks of dimensions that it slices in full. Dimensions that it indexes may be cut too: each
// device reads the rows it has and contributes zeros for the others; an all-reduce follows.
func (l *lowerer) gather(op ir.OpID) error {
	m := l.m
	dims := m.Attr(op, "dimension_numbers").(*ir.GatherDims)
	operand := m.Operand(op, 0)
	sizes := slices.Clone(m.OpAttrs(op).Ints("slice_sizes"))
	at := l.indexing(op, operand, dims.StartIndexMap, dims.IndexVectorDim)
	for d := range sizes {
		axes := l.axes(operand, d)
		if len(axes) == 0 || slices.Contains(dims.OperandBatch, int64(d)) {
			continue
		}
		if whole := m.Shape(operand)[d] * subaxis.Product(axes); sizes[d] == whole {
			sizes[d] = m.Shape(operand)[d]
			continue
		}
		if at.cut(d); sizes[d] > 1 { // slices begin in the block and may end behind it
			f := &fetcher{lowerer: l, b: at.b, op: op, dim: d, axes: axes}
			behind := localform.Behind(m.Shape(operand)[d]*subaxis.Product(axes), subaxis.Product(axes), sizes[d]-1)
			longer := f.exchange(m.Operand(op, 0), behind.Exchange())
			m.SetSharding(longer, m.Sharding(operand))
			m.SetOperand(op, 0, longer)
		}
	}
	at.sizes = sizes
	m.SetAttrs(op, m.OpAttrs(op).With("slice_sizes", ir.Ints(sizes)))
	l.results(op)
	if at.any {
		at.clampWhole()
		m.SetOperand(op, 1, at.shift())
		l.mask(op, at.inside(), dims.Offset)
	}
	return nil
}

// mask zeroes the slices of a gather whose index lies on another device. The mask has the batch dimensions.
func (l *lowerer) mask(op ir.OpID, inside ir.ValueID, offsetDims []int64) {
	m := l.m
	v := m.Result(op, 0)
	b := m.BuilderAfter(op)
	batch := ir.Ints(lists.Others(len(m.Shape(v)), offsetDims))
	mask := b.Op1(ir.OpBroadcastInDim, m.TensorType(dtype.I1, m.Shape(v)...),
		ir.MakeAttrs(ir.Named("broadcast_dimensions", batch)), inside)
	e := m.ValueType(v).DType
	zero := l.broadcast(b, b.Constant(m.Zeros(m.TensorType(e))), m.Shape(v))
	kept := b.Op1(ir.OpSelect, m.Type(v), nil, mask, v, zero)
	m.SetSharding(kept, m.Sharding(v))
	m.Divert(v, kept)
	l.p.Move(v, kept)
}

// indexing rewrites the index operand of a gather or scatter.
type indexing struct {
	l       *lowerer
	b       *ir.Builder
	operand int        // position of the index operand
	indices ir.ValueID // as rewritten so far
	source  ir.ValueID // the indexed tensor
	mapped  []int64    // its dimension for each component of an index
	dim     int64      // the dimension of indices that holds the components
	isCut   []bool     // components whose dimension is cut
	begins  [][]int64  // of those, by position, where what this device has of the dimension begins; nil where that is its block
	sizes   []int64    // of slices of the indexed tensor, nil for single rows
	any     bool
}

func (l *lowerer) indexing(op ir.OpID, source ir.ValueID, mapped []int64, dim int64) *indexing {
	i := l.m.NumResults(op) // scatter has as many inputs as results before the indices, gather one
	return &indexing{l: l, b: l.m.BuilderBefore(op), operand: i, indices: l.m.Operand(op, i), source: source,
		mapped: mapped, dim: dim, isCut: make([]bool, len(mapped)), begins: make([][]int64, len(mapped))}
}

// from notes that this device has another part of a cut dimension than its block.
func (x *indexing) from(d int, begin []int64) {
	x.cut(d)
	x.begins[slices.Index(x.mapped, int64(d))] = begin
}

// cut notes that a dimension is cut. Indices of few bits are widened: they need not hold where blocks begin.
func (x *indexing) cut(d int) {
	c := slices.Index(x.mapped, int64(d))
	if c < 0 {
		return
	}
	if m := x.l.m; x.element().Bytes() < dtype.I32.Bytes() {
		x.indices = x.b.Op1(ir.OpConvert, m.TensorType(dtype.I32, m.Shape(x.indices)...), nil, x.indices)
	}
	x.isCut[c], x.any = true, true
}

func (x *indexing) element() dtype.Type { return x.l.m.ValueType(x.indices).DType }

// spread emits a scalar per component as a tensor like the indices.
func (x *indexing) spread(component func(c int) ir.ValueID) ir.ValueID {
	m := x.l.m
	shape := m.Shape(x.indices)
	if len(x.mapped) == 1 {
		return x.l.broadcast(x.b, component(0), shape)
	}
	parts := make([]ir.ValueID, len(x.mapped))
	for c := range parts {
		parts[c] = x.b.Op1(ir.OpReshape, m.TensorType(x.element(), 1), nil, component(c))
	}
	vector := x.b.Op1(ir.OpConcatenate, m.TensorType(x.element(), int64(len(parts))),
		ir.MakeAttrs(ir.Named("dimension", m.I64(0))), parts...)
	return x.b.Op1(ir.OpBroadcastInDim, m.Type(x.indices),
		ir.MakeAttrs(ir.Named("broadcast_dimensions", ir.Ints{x.dim})), vector)
}

// bounds emits per component the least or greatest value that it may take: of the whole dimension or of this
// device's block where the dimension is cut, of the element type elsewhere.
func (x *indexing) bounds(whole bool) (low, high ir.ValueID) {
	m, e := x.l.m, x.element()
	limit := func(c int) int64 {
		d := int(x.mapped[c])
		n := m.Shape(x.source)[d]
		if whole {
			n *= subaxis.Product(x.l.axes(x.source, d))
			if x.sizes != nil {
				return n - x.sizes[d]
			}
		}
		return n - 1
	}
	low = x.spread(func(c int) ir.ValueID {
		if x.isCut[c] {
			return x.b.Integer(e, 0)
		}
		return x.b.Constant(m.Dense(m.TensorType(e), ir.Extreme(e, false)))
	})
	high = x.spread(func(c int) ir.ValueID {
		if x.isCut[c] {
			return x.b.Integer(e, limit(c))
		}
		return x.b.Constant(m.Dense(m.TensorType(e), ir.Extreme(e, true)))
	})
	return low, high
}

// clampWhole brings indices into the whole dimension, as the unsharded gather would.
func (x *indexing) clampWhole() {
	low, high := x.bounds(true)
	x.indices = x.b.Op1(ir.OpClamp, x.l.m.Type(x.indices), nil, low, x.indices, high)
}

// shift makes indices relative to this device's block.
func (x *indexing) shift() ir.ValueID {
	offsets := x.spread(func(c int) ir.ValueID {
		d := int(x.mapped[c])
		switch {
		case !x.isCut[c]:
			return x.b.Integer(x.element(), 0)
		case x.begins[c] != nil:
			f := &fetcher{lowerer: x.l, b: x.b, dim: d, axes: x.l.axes(x.source, d)}
			return x.b.Op1(ir.OpConvert, x.l.m.TensorType(x.element()), nil, f.look(x.begins[c]))
		}
		return x.l.offset(x.b, x.l.axes(x.source, d), x.l.m.Shape(x.source)[d], x.element())
	})
	x.indices = x.b.Op1(ir.OpSubtract, x.l.m.Type(x.indices), nil, x.indices, offsets)
	return x.indices
}

// inside emits whether each index lies in this device's block, over the batch dimensions of the indices.
func (x *indexing) inside() ir.ValueID {
	m := x.l.m
	low, high := x.bounds(false)
	shape := m.Shape(x.indices)
	mask := m.TensorType(dtype.I1, shape...)
	ge := x.b.Op1(ir.OpCompare, mask, ir.CompareAttrs("GE", x.element()), x.indices, low)
	le := x.b.Op1(ir.OpCompare, mask, ir.CompareAttrs("LE", x.element()), x.indices, high)
	both := x.b.Op1(ir.OpAnd, mask, nil, ge, le)
	if x.dim == int64(len(shape)) {
		return both
	}
	batch := slices.Delete(slices.Clone(shape), int(x.dim), int(x.dim)+1)
	yes := x.b.Constant(m.Dense(m.TensorType(dtype.I1), []byte{1}))
	reduce := x.b.OpRegions(ir.OpReduce, []ir.TypeID{m.TensorType(dtype.I1, batch...)},
		ir.MakeAttrs(ir.Named("dimensions", ir.Ints{x.dim})), 1, both, yes)
	m.AddReducer(reduce, ir.OpAnd, dtype.I1)
	return m.Result(reduce, 0)
}
