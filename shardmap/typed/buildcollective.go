package typed

import (
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
)

// Psum returns the sum over all members of the groups along the axes. Booleans are counted as i32.
func (b *Builder) Psum(x ir.ValueID, axes ...string) ir.ValueID {
	if len(axes) == 0 {
		return x
	}
	return b.collective(Collective{Kind: ir.OpShardMapPsum}, axes, b.countable(x))
}

// PsumGroups is Psum inside groups of members, for programs without check.
func (b *Builder) PsumGroups(x ir.ValueID, groups [][]int64, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapPsum, Groups: groups}, axes, b.countable(x))
}

func (b *Builder) countable(x ir.ValueID) ir.ValueID {
	if x != 0 && b.m.ValueType(x).DType == dtype.I1 {
		return b.Convert(x, dtype.I32)
	}
	return x
}

// Pmax and Pmin return the largest and the smallest element over all members; groups may be nil.
func (b *Builder) Pmax(x ir.ValueID, groups [][]int64, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapPmax, Groups: groups}, axes, x)
}

// Pmin is the smallest element over all members; groups may be nil.
func (b *Builder) Pmin(x ir.ValueID, groups [][]int64, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapPmin, Groups: groups}, axes, x)
}

// Pmean returns the mean over all members: a sum and a true division, which makes integers floats.
func (b *Builder) Pmean(x ir.ValueID, axes ...string) ir.ValueID {
	sum := b.Psum(x, axes...)
	if sum == 0 {
		return 0
	}
	if k := b.m.ValueType(sum).DType.Kind(); k != dtype.Float && k != dtype.Complex {
		sum = b.Convert(sum, dtype.F32)
	}
	n := int64(1)
	for _, name := range axes {
		n *= b.p.Mesh.Axes[axisNumber(&b.p.Mesh, name)].Size
	}
	return b.Binary(ir.OpDivide, sum, b.Constant(b.m.ValueType(sum).DType, nil, float64(n)))
}

// Gathered says what the result of a gather is along its axes.
type Gathered uint8

// The types of gathers.
const (
	ToVarying Gathered = iota
	ToInvariant
	ToReduced
)

// AllGather returns the blocks of all members joined along a dimension, or stacked along a new one if it is not tiled.
// Groups may be nil.
func (b *Builder) AllGather(x ir.ValueID, dim int64, tiled bool, to Gathered, groups [][]int64, axes ...string) ir.ValueID {
	kind := [...]ir.Kind{ir.OpShardMapAllGather, ir.OpShardMapAllGatherInvariant, ir.OpShardMapAllGatherReduced}[to]
	if !tiled {
		x = b.expand(x, dim)
	}
	return b.collective(Collective{Kind: kind, Dim: dim, Groups: groups}, axes, x)
}

// PsumScatter returns chunk m along a dimension of the sum over all members, or row m, without the dimension, if it is
// not tiled. Groups may be nil.
func (b *Builder) PsumScatter(x ir.ValueID, dim int64, tiled bool, groups [][]int64, axes ...string) ir.ValueID {
	return b.chunk(Collective{Kind: ir.OpShardMapPsumScatter, Dim: dim, Groups: groups}, tiled, axes, x)
}

// Pscatter returns chunk m along a dimension of an invariant value, or row m if it is not tiled.
func (b *Builder) Pscatter(x ir.ValueID, dim int64, tiled bool, axes ...string) ir.ValueID {
	return b.chunk(Collective{Kind: ir.OpShardMapPscatter, Dim: dim}, tiled, axes, x)
}

// chunk emits an op that leaves each member a chunk along a dimension, or a row.
func (b *Builder) chunk(c Collective, tiled bool, axes []string, x ir.ValueID) ir.ValueID {
	if tiled {
		return b.collective(c, axes, x)
	}
	b.wholeDim(&c, c.Dim, axes, x)
	return b.squeeze(b.collective(c, axes, x), c.Dim)
}

// AllToAll sends chunk k along dimension split to member k and joins what arrives along dimension concat. The untiled
// form takes dimension split away and puts a new one at concat of the result (shardmap.md sections 2.5 and 2.7).
func (b *Builder) AllToAll(x ir.ValueID, split, concat int64, tiled bool, groups [][]int64, axes ...string) ir.ValueID {
	c := Collective{Kind: ir.OpShardMapAllToAll, Split: split, Concat: concat, Groups: groups}
	if tiled {
		return b.collective(c, axes, x)
	}
	b.wholeDim(&c, split, axes, x)
	switch {
	case split < concat:
		x = b.expand(x, concat+1)
		c.Concat++
		return b.squeeze(b.collective(c, axes, x), split)
	case concat < split:
		x = b.expand(x, concat)
		c.Split++
		return b.squeeze(b.collective(c, axes, x), split+1)
	}
	return b.collective(c, axes, x)
}

// wholeDim checks that a dimension has one row per member, as untiled forms need.
func (b *Builder) wholeDim(c *Collective, dim int64, axes []string, x ir.ValueID) {
	if b.err != nil || x == 0 {
		return
	}
	dims := b.m.Shape(x)
	if err := b.p.checkDim("dimension", dim, dims); err != nil {
		b.fail(b.about(err, c.Kind, []ir.ValueID{x}))
		return
	}
	whole, err := *c, error(nil)
	if whole.Axes, err = b.p.boundAxes(c.Axes, axes); err != nil {
		b.fail(b.about(err, c.Kind, []ir.ValueID{x}))
		return
	}
	if n := b.p.members(&whole); dims[dim] != n {
		b.fail(b.about(b.p.bad("AS1102", "E_COLL_SHAPE",
			"the untiled form needs size %d in dimension %d of a block of shape %s, one row per member",
			n, dim, formatDims(dims)), c.Kind, []ir.ValueID{x}))
	}
}

// Ppermute returns the block of the member that a pair (source, destination) names for this one, zeros without one.
func (b *Builder) Ppermute(x ir.ValueID, perm [][2]int64, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapPpermute, Perm: perm}, axes, x)
}

// Pshuffle returns the block of member perm[m]; perm is a permutation.
func (b *Builder) Pshuffle(x ir.ValueID, perm []int64, axes ...string) ir.ValueID {
	var pairs [][2]int64
	for to, from := range perm {
		pairs = append(pairs, [2]int64{from, int64(to)})
	}
	return b.Ppermute(x, pairs, axes...)
}

// Pbroadcast returns the block of one member.
func (b *Builder) Pbroadcast(x ir.ValueID, source int64, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapPbroadcast, Source: source}, axes, x)
}

// RaggedAllToAll exchanges slices of different lengths (shardmap.md section 2.10).
func (b *Builder) RaggedAllToAll(operand, output, inOffsets, sendSizes, outOffsets, recvSizes ir.ValueID, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapRaggedAllToAll}, axes, operand, output, inOffsets, sendSizes, outOffsets, recvSizes)
}

// AxisIndex returns the number of this device among the members of its group, as i32.
func (b *Builder) AxisIndex(axes ...string) ir.ValueID {
	if len(axes) == 0 {
		return b.Constant(dtype.I32, nil, 0)
	}
	return b.collective(Collective{Kind: ir.OpShardMapAxisIndex}, axes)
}

// Cast returns the value itself as one that varies along the axes.
func (b *Builder) Cast(x ir.ValueID, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapPvary}, axes, x)
}

// CastReduced returns an invariant value as a reduced one.
func (b *Builder) CastReduced(x ir.ValueID, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapPreduced}, axes, x)
}

// CastUnreduced returns the reduction of the blocks along the axes, not yet computed: each block is a term.
func (b *Builder) CastUnreduced(x ir.ValueID, kind ir.Reduction, axes ...string) ir.ValueID {
	return b.collective(Collective{Kind: ir.OpShardMapVaryUnreducedCast, Reduction: kind}, axes, x)
}

// expand adds a dimension of size 1, squeeze takes one away.
func (b *Builder) expand(x ir.ValueID, dim int64) ir.ValueID {
	if b.err != nil || x == 0 {
		return 0
	}
	dims := slices.Clone(b.m.Shape(x))
	if dim < 0 || dim > int64(len(dims)) {
		return b.badOp(ir.OpReshape, []ir.ValueID{x}, "no place for a new dimension at "+itoa(dim))
	}
	return b.Reshape(x, slices.Insert(dims, int(dim), 1)...)
}

func (b *Builder) squeeze(x ir.ValueID, dim int64) ir.ValueID {
	if b.err != nil || x == 0 {
		return 0
	}
	return b.Reshape(x, slices.Delete(slices.Clone(b.m.Shape(x)), int(dim), int(dim)+1)...)
}
