package transpose

import (
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
)

// mirror are the transposes of collectives and casts with the check on (specification: shardmap.md section 4.3). Those
// that have attributes are completed by collective.
var mirror = map[ir.Kind]ir.Kind{
	ir.OpShardMapPsum: ir.OpShardMapPvary, ir.OpShardMapPvary: ir.OpShardMapPsum,
	ir.OpShardMapAllGather: ir.OpShardMapPsumScatter, ir.OpShardMapPsumScatter: ir.OpShardMapAllGather,
	ir.OpShardMapAllGatherInvariant: ir.OpShardMapPscatter, ir.OpShardMapPscatter: ir.OpShardMapAllGatherInvariant,
	ir.OpShardMapPpermute: ir.OpShardMapPpermute, ir.OpShardMapAllToAll: ir.OpShardMapAllToAll,
	ir.OpShardMapPreduced: ir.OpShardMapUnreducedPsum, ir.OpShardMapUnreducedPsum: ir.OpShardMapPreduced,
	ir.OpShardMapReducedVaryCast: ir.OpShardMapVaryUnreducedCast, ir.OpShardMapVaryUnreducedCast: ir.OpShardMapReducedVaryCast,
	ir.OpShardMapAllGatherReduced: ir.OpShardMapUnreducedPsumScatter, ir.OpShardMapUnreducedPsumScatter: ir.OpShardMapAllGatherReduced,
}

// collective transposes a collective or cast.
func (t *transposer) collective(op ir.OpID, g ir.ValueID) {
	c, err := t.p.Collective(op)
	if err != nil {
		t.fail(err)
		return
	}
	x := t.m.Operand(op, 0)
	if c.Reduction != ir.ReduceSum || t.m.NumOperands(op) != 1 {
		t.nonlinear(op)
		return
	}
	if c.Kind == ir.OpShardMapPbroadcast {
		t.add(x, t.pbroadcast(&c, g))
		return
	}
	if !t.p.Check {
		t.add(x, t.unchecked(op, &c, x, g))
		return
	}
	kind, ok := mirror[c.Kind]
	if !ok {
		t.nonlinear(op)
		return
	}
	c.Kind = kind
	t.add(x, t.b.Emit(reversed(c), g))
}

// reversed swaps the roles of sender and receiver in the attributes of a collective.
func reversed(c typed.Collective) typed.Collective {
	c.Split, c.Concat = c.Concat, c.Split
	c.Perm = lists.Map(c.Perm, func(pair [2]int64) [2]int64 { return [2]int64{pair[1], pair[0]} })
	return c
}

// unchecked transposes with the check off, where a cotangent is a share of the whole on each device (specification:
// shardmap.md section 4.4).
func (t *transposer) unchecked(op ir.OpID, c *typed.Collective, x, g ir.ValueID) ir.ValueID {
	switch c.Kind {
	case ir.OpShardMapPvary:
		return g
	case ir.OpShardMapPsum:
		return t.b.Emit(*c, g)
	case ir.OpShardMapAllGather, ir.OpShardMapPsumScatter, ir.OpShardMapPpermute, ir.OpShardMapAllToAll:
		out := reversed(*c)
		out.Kind = mirror[c.Kind]
		return t.b.Emit(out, g)
	case ir.OpShardMapAllGatherInvariant:
		return t.b.Emit(typed.Collective{Kind: ir.OpShardMapPsumScatter, Axes: c.Axes, Dim: c.Dim}, g)
	case ir.OpShardMapPscatter: // each member gives back its chunk only
		member := t.b.Emit(typed.Collective{Kind: ir.OpShardMapAxisIndex, Axes: c.Axes})
		chunk := t.m.Shape(g)[c.Dim]
		index := lists.Map(t.m.Shape(g), func(int64) ir.ValueID { return t.b.Constant(dtype.I32, nil, 0) })
		index[c.Dim] = t.b.Binary(ir.OpMultiply, member, t.b.Constant(dtype.I32, nil, float64(chunk)))
		return t.b.DynamicUpdateSlice(t.zeros(x), g, index...)
	}
	t.nonlinear(op)
	return 0
}

// pbroadcast sums the cotangents of all members for the one that was the source; the others had no effect.
func (t *transposer) pbroadcast(c *typed.Collective, g ir.ValueID) ir.ValueID {
	sum := t.b.Emit(typed.Collective{Kind: ir.OpShardMapPsum, Axes: c.Axes}, g)
	if t.p.Check {
		sum = t.b.Emit(typed.Collective{Kind: ir.OpShardMapPvary, Axes: c.Axes}, sum)
	}
	member := t.b.Emit(typed.Collective{Kind: ir.OpShardMapAxisIndex, Axes: c.Axes})
	isSource := t.b.Compare("EQ", member, t.b.Constant(dtype.I32, nil, float64(c.Source)))
	if len(t.m.Shape(g)) > 0 {
		isSource = t.b.Broadcast(isSource, t.m.Shape(g))
	}
	return t.b.Select(isSource, sum, t.b.Constant(t.m.ValueType(g).DType, t.m.Shape(g), 0))
}

// unsupported refuses an op that is linear but not transposed here.
func (t *transposer) unsupported(op ir.OpID, why string) {
	t.fail(diag.Unsupported(diag.NotSupported, t.m.OpPos(op), "%s has no transpose: %s", t.p.Describe(op), why))
}
