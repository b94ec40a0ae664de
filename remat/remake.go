package remat

import (
	"slices"

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

// without takes some places out of what a loop carries: nothing reads them but what hands them on, or writes into them.
func without(m *ir.Module, loop ir.OpID, places []int) {
	keep := func(list []ir.ValueID) (out []ir.ValueID) {
		for i, v := range list {
			if !slices.Contains(places, i) {
				out = append(out, v)
			}
		}
		return out
	}
	results := keep(m.ResultValues(loop))
	b := m.BuilderBefore(loop)
	b.Loc = m.OpLoc(loop)
	other := b.OpRegions(ir.OpWhile, m.TypesOf(results), m.OpAttrs(loop), m.NumRegions(loop), keep(m.Operands(loop))...)
	m.InheritPos(other, loop)
	for i, v := range results {
		m.SetSharding(m.Result(other, i), m.Sharding(v))
	}
	for i := range m.NumRegions(loop) {
		from, to := m.RegionBlock(loop, i), m.AddBlock(m.Region(other, i))
		values := map[ir.ValueID]ir.ValueID{}
		for _, arg := range keep(m.BlockArgs(from)) {
			values[arg] = m.AddBlockArg(to, m.Type(arg))
			m.SetSharding(values[arg], m.Sharding(arg))
			m.SetArgLoc(values[arg], m.ArgLoc(arg))
		}
		inner := m.BuilderAtEnd(to)
		last := m.LastOp(from)
		if i == 1 { // what is dropped is neither written nor handed on
			for _, place := range places {
				m.SetOperand(last, place, keep(m.Operands(last))[0])
			}
			for op := m.PrevOp(last); op != 0; {
				before := m.PrevOp(op)
				if ir.IsDead(m, op) {
					m.Erase(op)
				}
				op = before
			}
		}
		m.CloneInto(inner, from, values)
		returned := m.Operands(last)
		if i == 1 {
			returned = keep(returned)
		}
		for k, v := range returned {
			if to, ok := values[v]; ok {
				returned[k] = to
			}
		}
		inner.Loc = m.OpLoc(last)
		inner.Op(m.Kind(last), nil, m.OpAttrs(last), returned...)
	}
	for i, v := range results {
		m.ReplaceUses(v, m.Result(other, i))
	}
	m.Erase(loop)
}
