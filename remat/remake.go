package remat

import (
	"autoshard/ir"
	"autoshard/shardmap"
)

// remake makes the part of a stack that is read again before the first op that needs it. What was made for earlier ones is used.
func (r *remaker) remake(x *read, made map[ir.ValueID]ir.ValueID) {
	m := r.m
	v := x.written(m)
	if m.Type(v) != m.Type(x.value) { // the leading dimension is read, too
		v = x.update
	}
	ops, _ := r.needs(x.stack, v, nil)
	b := m.BuilderBefore(x.first)
	for _, op := range ops {
		if _, ok := made[m.Result(op, 0)]; ok {
			continue
		}
		for i, w := range m.Operands(op) {
			if !r.counts(x.stack, op, i) {
				r.bring(b, x, w, made)
			}
		}
		clone := m.CloneOp(b, op, made)
		m.SetAttrs(clone, m.OpAttrs(clone).With(shardmap.RecomputedAttr, ir.UnitAttr{}))
	}
	r.bring(b, x, v, made)
	m.ReplaceUses(x.value, made[v])
}

// bring makes known in the later loop what ops read that are made again: what the first loop carries round, and what it stacked up.
func (r *remaker) bring(b *ir.Builder, x *read, v ir.ValueID, made map[ir.ValueID]ir.ValueID) {
	m, body := r.m, r.m.RegionBlock(x.from, 1)
	if _, ok := made[v]; ok || m.BlockOf(v) != body {
		return
	}
	if m.DefiningOp(v) == 0 {
		made[v] = m.Operand(x.from, m.Index(v))
		return
	}
	s := r.stackOf(x.stack, v)
	if s == nil {
		return // it is made by an op
	}
	if made[s.update] == 0 {
		indices := []ir.ValueID{m.BlockArgs(m.RegionBlock(x.to, 1))[s.at], m.Operand(x.op, 1)}
		for _, zero := range m.Operands(s.write)[3:] {
			indices = append(indices, m.Result(m.CloneOp(b, m.DefiningOp(zero), map[ir.ValueID]ir.ValueID{}), 0))
		}
		sizes := ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints(m.Shape(s.update))))
		made[s.update] = b.Op1(ir.OpDynamicSlice, m.Type(s.update), sizes, indices...)
		m.SetSharding(made[s.update], m.Sharding(s.update))
	}
	if v != s.update {
		made[v] = b.Op1(ir.OpReshape, m.Type(v), nil, made[s.update])
		m.SetSharding(made[v], m.Sharding(v))
	}
}
