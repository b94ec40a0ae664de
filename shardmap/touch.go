package shardmap

import (
	"autoshard/ir"
	"autoshard/localform"
	"autoshard/subaxis"
)

// selectAndScatter chooses in all windows that touch this device's block, also those that begin before it, and keeps the block of what it
// scatters. For windows that do not exist it scatters what changes nothing (specification: localforms.md section 3.4, where what lies
// outside of the dimension is marked; here it is left to the padding of the op).
func (l *lowerer) selectAndScatter(op ir.OpID) error {
	m := l.m
	dims := l.dims(op)
	pieces := l.fetch(op, func(operand int) ir.ValueID {
		if operand == 0 {
			return 0
		}
		e := m.ValueType(m.Operand(op, 1)).DType
		reduction, _ := ir.ReductionOf(m, op, 1)
		return m.BuilderBefore(op).Identity(e, reduction)
	})
	l.results(op)
	windows := ir.Windows(m, op)
	for _, p := range pieces {
		if p.Operand == 0 {
			windows[p.Dim].Low, windows[p.Dim].High = p.Low, p.High
		}
	}
	v, init, after := m.Result(op, 0), m.Operand(op, 2), m.BuilderAfter(op)
	m.SetType(v, m.WithDims(m.Type(v), m.Shape(m.Operand(op, 0))))
	for _, d := range dims {
		if axes := l.axes(v, d.Out); len(axes) > 0 {
			f := &fetcher{lowerer: l, b: after, dim: d.Out, axes: axes, fill: init}
			v = f.keep(v, d.Kept(subaxis.Product(axes)))
		}
	}
	m.PadWindows(op, windows)
	return nil
}

// keep puts what is kept of a value in its place.
func (f *fetcher) keep(v ir.ValueID, k localform.Kept) ir.ValueID {
	padded := f.padded(v, k.Low, k.High, 0)
	kept := f.part(padded, k.At, k.Rows)
	if kept == v {
		return v
	}
	f.m.SetSharding(kept, f.m.Sharding(v))
	maker, first := f.m.DefiningOp(kept), f.m.DefiningOp(padded)
	f.m.ReplaceUsesIf(v, kept, func(u ir.Use) bool { return u.Op != maker && u.Op != first })
	f.p.Move(v, kept)
	return kept
}
