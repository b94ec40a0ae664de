package shardmap

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
	"autoshard/subaxis"
)

// reduce combines the partial results of a reduction that are no sums or extremes, or of several operands: the devices gather those of
// each other and reduce them by the same region (specification: localforms.md section 3.2).
func (l *lowerer) reduce(op ir.OpID) error {
	m := l.m
	l.results(op)
	var axes []subaxis.Ref
	for _, d := range m.OpAttrs(op).Ints("dimensions") {
		axes = subaxis.AppendMerge(axes, l.axes(m.Operand(op, 0), int(d))...)
	}
	if len(axes) == 0 || !localform.Exchanged(m, op) {
		return nil
	}
	b := m.BuilderBefore(op)
	for i, partial := range m.ResultValues(m.CloneOp(b, op, map[ir.ValueID]ir.ValueID{})) {
		m.SetOperand(op, i, l.stacked(b, op, partial, axes))
	}
	m.SetAttrs(op, m.OpAttrs(op).With("dimensions", ir.Ints{0}))
	return nil
}

// stacked emits what the devices along axes have of a value, one after the other along a new first dimension, for an op.
func (l *lowerer) stacked(b *ir.Builder, op ir.OpID, v ir.ValueID, axes []subaxis.Ref) ir.ValueID {
	return l.gathered(b, op, l.row(b, v, 0), axes, 0)
}

// row emits a value with a new dimension of one element.
func (l *lowerer) row(b *ir.Builder, v ir.ValueID, d int) ir.ValueID {
	return b.Op1(ir.OpReshape, l.m.WithDims(l.m.Type(v), slices.Insert(slices.Clone(l.m.Shape(v)), d, 1)), nil, v)
}

// running folds what the devices before this one have along the dimension that an op runs along, or those behind it, and lets the op
// begin with that (specification: localforms.md section 3.3).
func (l *lowerer) running(op ir.OpID, run localform.Run, axes []subaxis.Ref) {
	m := l.m
	l.results(op)
	b, n, d := m.BuilderBefore(op), m.NumResults(op), run.Dim
	inits := m.Operands(op)[n:]
	var others []ir.ValueID
	for i, total := range l.folded(b, op, m.Operands(op)[:n], inits, d) {
		others = append(others, l.passed(b, l.stacked(b, op, total, axes), inits[i], axes, run.Reverse))
	}
	for i, first := range l.folded(b, op, others, inits, 0) {
		pieces := []ir.ValueID{l.row(b, first, d), m.Operand(op, i)}
		if run.Reverse {
			slices.Reverse(pieces)
		}
		f := &fetcher{lowerer: l, b: b, dim: d}
		m.SetOperand(op, i, f.joined(pieces))
	}
	l.widen(op, run)
}

// folded emits the reduction of values along one dimension by the region of an op.
func (l *lowerer) folded(b *ir.Builder, op ir.OpID, values, inits []ir.ValueID, d int) []ir.ValueID {
	m := l.m
	types := lists.Map(values, func(v ir.ValueID) ir.TypeID {
		return m.WithDims(m.Type(v), slices.Delete(slices.Clone(m.Shape(v)), d, d+1))
	})
	reduce := b.OpRegions(ir.OpReduce, types, ir.MakeAttrs(ir.Named("dimensions", ir.Ints{int64(d)})), 1, slices.Concat(values, inits)...)
	from, to, copies := m.RegionBlock(op, 0), m.AddBlock(m.Regions(reduce)[0]), map[ir.ValueID]ir.ValueID{}
	for _, arg := range m.BlockArgs(from) {
		copies[arg] = m.AddBlockArg(to, m.Type(arg))
	}
	inside := m.BuilderAtEnd(to)
	m.CloneInto(inside, from, copies)
	inside.Op(ir.OpStablehloReturn, nil, nil, lists.Map(m.Operands(m.LastOp(from)), func(v ir.ValueID) ir.ValueID { return copies[v] })...)
	return m.ResultValues(reduce)
}

// passed emits, of what the devices along axes have, stacked, what those before this one have, or those behind it, and initial values for
// the others.
func (l *lowerer) passed(b *ir.Builder, stack, init ir.ValueID, axes []subaxis.Ref, reverse bool) ir.ValueID {
	m, dims := l.m, l.m.Shape(stack)
	places := b.Op1(ir.OpIota, m.TensorType(dtype.I32, dims...), ir.MakeAttrs(ir.Named("iota_dimension", m.I64(0))))
	direction := "LT"
	if reverse {
		direction = "GT"
	}
	passed := b.Op1(ir.OpCompare, m.TensorType(dtype.I1, dims...), ir.CompareAttrs(direction, dtype.I32), places,
		l.broadcast(b, l.axisIndex(axes), dims))
	return b.Op1(ir.OpSelect, m.Type(stack), nil, passed, stack, l.broadcast(b, init, dims))
}

// widen lets an op run along one element more, which its results leave out.
func (l *lowerer) widen(op ir.OpID, run localform.Run) {
	m, d := l.m, run.Dim
	windows := ir.Windows(m, op)
	rows := m.Shape(m.Result(op, 0))[d]
	padding, sizes := make([]int64, 2*len(windows)), slices.Clone(m.OpAttrs(op).Ints("window_dimensions"))
	at, start := 2*d, int64(1)
	if run.Reverse {
		at, start = 2*d+1, 0
	}
	padding[at], sizes[d] = rows, rows+1
	m.SetAttrs(op, m.OpAttrs(op).With("window_dimensions", ir.Ints(sizes)).With("padding", m.DenseInts(padding, int64(len(windows)), 2)))
	for _, v := range m.ResultValues(op) {
		f := &fetcher{lowerer: l, b: m.BuilderAfter(op), dim: d}
		m.SetType(v, f.resized(v, rows+1))
		kept := f.part(v, []int64{start}, rows)
		m.SetSharding(kept, m.Sharding(v))
		m.Divert(v, kept)
		l.p.Move(v, kept)
	}
}
