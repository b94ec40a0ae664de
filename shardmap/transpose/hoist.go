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
			axes, casts := q.VarianceOf(q.Module.Operand(op, 0)).V, castsInside(q, op)
			if axes != 0 && len(casts) > 0 {
				castOutside(q, op, axes)
				for _, c := range casts {
					q.Bypass(c)
				}
				changed = true
			}
		}
	})
	if !changed || elaborate(q) != nil {
		return p
	}
	return q
}

// castsInside returns the casts in the branches.
func castsInside(p *typed.Program, op ir.OpID) (casts []ir.OpID) {
	for b := range p.Module.InnerBlocks(op) {
		casts = append(casts, p.Module.OpsOf(b, ir.OpShardMapPvary)...)
	}
	return casts
}

// castOutside casts what the branches take from outside. The casts inside are dropped then; elaboration makes new ones.
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
}
