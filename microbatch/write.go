package microbatch

import (
	"math"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// loop is a loop over microbatches while it is written.
type loop struct {
	*cut
	main    ir.BlockID
	within  map[ir.OpID]bool // ops of the main function that every microbatch has
	before  map[ir.OpID]bool // that these need
	place   map[ir.ValueID]int
	init    []ir.ValueID // what the loop begins with: the number of the microbatch, what it reads, sums and joined parts
	body    *ir.Builder
	made    ir.OpID      // the first op that was made for it
	args    []ir.ValueID // of the body
	zero    ir.ValueID
	brought map[ir.ValueID]ir.ValueID // constants that are made again in the body
}

// write turns the program of a device into a loop over the devices.
func (c *cut) write() {
	m := c.m
	l := &loop{cut: c, main: m.MainFunc().Body, within: map[ir.OpID]bool{}, before: map[ir.OpID]bool{}, place: map[ir.ValueID]int{},
		brought: map[ir.ValueID]ir.ValueID{}}
	l.part()
	l.begin()
	l.close(l.open())
	f, was := m.MainFunc(), c.whole.MainFunc()
	for i, arg := range m.BlockArgs(f.Body) {
		m.SetSharding(arg, c.whole.Sharding(c.whole.BlockArgs(was.Body)[i]))
	}
	copy(f.ResultShardings, was.ResultShardings)
}

// part says which ops every microbatch has, and what has to be there before them. What parts of values are taken by, joined by and added up
// by belongs to neither.
func (l *loop) part() {
	m := l.m
	for op := range m.Ops(l.main) {
		switch k := m.Kind(op); {
		case k == ir.OpShardMapPscatter:
			l.need(m.Operand(op, 0))
		case k.IsTerminator() || k.IsShardMap():
		case slices.ContainsFunc(outside(m, op), func(v ir.ValueID) bool { return l.varies[v] }):
			l.within[op] = true
		}
	}
	for op := range m.Ops(l.main) {
		if l.within[op] {
			for _, v := range outside(m, op) {
				if !l.isFree(v) {
					l.need(v)
				}
			}
		}
	}
}

// need notes what makes a value that the loop reads, and what makes that.
func (l *loop) need(v ir.ValueID) {
	op := l.m.DefiningOp(v)
	if op == 0 || l.varies[v] || l.before[op] {
		return
	}
	l.before[op] = true
	for _, w := range outside(l.m, op) {
		l.need(w)
	}
}

// isFree says whether a value is computed on the fly from constants wherever it is read.
func (l *loop) isFree(v ir.ValueID) bool {
	m, op := l.m, l.m.DefiningOp(v)
	if op == 0 {
		return false
	}
	switch k := m.Kind(op); {
	case k == ir.OpConstant:
		value, dense := m.Attr(op, "value").(*ir.Dense)
		return dense && value.Splat
	case k == ir.OpIota:
		return true
	case k.HasBodies() || m.NumOperands(op) == 0 || !k.IsPure():
		return false
	case k.IsElementwise() || k == ir.OpBroadcastInDim || k == ir.OpReshape:
		return !slices.ContainsFunc(m.Operands(op), func(w ir.ValueID) bool { return !l.isFree(w) })
	}
	return false
}

// begin makes what the loop begins with.
func (l *loop) begin() {
	m := l.m
	b := m.BuilderBefore(m.LastOp(l.main))
	l.made = ir.OpID(m.NumOps())
	l.zero = b.Integer(dtype.I32, 0)
	l.init = []ir.ValueID{l.zero}
	for _, op := range l.takes {
		t := l.taken(op)
		if l.counts(t) {
			continue
		}
		l.place[m.Result(op, 0)] = len(l.init)
		l.init = append(l.init, b.Op1(ir.OpReshape, m.WithDims(m.Type(t.value), l.apart(m.Shape(t.value), t.dim)), nil, t.value))
	}
	for op := range m.Ops(l.main) {
		if !l.within[op] {
			continue
		}
		for _, v := range outside(m, op) {
			if _, known := l.place[v]; !known && !l.varies[v] && !l.isFree(v) {
				l.place[v] = len(l.init)
				l.init = append(l.init, v)
			}
		}
	}
	for _, v := range l.sums {
		l.place[v] = len(l.init)
		l.init = append(l.init, zeros(b, m, m.Type(v)))
	}
	for _, op := range l.gathers {
		v := m.Result(op, 0)
		l.place[v] = len(l.init)
		l.init = append(l.init, zeros(b, m, m.WithDims(m.Type(v), l.apart(m.Shape(v), l.joins(op)))))
	}
}

func zeros(b *ir.Builder, m *ir.Module, t ir.TypeID) ir.ValueID {
	zero := b.Constant(m.Zeros(m.WithDims(t, nil)))
	if len(m.TypeOf(t).Dims) == 0 {
		return zero
	}
	return b.Broadcast(t, zero)
}

// joins returns the dimension along which an op joins parts.
func (l *loop) joins(op ir.OpID) int { return int(l.m.OpAttrs(op).Int("dim", 0)) }

// apart returns the shape of a whole value in which microbatches have a dimension of their own: the next one after that of examples, which
// counts those of a microbatch then. What an example has of the dimension follows, if that is more than one.
func (l *loop) apart(whole []int64, d int) []int64 {
	dims := []int64{l.examples / l.parts, l.parts}
	if each := whole[d] / l.examples; each > 1 {
		dims = append(dims, each)
	}
	return slices.Concat(whole[:d], dims, whole[d+1:])
}

// one is the shape of one microbatch of that.
func (l *loop) one(apart []int64, d int) []int64 {
	out := slices.Clone(apart)
	out[d+1] = 1
	return out
}

// starts are the operands that say where a microbatch lies.
func (l *loop) starts(rank, d int) []ir.ValueID {
	out := slices.Repeat([]ir.ValueID{l.brought[l.zero]}, rank)
	out[d+1] = l.args[0]
	return out
}

// open makes the loop with its condition, and the body with all ops that every microbatch has.
func (l *loop) open() ir.OpID {
	m := l.m
	b := m.BuilderBefore(m.LastOp(l.main))
	first := l.first()
	b.Loc = m.OpLoc(first)
	op := b.OpRegions(ir.OpWhile, m.TypesOf(l.init), ir.MakeAttrs(ir.Named(Attr, m.I64(l.parts))), 2, l.init...)
	m.InheritPos(op, first)
	blocks := [2]ir.BlockID{}
	for r := range blocks {
		blocks[r] = m.AddBlock(m.Region(op, r))
		for _, v := range l.init {
			m.AddBlockArg(blocks[r], m.Type(v))
		}
	}
	test := m.BuilderAtEnd(blocks[0])
	more := test.Op1(ir.OpCompare, m.TensorType(dtype.I1), ir.CompareAttrs("LT", dtype.I32), m.BlockArgs(blocks[0])[0],
		test.Integer(dtype.I32, l.parts))
	test.Op(ir.OpStablehloReturn, nil, nil, more)
	l.body, l.args = m.BuilderAtEnd(blocks[1]), slices.Clone(m.BlockArgs(blocks[1]))
	l.fill(blocks[1])
	return op
}

// first returns the first op that every microbatch has.
func (l *loop) first() ir.OpID {
	for op := range l.m.Ops(l.main) {
		if l.within[op] {
			return op
		}
	}
	return l.m.LastOp(l.main)
}

// fill moves ops into the body, and lets them read what it has.
func (l *loop) fill(body ir.BlockID) {
	m := l.m
	l.bring(l.zero)
	for _, op := range l.takes {
		t, v := l.taken(op), m.Result(op, 0)
		if l.counts(t) {
			m.ReplaceUses(v, l.count(t, m.Type(v)))
			m.Erase(op)
			continue
		}
		from := l.args[l.place[v]]
		dims := l.one(m.Shape(from), t.dim)
		part := l.body.Op1(ir.OpDynamicSlice, m.WithDims(m.Type(from), dims), ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints(dims))),
			append([]ir.ValueID{from}, l.starts(len(dims), t.dim)...)...)
		m.ReplaceUses(v, l.body.Op1(ir.OpReshape, m.Type(v), nil, part))
		m.Erase(op)
	}
	for _, op := range m.OpsOf(l.main, ir.OpShardMapAxisIndex) {
		m.ReplaceUses(m.Result(op, 0), l.args[0])
		m.Erase(op)
	}
	var ops []ir.OpID
	for op := range m.Ops(l.main) {
		if l.within[op] {
			ops = append(ops, op)
		}
	}
	for _, op := range ops {
		for _, v := range outside(m, op) {
			if l.varies[v] {
				continue
			}
			to := l.brought[v]
			if at, carried := l.place[v]; carried {
				to = l.args[at]
			} else if to == 0 {
				to = l.bring(v)
			}
			m.ReplaceUsesIf(v, to, func(u ir.Use) bool { return l.isWithin(u.Op, op) })
		}
	}
	for _, op := range ops {
		m.MoveToEnd(op, body)
	}
}

// counts says whether a part is taken from what counts along the dimension of examples.
func (l *loop) counts(t taken) bool {
	op := l.m.DefiningOp(t.value)
	return l.m.Kind(op) == ir.OpIota && int(l.m.OpAttrs(op).Int("iota_dimension", 0)) == t.dim
}

// count makes the part of what counts along the dimension of examples: of element e of example i of a microbatch, of those that an example
// has, the number (i * microbatches + microbatch) * elements + e. It is counted in whole numbers, whatever they are of.
func (l *loop) count(t taken, local ir.TypeID) ir.ValueID {
	m, b, e := l.m, l.body, dtype.I32
	if t.size > math.MaxInt32 {
		e = dtype.I64
	}
	dims := l.apart(m.Shape(t.value), t.dim)
	dims = slices.Delete(dims, t.dim+1, t.dim+2)
	each, typ := t.size/l.examples, m.TensorType(e, dims...)
	along := func(d int) ir.ValueID {
		return b.Op1(ir.OpIota, typ, ir.MakeAttrs(ir.Named("iota_dimension", m.I64(int64(d)))))
	}
	number := l.args[0]
	if e != dtype.I32 {
		number = b.Op1(ir.OpConvert, m.TensorType(e), nil, number)
	}
	out := b.Op1(ir.OpMultiply, typ, nil, along(t.dim), b.Broadcast(typ, b.Integer(e, l.parts)))
	out = b.Op1(ir.OpAdd, typ, nil, out, b.Broadcast(typ, number))
	if each > 1 {
		out = b.Op1(ir.OpMultiply, typ, nil, out, b.Broadcast(typ, b.Integer(e, each)))
		out = b.Op1(ir.OpAdd, typ, nil, out, along(t.dim+1))
		out = b.Op1(ir.OpReshape, m.TensorType(e, m.TypeOf(local).Dims...), nil, out)
	}
	if m.Type(out) == local {
		return out
	}
	return b.Op1(ir.OpConvert, local, nil, out)
}

// bring makes a constant again in the body.
func (l *loop) bring(v ir.ValueID) ir.ValueID {
	if to, done := l.brought[v]; done {
		return to
	}
	op := l.m.DefiningOp(v)
	for _, w := range l.m.Operands(op) {
		l.bring(w)
	}
	l.m.CloneOp(l.body, op, l.brought)
	return l.brought[v]
}

func (l *loop) isWithin(op, around ir.OpID) bool {
	for ; op != 0; op = l.m.ParentOp(op) {
		if op == around {
			return true
		}
	}
	return false
}

// close ends the body with what the next round begins with, and lets what comes after the loop read its sums and joined parts.
func (l *loop) close(op ir.OpID) {
	m, next := l.m, slices.Clone(l.args)
	l.body = m.BuilderAtEnd(m.RegionBlock(op, 1))
	next[0] = l.body.Op1(ir.OpAdd, m.Type(l.args[0]), nil, l.args[0], l.body.Integer(dtype.I32, 1))
	b := m.BuilderAfter(op)
	for _, v := range l.sums {
		at, part := l.place[v], v
		by := m.DefiningOp(v)
		if m.Kind(by) == ir.OpShardMapPsum {
			part = m.Operand(by, 0)
		}
		l.body.Loc = m.OpLoc(m.DefiningOp(part))
		next[at] = l.body.Op1(ir.OpAdd, m.Type(v), nil, l.args[at], part)
		sum := m.DefiningOp(next[at])
		m.InheritPos(sum, m.DefiningOp(part))
		m.ReplaceUsesIf(v, m.Result(op, at), func(u ir.Use) bool { return u.Op != sum })
		if part != v {
			m.Erase(by)
		}
	}
	l.body.Loc = 0
	for _, gather := range l.gathers {
		v, d := m.Result(gather, 0), l.joins(gather)
		at := l.place[v]
		stack := l.args[at]
		dims := l.one(m.Shape(stack), d)
		part := l.body.Op1(ir.OpReshape, m.WithDims(m.Type(stack), dims), nil, m.Operand(gather, 0))
		next[at] = l.body.Op1(ir.OpDynamicUpdateSlice, m.Type(stack), nil, append([]ir.ValueID{stack, part}, l.starts(len(dims), d)...)...)
		m.ReplaceUses(v, b.Op1(ir.OpReshape, m.Type(v), nil, m.Result(op, at)))
		m.Erase(gather)
	}
	l.body.Op(ir.OpStablehloReturn, nil, nil, next...)
	l.settle(op)
}

// settle moves behind the loop what comes after it.
func (l *loop) settle(op ir.OpID) {
	m := l.m
	ret := m.LastOp(l.main)
	var after []ir.OpID
	for o := m.FirstOp(l.main); o != op; o = m.NextOp(o) {
		if !l.before[o] && o < l.made {
			after = append(after, o)
		}
	}
	for _, o := range after {
		m.MoveBefore(o, ret)
	}
}
