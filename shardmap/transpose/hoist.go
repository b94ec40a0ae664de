package transpose

import (
	"autoshard/ir"
	"autoshard/shardmap/typed"
)

// hoisted returns the program with casts over axes along which devices take different branches before the branches,
// on what these take from outside, instead of inside, where the transpose of a cast would be a sum to which not all
// members come. The program is returned as it is where that has no types.
func hoisted(p *typed.Program) *typed.Program {
	q := p.Clone()
	changed := false
	q.Module.Walk(q.Body(), func(op ir.OpID) {
		if kind := q.Module.Kind(op); kind == ir.OpIf || kind == ir.OpCase {
			if axes := q.VarianceOf(q.Module.Operand(op, 0)).V; axes != 0 && castInside(q, op) {
				castOutside(q, op, axes)
				changed = true
			}
		}
	})
	if !changed || elaborate(q) != nil {
		return p
	}
	return q
}

// castInside says whether a cast stands in a branch.
func castInside(p *typed.Program, op ir.OpID) (found bool) {
	for r := range p.Module.NumRegions(op) {
		p.Module.Walk(p.Module.RegionBlock(op, r), func(inner ir.OpID) { found = found || p.Module.Kind(inner) == ir.OpShardMapPvary })
	}
	return found
}

// castOutside casts what the branches take from outside and drops the casts inside; elaboration makes new ones.
func castOutside(p *typed.Program, op ir.OpID, axes typed.AxisSet) {
	m := p.Module
	within := func(user ir.OpID) bool {
		for user = m.ParentOp(user); user != 0 && user != op; {
			user = m.ParentOp(user)
		}
		return user == op
	}
	cast := map[ir.ValueID]bool{}
	for _, v := range p.Captures(op)[1:] {
		missing := axes &^ p.VarianceOf(v).V
		if cast[v] || missing == 0 || !isFloat(m, v) {
			continue
		}
		cast[v] = true
		w := typed.Edit(p, op).Emit(typed.Collective{Kind: ir.OpShardMapPvary, Axes: missing.Axes()}, v)
		m.ReplaceUsesIf(v, w, func(u ir.Use) bool { return within(u.Op) })
	}
	var casts []ir.OpID
	for r := range m.NumRegions(op) {
		m.Walk(m.RegionBlock(op, r), func(inner ir.OpID) {
			if p.Module.Kind(inner) == ir.OpShardMapPvary {
				casts = append(casts, inner)
			}
		})
	}
	for _, c := range casts {
		v := m.Result(c, 0)
		m.ReplaceUses(v, m.Operand(c, 0))
		delete(p.Names, v)
		m.Erase(c)
	}
}
