package padding

import (
	"slices"

	"autoshard/ir"
)

// arguments puts pads behind the arguments that are stored padded.
func (p *padder) arguments() {
	m := p.m
	b := m.BuilderBefore(m.FirstOp(p.body))
	for _, arg := range m.BlockArgs(p.body) {
		if dims := p.padded(arg, nil); m.HasUses(arg) && !slices.Equal(dims, m.Shape(arg)) {
			v := p.grow(b, arg, dims)
			p.mark(v)
			p.divert(arg, v, p.made)
		}
	}
}

// mark says that nobody computes an op.
func (p *padder) mark(v ir.ValueID) {
	op := p.m.DefiningOp(v)
	p.m.SetAttrs(op, p.m.OpAttrs(op).With(Boundary, ir.UnitAttr{}))
}

// block pads the ops of a block.
func (p *padder) block(b ir.BlockID) error {
	for op := range p.m.Ops(b) {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		switch k := p.m.Kind(op); {
		case op >= p.made:
		case k.IsTerminator():
			if b == p.body {
				p.results(op)
			}
		case k == ir.OpSdyReshard:
			p.reshard(op)
		case p.enters(op):
			if err := p.flow(op); err != nil {
				return err
			}
		default:
			p.op(op)
		}
	}
	return nil
}

// results takes the padding off what the function returns.
func (p *padder) results(ret ir.OpID) {
	m := p.m
	for i := range m.NumOperands(ret) {
		v := m.Operand(ret, i)
		if !p.has(v) {
			continue
		}
		if whole := p.unpadded(v); !slices.Equal(whole, m.Shape(v)) {
			out := p.shrink(m.BuilderBefore(ret), v, whole)
			p.mark(out)
			m.SetOperand(ret, i, out)
		}
	}
}

// flow pads what a loop carries, or what branches return, and the ops inside.
func (p *padder) flow(op ir.OpID) error {
	for _, v := range p.m.Results(op) {
		p.retype(v, p.padded(v, nil))
	}
	for b := range p.m.InnerBlocks(op) {
		for _, v := range p.m.BlockArgs(b) {
			p.retype(v, p.padded(v, nil))
		}
		if err := p.block(b); err != nil {
			return err
		}
	}
	return nil
}

func (p *padder) retype(v ir.ValueID, dims []int64) {
	if p.has(v) && !slices.Equal(dims, p.m.Shape(v)) {
		p.m.SetType(v, p.m.WithDims(p.m.Type(v), dims))
	}
}

// reshard pads a reshard. Where the sizes before and after differ, one of the two is whole, or becomes so on the way.
func (p *padder) reshard(op ir.OpID) {
	m := p.m
	from, to := m.Operand(op, 0), m.Result(op, 0)
	dims := p.padded(to, nil)
	if slices.Equal(m.Shape(from), dims) {
		p.retype(to, dims)
		return
	}
	v := p.resize(m.BuilderBefore(op), from, dims, m.Sharding(to))
	p.alias(v, to)
	m.ReplaceUses(to, v)
	m.Erase(op)
}

// op pads an op that computes: its operands and results are as it has them, and it sees nothing of what pads them.
func (p *padder) op(op ir.OpID) {
	m := p.m
	roles := p.roles[op]
	changed := false
	for i := range m.NumOperands(op) {
		v := m.Operand(op, i)
		if !p.has(v) {
			continue
		}
		dims := p.padded(v, roles.operands[i])
		if !slices.Equal(dims, m.Shape(v)) {
			resized := p.resize(m.BuilderBefore(op), v, dims, m.Sharding(v))
			p.alias(resized, v)
			m.SetOperand(op, i, resized)
		}
		changed = changed || !slices.Equal(dims, p.unpadded(v))
	}
	if roles.moving {
		if v, made := p.move(op, roles, changed); made {
			p.finish(op, v)
			return
		}
	} else if changed {
		p.hide(op, roles)
	}
	for i, v := range m.Results(op) {
		if !p.has(v) {
			continue
		}
		made, final := p.padded(v, roles.results[i]), p.padded(v, nil)
		if m.Kind(op) == ir.OpConstant || m.Kind(op) == ir.OpSdyConstant {
			p.constant(op, final)
			return
		}
		p.retype(v, made)
		if !slices.Equal(made, final) {
			next := ir.OpID(m.NumOps())
			p.divert(v, p.resize(m.BuilderAfter(op), v, final, m.Sharding(v)), next)
		}
	}
}

// finish puts a value in the place of the result of an op that is no longer needed.
func (p *padder) finish(op ir.OpID, v ir.ValueID) {
	m, old := p.m, p.m.Result(op, 0)
	p.alias(v, old)
	m.ReplaceUses(old, v)
	m.Erase(op)
}

// constant pads a constant: one of equal elements by more of them. Others are padded where they are whole, which is where programs
// have them.
func (p *padder) constant(op ir.OpID, dims []int64) {
	m, v := p.m, p.m.Result(op, 0)
	if slices.Equal(dims, m.Shape(v)) {
		return
	}
	value, ok := m.Attr(op, "value").(*ir.Dense)
	if ok && value.Splat {
		grown := *value
		grown.Type = m.WithDims(m.Type(v), dims)
		m.SetAttrs(op, m.OpAttrs(op).With("value", &grown))
		p.retype(v, dims)
		return
	}
	final := m.Sharding(v)
	m.SetSharding(v, m.Replicated(p.mesh, len(dims), true))
	next := ir.OpID(m.NumOps())
	p.divert(v, p.resize(m.BuilderAfter(op), v, dims, final), next)
}

// divert lets the uses that a value had go through another one that is made of it by ops from first on.
func (p *padder) divert(from, to ir.ValueID, first ir.OpID) {
	p.m.ReplaceUsesIf(from, to, func(u ir.Use) bool { return u.Op < first })
	p.alias(to, from)
}

// unpadded returns the shape that a value had.
func (p *padder) unpadded(v ir.ValueID) []int64 {
	out := make([]int64, len(p.m.Shape(v)))
	for d := range out {
		out[d] = p.dims[p.at(v, d)].size
	}
	return out
}
