package shardmap

import (
	"slices"

	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/localform"
	"autoshard/subaxis"
)

// zeros is the fill of ops that have none of their own, or do not look at it.
func zeros(int) ir.ValueID { return 0 }

// slice takes its elements out of the part of the operand that has them.
func (l *lowerer) slice(op ir.OpID) error {
	m := l.m
	start, limit := slices.Clone(m.OpAttrs(op).Ints("start_indices")), slices.Clone(m.OpAttrs(op).Ints("limit_indices"))
	for _, p := range l.fetch(op, zeros) {
		start[p.Dim], limit[p.Dim] = 0, p.Local()
	}
	m.SetAttrs(op, m.OpAttrs(op).With("start_indices", ir.Ints(start)).With("limit_indices", ir.Ints(limit)))
	l.results(op)
	l.unlessIdle(op)
	return nil
}

// pad surrounds what it needs of the operand along the dimensions that are cut, and what it has along the others.
func (l *lowerer) pad(op ir.OpID) error {
	m := l.m
	p := localform.PaddingOf(m, op, l.fetch(op, func(int) ir.ValueID { return m.Operand(op, 1) }))
	m.SetAttrs(op, m.OpAttrs(op).With("edge_padding_low", ir.Ints(p.Low)).With("edge_padding_high", ir.Ints(p.High)).
		With("interior_padding", ir.Ints(p.Interior)))
	l.results(op)
	if p.Idle() {
		l.unlessIdle(op)
	}
	return nil
}

// unlessIdle removes an op that gives its operand back.
func (l *lowerer) unlessIdle(op ir.OpID) {
	if v := l.m.Operand(op, 0); l.m.Type(v) == l.m.Type(l.m.Result(op, 0)) {
		l.replace(op, v)
	}
}

// reverse turns the block round that mirrors this device's.
func (l *lowerer) reverse(op ir.OpID) error {
	l.fetch(op, zeros)
	l.results(op)
	return nil
}

// reduceWindow slides over what its windows need, or runs on from where other devices are.
func (l *lowerer) reduceWindow(op ir.OpID) error {
	if run, ok := localform.Running(l.m, op, l.whole(op)); ok {
		if axes := l.axes(l.m.Result(op, 0), run.Dim); len(axes) > 0 {
			l.running(op, run, axes)
			return nil
		}
	}
	n := l.m.NumOperands(op) / 2
	l.windows(op, func(operand int) ir.ValueID { return l.m.Operand(op, n+operand) })
	l.results(op)
	return nil
}

// windows brings a windowed op what its windows need along the dimensions that are cut.
func (l *lowerer) windows(op ir.OpID, fill func(operand int) ir.ValueID) {
	m := l.m
	windows, base := ir.Windows(m, op), "base_dilations"
	at := func(d int) int { return d }
	if c, ok := m.Attr(op, "dimension_numbers").(*ir.ConvDims); ok {
		base = "lhs_dilation"
		at = func(d int) int { return slices.Index(c.InSpatial, int64(d)) }
	}
	pieces := l.fetch(op, fill)
	if len(pieces) == 0 {
		return
	}
	for _, p := range pieces {
		w := &windows[at(p.Dim)]
		w.Low, w.High, w.BaseDilation = p.Sliding()
	}
	m.SetAttrs(op, m.OpAttrs(op).With(base, ir.Ints(lists.Map(windows, func(w ir.Window) int64 { return w.BaseDilation }))))
	m.PadWindows(op, windows)
}

// concatenate writes what of each operand is in this device's block into one buffer.
func (l *lowerer) concatenate(op ir.OpID) error {
	m := l.m
	v := m.Result(op, 0)
	joined := int(m.OpAttrs(op).Int("dimension", 0))
	axes := l.axes(v, joined)
	if len(axes) == 0 {
		l.results(op)
		return nil
	}
	f := &fetcher{lowerer: l, b: m.BuilderBefore(op), op: op, dim: joined, axes: axes}
	exchanges := l.dims(op)[0].Exchanges(subaxis.Product(axes))
	buffer := f.filled(m.Operand(op, 0), exchanges[0].Width)
	for i, x := range exchanges {
		buffer = f.place(buffer, m.Operand(op, i), x)
	}
	l.replace(op, f.part(buffer, exchanges[0].At, exchanges[0].Rows))
	return nil
}
