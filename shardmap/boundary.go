package shardmap

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/padding"
	"autoshard/subaxis"
)

// boundary takes away what nobody computes: inputs come padded and outputs go padded. It fails on others that are not cut evenly.
func (p *Program) boundary() error {
	m, f := p.Module, p.Module.Func(p.Main)
	for i, arg := range m.BlockArgs(f.Body) {
		port := &p.Inputs[i]
		for use := range m.Uses(arg) {
			if padding.AtBoundary(m, use.Op) {
				v := m.Result(use.Op, 0)
				port.Padded = slices.Clone(m.Shape(v))
				m.SetType(arg, m.Type(v))
				m.ReplaceUses(v, arg)
				p.Move(v, arg)
				m.Erase(use.Op)
			}
		}
		if !m.HasUses(arg) && port.Layout.Dims != nil && !port.Layout.Divides(port.Dims) {
			port.Padded = port.filled()
		}
		if err := port.check(m.OpPos(f.Op), "input", i); err != nil {
			return err
		}
	}
	ret := m.LastOp(f.Body)
	for i, v := range m.Operands(ret) {
		if op := m.DefiningOp(v); padding.AtBoundary(m, op) {
			stored := m.Operand(op, 0)
			p.Outputs[i].Padded = slices.Clone(m.Shape(stored))
			m.SetOperand(ret, i, stored)
			p.Move(v, stored)
		}
		if err := p.Outputs[i].check(m.OpPos(f.Op), "output", i); err != nil {
			return err
		}
	}
	return nil
}

// filled returns the shape that all blocks together have where those that have less are filled up.
func (p *Port) filled() []int64 {
	dims := p.Layout.LocalDims(p.Dims)
	for d := range dims {
		dims[d] *= subaxis.Product(p.Layout.Dims[d])
	}
	return dims
}

func (p *Port) check(pos diag.Position, what string, i int) error {
	if p.Layout.Dims == nil {
		return nil
	}
	for d, n := range p.Stored() {
		if blocks := subaxis.Product(p.Layout.Dims[d]); n%blocks != 0 {
			return diag.Invalid(diag.BadSharding, pos, "dimension %d of %s %d has size %d, which %d blocks do not divide, and no pad or slice "+
				"with `%s` says how it is stored", d, what, i, n, blocks, padding.Boundary)
		}
	}
	return nil
}
