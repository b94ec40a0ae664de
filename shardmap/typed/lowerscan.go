package typed

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// scan replaces a scan by a while loop that counts in i32, cuts rows from the arrays and writes rows of the stacked
// results; it returns what stands for the results.
func (l *lowering) scan(op ir.OpID) []ir.ValueID {
	m, info := l.m, l.p.ScanOf(op)
	b := Edit(l.p, op)
	zero := b.Constant(dtype.I32, nil, 0)
	init := append([]ir.ValueID{zero}, m.Operands(op)[:info.Carries]...)
	for i := info.Carries; i < m.NumResults(op); i++ {
		t := m.ValueType(m.Result(op, i))
		init = append(init, b.Constant(t.DType, t.Dims, 0))
	}
	results := init
	if info.Length > 0 {
		loop := b.at.OpRegions(ir.OpWhile, b.m.TypesOf(init), nil, 2, init...)
		l.scanTest(loop, info)
		l.scanBody(loop, op, info)
		results = m.ResultValues(loop)
	}
	for i, v := range m.Results(op) {
		m.ReplaceUses(v, results[i+1])
	}
	m.Erase(op)
	return results[1:]
}

// arguments adds a block with arguments of the types of a loop to a region.
func (l *lowering) arguments(loop ir.OpID, region int) (*Builder, []ir.ValueID) {
	block := l.m.AddBlock(l.m.Regions(loop)[region])
	for _, v := range l.m.Operands(loop) {
		l.m.AddBlockArg(block, l.m.Type(v))
	}
	return &Builder{p: l.p, m: l.m, at: l.m.BuilderAtEnd(block)}, l.m.BlockArgs(block)
}

func (l *lowering) scanTest(loop ir.OpID, info ScanInfo) {
	b, args := l.arguments(loop, 0)
	more := b.Compare("LT", args[0], b.Constant(dtype.I32, nil, float64(info.Length)))
	b.at.Op(ir.OpStablehloReturn, nil, nil, more)
}

// scanBody moves the body of a scan, which is lowered already, into a loop.
func (l *lowering) scanBody(loop, op ir.OpID, info ScanInfo) {
	m := l.m
	b, args := l.arguments(loop, 1)
	inner := m.RegionBlock(op, 0)
	step, row := args[0], args[0]
	if info.Reverse {
		row = b.Binary(ir.OpSubtract, b.Constant(dtype.I32, nil, float64(info.Length-1)), step)
	}
	zero := b.Constant(dtype.I32, nil, 0)
	place := func(rank int) []ir.ValueID {
		return append([]ir.ValueID{row}, slices.Repeat([]ir.ValueID{zero}, rank-1)...)
	}
	for i, v := range m.BlockArgs(inner) {
		if i < info.Carries {
			m.ReplaceUses(v, args[1+i])
			continue
		}
		dims := m.Shape(m.Operand(op, i))
		window := b.DynamicSlice(m.Operand(op, i), append([]int64{1}, dims[1:]...), place(len(dims))...)
		m.ReplaceUses(v, b.Reshape(window, dims[1:]...))
	}
	block := m.RegionBlock(loop, 1)
	var returned []ir.ValueID
	for o := range m.Ops(inner) {
		if o == m.LastOp(inner) {
			returned = m.Operands(o)
			m.Erase(o)
			continue
		}
		m.MoveToEnd(o, block)
	}
	next := []ir.ValueID{b.Binary(ir.OpAdd, step, b.Constant(dtype.I32, nil, 1))}
	next = append(next, returned[:info.Carries]...)
	for i, v := range returned[info.Carries:] {
		dims := m.Shape(v)
		update := b.Reshape(v, append([]int64{1}, dims...)...)
		next = append(next, b.DynamicUpdateSlice(args[1+info.Carries+i], update, place(len(dims)+1)...))
	}
	b.at.Op(ir.OpStablehloReturn, nil, nil, next...)
}

// ragged emits an exchange of slices of any length: all members gather everything, and each writes the slices that are
// meant for it, row by row, in the order of senders (specification: shardmap.md section 2.10).
func (l *lowering) ragged(b *Builder, c *Collective, in []ir.ValueID) ir.ValueID {
	m, n := l.m, l.p.members(c)
	gathered := make([]ir.ValueID, len(in))
	for _, i := range []int{0, 2, 3, 4} {
		gathered[i] = l.emit(b, Collective{Kind: ir.OpShardMapAllGather, Axes: c.Axes}, in[i])
	}
	out := in[1]
	rows, sent, slices := m.Shape(out)[0], m.Shape(in[0])[0], m.Shape(in[2])[0]
	if rows == 0 || sent == 0 {
		return out
	}
	me := l.member(b, c.Axes)
	count := b.Op(ir.OpIota, m.TensorType(dtype.I32, rows), ir.MakeAttrs(ir.Named("iota_dimension", m.I64(0))))
	for from := range n {
		for k := range slices / n {
			// slice k for this member stands behind those for the members before it
			at := b.Binary(ir.OpAdd, b.Binary(ir.OpMultiply, me, b.Constant(dtype.I32, nil, float64(slices/n))),
				b.Constant(dtype.I32, nil, float64(from*slices+k)))
			number := func(i int) ir.ValueID {
				return b.Convert(b.Reshape(b.DynamicSlice(gathered[i], []int64{1}, at)), dtype.I32)
			}
			source, size, target := number(2), number(3), number(4)
			row := b.Binary(ir.OpSubtract, count, target)
			here := b.Binary(ir.OpAnd, b.Compare("GE", row, b.Constant(dtype.I32, nil, 0)), b.Compare("LT", row, size))
			row = b.Binary(ir.OpAdd, b.Binary(ir.OpAdd, row, source), b.Constant(dtype.I32, nil, float64(from*sent)))
			out = b.Select(l.rowMask(b, here, m.Shape(out)), l.rows(b, gathered[0], row), out)
		}
	}
	return out
}

// rowMask repeats a mask of rows over whole rows.
func (l *lowering) rowMask(b *Builder, mask ir.ValueID, dims []int64) ir.ValueID {
	if len(dims) == 1 {
		return mask
	}
	return b.Broadcast(mask, dims, 0)
}

// rows takes rows of an array by their numbers; numbers outside are clamped.
func (l *lowering) rows(b *Builder, x, index ir.ValueID) ir.ValueID {
	sizes := slices.Clone(l.m.Shape(x))
	sizes[0] = 1
	var offset []int64
	for d := 1; d < len(sizes); d++ {
		offset = append(offset, int64(d))
	}
	g := &ir.GatherDims{Offset: offset, Collapsed: []int64{0}, StartIndexMap: []int64{0}, IndexVectorDim: 1}
	return b.Local(ir.OpGather, ir.MakeAttrs(ir.Named("dimension_numbers", g), ir.Named("slice_sizes", i64s(sizes)),
		ir.Named("indices_are_sorted", ir.BoolAttr(false))), x, index)
}
