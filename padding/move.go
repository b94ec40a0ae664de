package padding

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/rule"
	"autoshard/localform"
)

// move pads an op along whose dimensions elements move: sizes before and after differ, and so does what pads them. Where the op becomes
// others, it returns what they make. It leaves an op as it is whose operands are not padded, nor its result.
func (p *padder) move(op ir.OpID, roles *roles, padded bool) (v ir.ValueID, made bool) {
	m := p.m
	to := p.padded(m.Result(op, 0), roles.results[0])
	if !padded && slices.Equal(to, m.Shape(m.Result(op, 0))) {
		return 0, false
	}
	switch m.Kind(op) {
	case ir.OpSlice:
		return p.slice(op, to), true
	case ir.OpReverse:
		return p.reverse(op, to), true
	case ir.OpConcatenate:
		return p.concatenate(op, to), true
	case ir.OpPad:
		p.surround(op, 0, m.Operand(op, 1), roles.along(0))
		p.highPadding(op, to)
	case ir.OpSelectAndScatter:
		return p.unpool(op, roles, to)
	default:
		p.slide(op, roles)
		p.highWindows(op, to)
	}
	return 0, false
}

// unpool lets padding scatter what changes nothing. Where windows end behind what they choose from, that is brought to the end of what pads
// it, and the result back from there: windows end where both do, and none begins before.
func (p *padder) unpool(op ir.OpID, roles *roles, to []int64) (v ir.ValueID, made bool) {
	m := p.m
	e := m.ValueType(m.Operand(op, 1)).DType
	reduction, _ := ir.ReductionOf(m, op, 1)
	neutral := m.BuilderBefore(op).Identity(e, reduction)
	m.SetSharding(neutral, m.Replicated(p.mesh, 0, true))
	p.surround(op, 1, neutral, roles.along(1))
	by, back, moved := p.toEnd(op)
	if !moved {
		p.highWindows(op, to)
		return 0, false
	}
	b, from := m.BuilderBefore(op), m.Operand(op, 0)
	m.SetOperand(op, 0, p.shifted(b, from, by, m.Shape(from)))
	windows := ir.Windows(m, op)
	for d := range windows {
		windows[d].Low -= by[d]
	}
	m.PadWindows(op, windows)
	p.highWindows(op, to)
	whole := m.Result(m.CloneOp(b, op, map[ir.ValueID]ir.ValueID{}), 0)
	m.SetType(whole, m.WithDims(m.Type(whole), to))
	return p.shifted(b, whole, back, to), true
}

// toEnd returns by how many elements a padded dimension is longer than it was, where windows end behind what they choose from, and by how
// many shorter that was; false where there is no such dimension.
func (p *padder) toEnd(op ir.OpID) (by, back []int64, moved bool) {
	m, v := p.m, p.m.Operand(op, 0)
	by, back = make([]int64, len(m.Shape(v))), make([]int64, len(m.Shape(v)))
	shape := func(v ir.ValueID) []int64 {
		if m.DefiningOp(v) == op {
			return m.Shape(v)
		}
		return p.unpadded(v)
	}
	for _, d := range localform.Dims(m, op, shape) {
		if grown := m.Shape(v)[d.In] - p.unpadded(v)[d.In]; d.Ends() && grown > 0 {
			by[d.In], back[d.In], moved = grown, -grown, true
		}
	}
	return by, back, moved
}

// slide surrounds what windows slide over by what they see outside of it: zeros for the kernel of a convolution, initial values for others.
func (p *padder) slide(op ir.OpID, roles *roles) {
	m := p.m
	if m.Kind(op) != ir.OpConvolution {
		for i := range m.NumResults(op) {
			p.surround(op, i, m.Operand(op, m.NumResults(op)+i), roles.along(i))
		}
		return
	}
	p.multiply(op, roles)
	zero := m.BuilderBefore(op).Constant(m.Zeros(m.TensorType(m.ValueType(m.Operand(op, 0)).DType)))
	m.SetSharding(zero, m.Replicated(p.mesh, 0, true))
	p.surround(op, 0, zero, roles.along(0))
}

// multiply hides the padding of what a convolution sums up, and counts the groups that padding adds.
func (p *padder) multiply(op ir.OpID, roles *roles) {
	m := p.m
	for i := range m.NumOperands(op) {
		p.mask(op, i, roles)
	}
	d, ok := rule.Grouped(m, op)
	if v := m.Operand(op, 0); ok && m.Shape(v)[d] != p.unpadded(v)[d] {
		for _, name := range []string{"feature_group_count", "batch_group_count"} {
			if a := m.OpAttrs(op); a.Int(name, 1) > 1 {
				m.SetAttrs(op, a.With(name, m.I64(a.Int(name, 1)*m.Shape(v)[d]/p.unpadded(v)[d])))
			}
		}
	}
}

// along returns the dimensions of an operand along which elements move, and alongAll those that have some factors, a bit for each.
func (r *roles) along(operand int) (dims uint64) {
	for d, f := range r.operands[operand] {
		if f >= 0 && r.moves(f) {
			dims |= 1 << d
		}
	}
	return dims
}

func (r *roles) alongAll(operand int, factors []int32) (dims uint64) {
	for d, f := range r.operands[operand] {
		if f >= 0 && slices.Contains(factors, f) {
			dims |= 1 << d
		}
	}
	return dims
}

// surround replaces what pads an operand of an op along some dimensions by a scalar.
func (p *padder) surround(op ir.OpID, i int, scalar ir.ValueID, dims uint64) {
	m, v := p.m, p.m.Operand(op, i)
	for d, n := range p.unpadded(v) {
		if n == m.Shape(v)[d] {
			dims &^= 1 << d
		}
	}
	if dims == 0 {
		return
	}
	b := m.BuilderBefore(op)
	fill := p.like(v, b.Broadcast(m.Type(v), scalar))
	out := p.like(v, b.Op1(ir.OpSelect, m.Type(v), nil, p.inside(op, v, dims), v, fill))
	p.alias(out, v)
	m.SetOperand(op, i, out)
}

// shifted emits a value whose elements are so many places further on along each dimension, in a tensor of another shape. It is another
// value even where it is the same: other elements of it are padding.
func (p *padder) shifted(b *ir.Builder, v ir.ValueID, by, dims []int64) ir.ValueID {
	m := p.m
	low, high := make(ir.Ints, len(dims)), make(ir.Ints, len(dims))
	for d, n := range m.Shape(v) {
		low[d], high[d] = by[d], dims[d]-n-by[d]
	}
	zero := b.Constant(m.Zeros(m.TensorType(m.ValueType(v).DType)))
	m.SetSharding(zero, m.Replicated(p.mesh, 0, true))
	return p.like(v, b.Op1(ir.OpPad, m.WithDims(m.Type(v), dims), ir.MakeAttrs(ir.Named("edge_padding_low", low),
		ir.Named("edge_padding_high", high), ir.Named("interior_padding", make(ir.Ints, len(dims)))), v, zero))
}

// slice is a shift, and takes every stride-th element after it.
func (p *padder) slice(op ir.OpID, to []int64) ir.ValueID {
	m, a := p.m, p.m.OpAttrs(op)
	v, stride := m.Operand(op, 0), a.Ints("strides")
	by, dims := make([]int64, len(to)), slices.Clone(to)
	for d, start := range a.Ints("start_indices") {
		by[d], dims[d] = -start, to[d]*stride[d]
	}
	b := m.BuilderBefore(op)
	v = p.shifted(b, v, by, dims)
	if slices.Equal(dims, to) {
		return v
	}
	return p.like(v, b.Op1(ir.OpSlice, m.WithDims(m.Type(v), to), a.With("start_indices", make(ir.Ints, len(to))).
		With("limit_indices", ir.Ints(dims)), v))
}

// reverse brings what pads the operand to the beginning, from where the result is shifted back.
func (p *padder) reverse(op ir.OpID, to []int64) ir.ValueID {
	m, v := p.m, p.m.Operand(op, 0)
	by := make([]int64, len(to))
	for _, d := range m.OpAttrs(op).Ints("dimensions") {
		by[d] = p.unpadded(v)[d] - m.Shape(v)[d]
	}
	b := m.BuilderBefore(op)
	return p.shifted(b, p.like(v, b.Op1(ir.OpReverse, m.Type(v), m.OpAttrs(op), v)), by, to)
}

// concatenate shifts every operand to its place, and chooses there.
func (p *padder) concatenate(op ir.OpID, to []int64) (out ir.ValueID) {
	m, b := p.m, p.m.BuilderBefore(op)
	joined := int(m.OpAttrs(op).Int("dimension", 0))
	end := int64(0)
	for i := range m.NumOperands(op) {
		v := m.Operand(op, i)
		by := make([]int64, len(to))
		by[joined] = end
		piece := p.shifted(b, v, by, to)
		if end += p.unpadded(v)[joined]; i == 0 {
			out = piece
			continue
		}
		before := p.below(b, m.OpBlock(op), to[joined], by[joined], p.axes(v, joined))
		if len(to) > 1 {
			before = p.like(v, b.Op1(ir.OpBroadcastInDim, m.WithDims(m.Type(before), to),
				ir.MakeAttrs(ir.Named("broadcast_dimensions", ir.Ints{int64(joined)})), before))
		}
		out = p.like(v, b.Op1(ir.OpSelect, m.Type(piece), nil, before, out, piece))
	}
	return out
}

// highPadding makes a pad end where its result does.
func (p *padder) highPadding(op ir.OpID, to []int64) {
	m, a := p.m, p.m.OpAttrs(op)
	high := make(ir.Ints, len(to))
	for d, n := range m.Shape(m.Operand(op, 0)) {
		high[d] = to[d] - a.Ints("edge_padding_low")[d] - n - max(0, n-1)*a.Ints("interior_padding")[d]
	}
	m.SetAttrs(op, a.With("edge_padding_high", high))
}

// highWindows makes the windows of an op end where its result does, or what is scattered to where they choose.
func (p *padder) highWindows(op ir.OpID, to []int64) {
	m := p.m
	windows, in, out := ir.Windows(m, op), m.Shape(m.Operand(op, 0)), to
	if c, ok := m.Attr(op, "dimension_numbers").(*ir.ConvDims); ok {
		in, out = lists.Pick(in, c.InSpatial), lists.Pick(to, c.OutSpatial)
	} else if m.Kind(op) == ir.OpSelectAndScatter {
		out = m.Shape(m.Operand(op, 1))
	}
	for i := range windows {
		w := &windows[i]
		w.High = (out[i]-1)*w.Stride + (w.Size-1)*w.Dilation + 1 - w.Low - (in[i]-1)*w.BaseDilation - 1
	}
	m.PadWindows(op, windows)
}

// run lets a running sum or its like run over the padding: before, what is folded from the end on must not see it.
func (p *padder) run(op ir.OpID) {
	m := p.m
	sizes := slices.Clone(m.OpAttrs(op).Ints("window_dimensions"))
	windows := ir.Windows(m, op)
	for d := range windows {
		w := &windows[d]
		if n := m.Shape(m.Operand(op, 0))[d]; w.Size > 1 && n != w.Size {
			if sizes[d] = n; w.Low == 0 {
				for i := range m.NumResults(op) {
					p.surround(op, i, m.Operand(op, m.NumResults(op)+i), 1<<d)
				}
				w.High = n - 1
			} else {
				w.Low = n - 1
			}
		}
	}
	m.SetAttrs(op, m.OpAttrs(op).With("window_dimensions", ir.Ints(sizes)))
	m.PadWindows(op, windows)
}
