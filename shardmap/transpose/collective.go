package transpose

import (
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap/typed"
)

// mirror are the transposes of collectives and casts with the check on (specification: shardmap.md section 4.3). Those
// that have attributes are completed by collective.
var mirror = map[string]string{
	typed.Psum: typed.Pvary, typed.Pvary: typed.Psum,
	typed.AllGather: typed.PsumScatter, typed.PsumScatter: typed.AllGather,
	typed.AllGatherInvariant: typed.Pscatter, typed.Pscatter: typed.AllGatherInvariant,
	typed.Ppermute: typed.Ppermute, typed.AllToAll: typed.AllToAll,
	typed.Preduced: typed.UnreducedPsum, typed.UnreducedPsum: typed.Preduced,
	typed.ReducedVaryCast: typed.VaryUnreducedCast, typed.VaryUnreducedCast: typed.ReducedVaryCast,
	typed.AllGatherReduced: typed.UnreducedPsumScatter, typed.UnreducedPsumScatter: typed.AllGatherReduced,
}

// collective transposes a collective or cast.
func (t *transposer) collective(op ir.OpID, g ir.ValueID) {
	c, err := t.p.Collective(op)
	if err != nil {
		t.fail(err)
		return
	}
	x := t.m.Operand(op, 0)
	if c.Kind != ir.ReduceSum || t.m.NumOperands(op) != 1 {
		t.nonlinear(op)
		return
	}
	if c.Name == typed.Pbroadcast {
		t.add(x, t.pbroadcast(&c, g))
		return
	}
	if !t.p.Check {
		t.add(x, t.unchecked(op, &c, x, g))
		return
	}
	name, ok := mirror[c.Name]
	if !ok {
		t.nonlinear(op)
		return
	}
	c.Name = name
	t.add(x, t.b.Emit(reversed(c), g))
}

// reversed swaps the roles of sender and receiver in the attributes of a collective.
func reversed(c typed.Collective) typed.Collective {
	c.Split, c.Concat = c.Concat, c.Split
	pairs := c.Perm
	c.Perm = nil
	for _, pair := range pairs {
		c.Perm = append(c.Perm, [2]int64{pair[1], pair[0]})
	}
	return c
}

// unchecked transposes with the check off, where a cotangent is a share of the whole on each device (specification:
// shardmap.md section 4.4).
func (t *transposer) unchecked(op ir.OpID, c *typed.Collective, x, g ir.ValueID) ir.ValueID {
	switch c.Name {
	case typed.Pvary:
		return g
	case typed.Psum:
		return t.b.Emit(*c, g)
	case typed.AllGather, typed.PsumScatter, typed.Ppermute, typed.AllToAll:
		out := reversed(*c)
		out.Name = mirror[c.Name]
		return t.b.Emit(out, g)
	case typed.AllGatherInvariant:
		return t.b.Emit(typed.Collective{Name: typed.PsumScatter, Axes: c.Axes, Dim: c.Dim}, g)
	case typed.Pscatter: // each member gives back its chunk only
		chunk := t.m.Shape(g)[c.Dim]
		member := t.b.Emit(typed.Collective{Name: typed.AxisIndex, Axes: c.Axes})
		index := make([]ir.ValueID, len(t.m.Shape(g)))
		for d := range index {
			index[d] = t.b.Constant(dtype.I32, nil, 0)
		}
		index[c.Dim] = t.b.Binary(ir.OpMultiply, member, t.b.Constant(dtype.I32, nil, float64(chunk)))
		return t.b.DynamicUpdateSlice(t.zeros(x), g, index...)
	}
	t.nonlinear(op)
	return 0
}

// pbroadcast sums the cotangents of all members for the one that was the source; the others had no effect.
func (t *transposer) pbroadcast(c *typed.Collective, g ir.ValueID) ir.ValueID {
	sum := t.b.Emit(typed.Collective{Name: typed.Psum, Axes: c.Axes}, g)
	if t.p.Check {
		sum = t.b.Emit(typed.Collective{Name: typed.Pvary, Axes: c.Axes}, sum)
	}
	member := t.b.Emit(typed.Collective{Name: typed.AxisIndex, Axes: c.Axes})
	isSource := t.b.Compare("EQ", member, t.b.Constant(dtype.I32, nil, float64(c.Source)))
	typ := t.m.ValueType(g)
	if len(typ.Dims) > 0 {
		isSource = t.b.Broadcast(isSource, typ.Dims)
	}
	zero := t.b.Constant(typ.DType, typ.Dims, 0)
	return t.b.Select(isSource, sum, zero)
}

// unsupported refuses an op that is linear but not transposed here.
func (t *transposer) unsupported(op ir.OpID, why string) {
	t.fail(diag.Unsupported(diag.NotSupported, t.m.OpPos(op), "%s has no transpose: %s", t.p.Describe(op), why))
}
