package shardmap

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/localform"
)

// draw lets this device draw its block of random numbers: from the value of the counter on that stands before the block (specification:
// localforms.md section 3.13). The state that all numbers leave behind is computed from their number.
//
// PHILOX counts in 128 bits. Where its state has 64, the upper half begins as the key; blocks are drawn from states that have both.
func (l *lowerer) draw(op ir.OpID) error {
	m, v := l.m, l.m.Result(op, 1)
	d, ok := localform.Drawn(m, op, m.Shape(v))
	if !ok || len(l.axes(v, d.Dim)) == 0 {
		l.results(op)
		return nil
	}
	axes := l.axes(v, d.Dim)
	l.results(op)
	b := m.BuilderBefore(op)
	steps := l.offset(b, axes, m.Shape(v)[d.Dim]/d.Unit*d.Steps, dtype.UI64)
	begin := l.counted(b, op, steps)
	own := b.Op(ir.OpRngBitGenerator, []ir.TypeID{m.Type(begin), m.Type(v)}, m.OpAttrs(op), begin)
	end := l.counted(b, op, b.Integer(dtype.UI64, d.All))
	if m.Type(end) != m.Type(m.Operand(op, 0)) { // the upper half goes back to what it begins as
		f := &fetcher{lowerer: l, b: b}
		end = f.part(end, []int64{0}, 2)
	}
	for i, with := range []ir.ValueID{end, m.Result(own, 1)} {
		old := m.Result(op, i)
		m.SetSharding(with, m.Sharding(old))
		m.ReplaceUses(old, with)
		l.p.Move(old, with)
	}
	m.Erase(op)
	return nil
}

// counted emits the state of a generator so many values of its counter later.
func (l *lowerer) counted(b *ir.Builder, op ir.OpID, steps ir.ValueID) ir.ValueID {
	m, state := l.m, l.m.Operand(op, 0)
	f := &fetcher{lowerer: l, b: b}
	one, flag := m.TensorType(dtype.UI64, 1), m.TensorType(dtype.I1, 1)
	words := lists.Of(int(m.Shape(state)[0]), func(i int) ir.ValueID { return f.part(state, []int64{int64(i)}, 1) })
	before := words[1]
	words[1] = b.Op1(ir.OpAdd, one, nil, before, l.broadcast(b, steps, []int64{1}))
	if m.OpAttrs(op).Str("rng_algorithm") == "PHILOX" {
		if len(words) == 2 {
			words = append(words, words[0])
		}
		carry := b.Op1(ir.OpCompare, flag, ir.CompareAttrs("LT", dtype.UI64), words[1], before)
		words[2] = b.Op1(ir.OpAdd, one, nil, words[2], b.Op1(ir.OpConvert, one, nil, carry))
	}
	return f.joined(words)
}
