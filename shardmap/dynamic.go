package shardmap

import (
	"math"
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

// dynamicSlice takes whole blocks of the dimensions that are cut and that the slice covers whole. Along others each device gives what
// its block has of the slice, where that is only known at run time, and zeros; an all-reduce follows (specification: localforms.md
// section 3.9).
func (l *lowerer) dynamicSlice(op ir.OpID) error {
	m := l.m
	operand, v := m.Operand(op, 0), m.Result(op, 0)
	slice := m.Shape(v)
	w := l.window(op, operand, slice, 1)
	l.results(op)
	if w == nil {
		m.SetAttrs(op, m.OpAttrs(op).With("slice_sizes", ir.Ints(m.Shape(v))))
		return nil
	}
	piece := w.take(operand)
	for d, behind := range w.behind {
		if behind != 0 {
			piece = w.shift(piece, d, w.b.Op1(ir.OpNegate, m.Type(behind), nil, behind), slice[d])
		}
	}
	l.replace(op, w.found(piece, slice))
	return nil
}

// dynamicUpdateSlice writes what of an update falls into this device's block, where that is only known at run time, along
// dimensions that are cut and that the update covers in part (specification: localforms.md section 3.9). The device changes a
// window that is no larger than the update: elements that the update does not reach are written as they are, so that nothing
// but the window is copied.
func (l *lowerer) dynamicUpdateSlice(op ir.OpID) error {
	m := l.m
	operand, update := m.Operand(op, 0), m.Operand(op, 1)
	w := l.window(op, operand, l.global(update), 2)
	l.results(op)
	if w == nil {
		return nil
	}
	old, fresh := w.take(operand), update
	for d, at := range w.behind {
		if at != 0 {
			fresh = w.shift(fresh, d, at, w.sizes[d])
		}
	}
	m.SetOperand(op, 1, w.b.Op1(ir.OpSelect, m.Type(old), nil, w.reached(m.Shape(update)), fresh, old))
	for d, start := range w.starts {
		m.SetOperand(op, 2+d, start)
	}
	return nil
}

// window is the part of this device's block that holds all of a slice of the whole tensor that lies in the block. Along
// dimensions that are whole, it is the slice.
type window struct {
	*lowerer
	b      *ir.Builder
	index  dtype.Type   // of places in the whole tensor
	sizes  []int64      // of the window
	starts []ir.ValueID // of the window in the block
	behind []ir.ValueID // how far its start is behind that of the slice, 0 along dimensions that are whole
}

// global returns the shape of the whole tensor of which a value is the block.
func (l *lowerer) global(v ir.ValueID) []int64 {
	dims := slices.Clone(l.m.Shape(v))
	for d := range dims {
		dims[d] *= subaxis.Product(l.axes(v, d))
	}
	return dims
}

// window emits where the slice of an op lies, given by its shape in the whole tensor, whose starts are operands from first on. It
// returns nil where no dimension is cut that the slice covers in part.
func (l *lowerer) window(op ir.OpID, v ir.ValueID, slice []int64, first int) *window {
	m := l.m
	whole, block, rank := l.global(v), m.Shape(v), len(slice)
	part := func(d int) bool { return whole[d] != block[d] && whole[d] != slice[d] }
	if !slices.ContainsFunc(lists.Of(rank, func(d int) int { return d }), part) || slices.Contains(slice, 0) {
		return nil
	}
	w := &window{lowerer: l, b: m.BuilderBefore(op), index: dtype.I32, behind: make([]ir.ValueID, rank)}
	if slices.Max(whole) > math.MaxInt32/2 {
		w.index = dtype.I64
	}
	for d := range slice {
		size, start := min(slice[d], block[d]), w.start(m.Operand(op, first+d), whole[d]-slice[d])
		if part(d) {
			at := w.arithmetic(ir.OpSubtract, start, w.offset(w.b, l.axes(v, d), block[d], w.index))
			start = w.clamp(at, block[d]-size)
			w.behind[d] = w.arithmetic(ir.OpSubtract, start, at)
		}
		w.sizes, w.starts = append(w.sizes, size), append(w.starts, start)
	}
	return w
}

// start emits the start of a slice as the unsharded op clamps it.
func (w *window) start(v ir.ValueID, most int64) ir.ValueID {
	if w.m.ValueType(v).DType.Bytes() < w.index.Bytes() {
		v = w.convert(v)
	}
	return w.convert(w.clamp(v, most))
}

func (w *window) convert(v ir.ValueID) ir.ValueID {
	if w.m.ValueType(v).DType == w.index {
		return v
	}
	return w.b.Op1(ir.OpConvert, w.m.TensorType(w.index), nil, v)
}

func (w *window) clamp(v ir.ValueID, most int64) ir.ValueID {
	e := w.m.ValueType(v).DType
	return w.b.Op1(ir.OpClamp, w.m.Type(v), nil, w.b.Integer(e, 0), v, w.b.Integer(e, most))
}

func (w *window) arithmetic(kind ir.Kind, x, y ir.ValueID) ir.ValueID {
	return w.b.Op1(kind, w.m.Type(x), nil, x, y)
}

// take emits the window of this device's block.
func (w *window) take(block ir.ValueID) ir.ValueID {
	return w.b.Op1(ir.OpDynamicSlice, w.m.WithDims(w.m.Type(block), w.sizes), ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints(w.sizes))),
		append([]ir.ValueID{block}, w.starts...)...)
}

// found emits zeros in the place of a part of the slice that is a single row, which shift leaves where it is, of another block.
func (w *window) found(part ir.ValueID, slice []int64) ir.ValueID {
	m := w.m
	for d, behind := range w.behind {
		if behind == 0 || slice[d] != 1 {
			continue
		}
		here := w.b.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.CompareAttrs("EQ", w.index), behind, w.b.Integer(w.index, 0))
		zero := w.broadcast(w.b, w.b.Constant(m.Zeros(m.TensorType(m.ValueType(part).DType))), m.Shape(part))
		part = w.b.Op1(ir.OpSelect, m.Type(part), nil, here, part, zero)
	}
	return part
}

// shift emits a number of rows of a value along one dimension from a place on that may lie before its first row or behind its last
// one, with zeros there.
func (w *window) shift(v ir.ValueID, d int, at ir.ValueID, rows int64) ir.ValueID {
	m := w.m
	f := &fetcher{lowerer: w.lowerer, b: w.b, dim: d}
	if m.Shape(v)[d] == 1 && rows == 1 {
		return v
	}
	padded := f.padded(v, rows, rows, 0)
	starts := lists.Of(len(m.Shape(v)), func(int) ir.ValueID { return w.b.Integer(w.index, 0) })
	starts[d] = w.arithmetic(ir.OpAdd, at, w.b.Integer(w.index, rows))
	t := f.resized(v, rows)
	return w.b.Op1(ir.OpDynamicSlice, t, ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints(m.TypeOf(t).Dims))),
		append([]ir.ValueID{padded}, starts...)...)
}

// reached emits which elements of the window lie in the slice.
func (w *window) reached(slice []int64) ir.ValueID {
	var all ir.ValueID
	for d, behind := range w.behind {
		if behind == 0 {
			continue
		}
		in := w.b.Op1(ir.OpBroadcastInDim, w.m.TensorType(dtype.I1, w.sizes...),
			ir.MakeAttrs(ir.Named("broadcast_dimensions", ir.Ints{int64(d)})), w.reachedAlong(behind, w.sizes[d], slice[d]))
		if all != 0 {
			in = w.arithmetic(ir.OpAnd, all, in)
		}
		all = in
	}
	return all
}

// reachedAlong emits it for the rows of one dimension.
func (w *window) reachedAlong(behind ir.ValueID, rows, slice int64) ir.ValueID {
	m, dims := w.m, []int64{rows}
	places := w.b.Op1(ir.OpIota, m.TensorType(w.index, rows), ir.MakeAttrs(ir.Named("iota_dimension", m.I64(0))))
	places = w.arithmetic(ir.OpAdd, places, w.broadcast(w.b, behind, dims))
	compare := func(direction string, bound int64) ir.ValueID {
		limit := w.broadcast(w.b, w.b.Integer(w.index, bound), dims)
		return w.b.Op1(ir.OpCompare, m.TensorType(dtype.I1, rows), ir.CompareAttrs(direction, w.index), places, limit)
	}
	return w.arithmetic(ir.OpAnd, compare("GE", 0), compare("LT", slice))
}
