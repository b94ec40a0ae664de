package typed

import (
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/shardmap"
)

// shorthands are names that the text form reads as other ops, and the op whose attributes they have:
//
//	m:f32[2] = pmean[axes=(i,)] x                             a psum and a division
//	y:f32[2] = pshuffle[axes=(i,), perm=(2, 0, 3, 1)] x       a ppermute
//
// So is the attribute tiled=false of gathers, scatters and all_to_all, which stands for the tiled op and reshapes.
var shorthands = map[string]string{"pmean": "psum", "pshuffle": "ppermute"}

// untiled are the ops that have an untiled form.
var untiled = []ir.Kind{ir.OpShardMapAllGather, ir.OpShardMapAllGatherInvariant, ir.OpShardMapAllGatherReduced, ir.OpShardMapPsumScatter,
	ir.OpShardMapPscatter, ir.OpShardMapAllToAll}

// shorthand adds the ops that stand for one equation. Their types are found, not read, even where the text has braces.
func (r *reader) shorthand(block ir.BlockID, op string, left declared, attrs ir.Attrs, operands []ir.ValueID) {
	if len(left.names) != 1 || len(operands) != 1 {
		r.fail(diag.BadOp, "`%s` takes one value and has one result", op)
		return
	}
	before := r.m.LastOp(block)
	v, err := r.build(&Builder{p: r.p, m: r.m, at: r.m.BuilderAtEnd(block)}, op, attrs, operands[0])
	if err != nil {
		r.locate(err)
		return
	}
	if have := r.m.Type(v); have != left.types[0] {
		r.fail(diag.TypeMismatch, "%s: its result is %s, not %s (E_COLL_SHAPE)", op, formatType(r.m.TypeOf(have)),
			formatType(r.m.TypeOf(left.types[0])))
		return
	}
	for added := r.m.LastOp(block); added != before; added = r.m.PrevOp(added) {
		r.m.SetPos(added, r.place())
	}
	r.typed = false
	r.define(left.names[0], v, Variance{})
}

// build adds the ops that a shorthand stands for and returns the value of the last.
func (r *reader) build(b *Builder, op string, attrs ir.Attrs, x ir.ValueID) (ir.ValueID, error) {
	axes, _ := r.p.namesOf(attrs.Get("axes"))
	if len(axes) == 0 {
		return 0, r.p.bad(diag.BadAttribute, "E_OP", "%s: needs a list of axes", op)
	}
	if err := r.checkShorthand(op, attrs); err != nil {
		return 0, err
	}
	dim, groups, tiled := attrs.Int("dim", 0), shardmap.ListsOf(attrs.Get("groups")), attrs.Bool("tiled")
	var v ir.ValueID
	switch kind, _ := ir.ParseShardMap(op); kind {
	case ir.OpShardMapAllGather, ir.OpShardMapAllGatherInvariant, ir.OpShardMapAllGatherReduced:
		v = b.AllGather(x, dim, tiled, Gathered(kind-ir.OpShardMapAllGather), groups, axes...)
	case ir.OpShardMapPsumScatter:
		v = b.PsumScatter(x, dim, tiled, groups, axes...)
	case ir.OpShardMapPscatter:
		v = b.Pscatter(x, dim, tiled, axes...)
	case ir.OpShardMapAllToAll:
		v = b.AllToAll(x, attrs.Int("split", 0), attrs.Int("concat", 0), tiled, groups, axes...)
	default:
		if op == "pmean" {
			v = b.Pmean(x, axes...)
		} else {
			v = b.Pshuffle(x, attrs.Ints("perm"), axes...)
		}
	}
	return v, b.Err()
}

// checkShorthand checks the attributes of a shorthand that are not of the op it stands for.
func (r *reader) checkShorthand(op string, attrs ir.Attrs) error {
	kind, _ := ir.ParseShardMap(op)
	own := "" // the attribute that the op itself does not have
	switch {
	case op == "pshuffle":
		own = "perm"
		if _, ok := attrs.Get(own).(ir.Ints); !ok {
			return r.p.bad(diag.BadAttribute, "E_PERM", "perm of pshuffle is a list with the source of every member, such as (1, 0)")
		}
	case slices.Contains(untiled, kind):
		own = "tiled"
		if _, ok := attrs.Get(own).(ir.BoolAttr); !ok {
			return r.p.bad(diag.BadAttribute, "E_OP", "tiled is true or false")
		}
	}
	for _, a := range attrs {
		if a.Name != "axes" && a.Name != own && !kind.Declares(a.Name) {
			return r.p.bad(diag.BadAttribute, "E_OP", "%s has no attribute `%s`", op, a.Name)
		}
	}
	return nil
}
