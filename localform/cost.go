package localform

import (
	"encoding/binary"

	"autoshard/ir"
)

// Copies returns the rows that each local op of an exchange reads and writes in memory: those that take parts out of a block, join
// or place them, and take out what is needed.
func (x *Exchange) Copies() (rows []int64) {
	add := func(n int64) { rows = append(rows, n) }
	for i := range x.Rounds {
		r := &x.Rounds[i]
		if r.Rows != x.Size() {
			add(2 * r.Rows)
		}
		if r.Filled {
			add(3 * r.Rows)
		}
		if x.Way == Placed {
			add(2 * r.Rows)
		}
	}
	switch {
	case x.Way == Direct:
		return rows
	case x.Way == Placed:
		add(2 * x.Size())
	case len(x.Rounds) > 0:
		add(2 * x.Width)
	}
	low, high := x.Padding()
	width := low + x.Width + high
	if low+high > 0 && x.Way == Joined {
		add(x.Width + width)
	}
	if width != x.Rows {
		add(2 * x.Rows)
	}
	return rows
}

// Copies returns the rows that each op reads and writes that makes padding and dilation explicit.
func (p *Piece) Copies() []int64 {
	if p.At == nil {
		return nil
	}
	spread := (p.Rows-1)*p.Dilation + 1 + p.High
	return []int64{p.Rows + spread, 2 * p.Need}
}

// Exchanges returns how what each of k devices reads of every input is brought to it.
func (d *Dim) Exchanges(k int64) []*Exchange {
	pieces := d.Pieces(k)
	if d.joins {
		return placings(pieces)
	}
	out := make([]*Exchange, len(pieces))
	for i := range pieces {
		out[i] = pieces[i].Exchange()
	}
	return out
}

// mostRounds bounds the permutes that bring an op what it needs along one dimension. Where it takes more, as for a few rows that one
// device has and all need, moving whole tensors is better.
const mostRounds = 16

// Near says whether what k devices need is brought to them in few rounds.
func (d *Dim) Near(k int64) bool {
	rounds := 0
	for _, x := range d.Exchanges(k) {
		rounds += len(x.Rounds)
	}
	return rounds <= mostRounds
}

// AppendSignature appends to a key what the dimensions of an op depend on beside its kind and the shapes of its tensors.
func AppendSignature(key []byte, m *ir.Module, op ir.OpID) []byte {
	for _, d := range Dims(m, op, m.Shape) {
		w := d.window
		for _, x := range []int64{int64(d.In), int64(d.Out), int64(d.Kernel), w.Size, w.Stride, w.Low, w.BaseDilation, w.Dilation} {
			key = binary.AppendVarint(key, x)
		}
		if d.reversed {
			key = append(key, 1)
		}
	}
	if m.Kind(op) == ir.OpSort {
		s := Sorted(m, op, Counts(m))
		key = append(binary.AppendVarint(key, int64(s.Dim)), byte(min(s.Index, 0)))
		if s.Total {
			key = append(key, 1)
		}
	}
	if run, ok := Running(m, op, m.Shape); ok {
		key = binary.AppendVarint(append(key, 2), int64(run.Dim))
	}
	return key
}
