package typed

import (
	"encoding/binary"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// cutAxes refines the mesh so that ops run along whole axes where they can: collectives first, then places.
func (r *deviceReader) cutAxes() {
	for i := range r.src.Collectives {
		if c := &r.src.Collectives[i]; c.From != 0 {
			_ = r.cuts.Add(c.Axes...) // else it runs in groups along all axes
		}
	}
	r.m.Walk(r.m.Func(r.src.Main).Body, func(op ir.OpID) {
		switch r.m.Kind(op) {
		case ir.OpShardMapAxisIndex:
			_ = r.cuts.Add(shardmap.AxesOf(r.m, op)...) // else it is looked up by the place along all axes
		case ir.OpShardMapPscatter:
			for _, refs := range perDim(r.m, op) {
				_ = r.cuts.Add(refs...)
			}
		}
	})
}

// perDim returns the axes along which a pscatter takes the device's part of each dimension.
func perDim(m *ir.Module, op ir.OpID) []ir.ShardAxes {
	return m.Attr(op, "axes").(*ir.AxesPerDimAttr).Dims
}

// whole returns parts of axes of the source as axes of the refined mesh, without those of size 1, and whether there are
// such axes.
func (r *deviceReader) whole(refs []subaxis.Ref) ([]int, bool) {
	axes := slices.DeleteFunc(r.refined.Axes(refs), func(a int) bool { return r.p.Mesh.Axes[a].Size == 1 })
	return axes, r.p.GroupSize(axes) == subaxis.Product(refs)
}

// overWholeAxes replaces the ops over axes and parts of axes by those of this package.
func (r *deviceReader) overWholeAxes(b ir.BlockID) error {
	m := r.m
	var ops []ir.OpID
	m.Walk(b, func(op ir.OpID) {
		if k := m.Kind(op); k.IsShardMap() || k == ir.OpReplicaId || k == ir.OpPartitionId && r.src.Mesh.DeviceIDs != nil {
			ops = append(ops, op)
		}
	})
	for _, op := range ops {
		if err := r.overWhole(op); err != nil {
			return err
		}
	}
	return nil
}

func (r *deviceReader) overWhole(op ir.OpID) error {
	m, a := r.m, r.m.OpAttrs(op)
	refs := shardmap.AxesOf(m, op)
	c := Collective{Kind: m.Kind(op), Dim: a.Int("dim", 0), Split: a.Int("split", 0), Concat: a.Int("concat", 0)}
	number := func(v ir.ValueID) error {
		m.ReplaceUses(m.Result(op, 0), v)
		m.Erase(op)
		return nil
	}
	switch c.Kind {
	case ir.OpPartitionId:
		return number(r.lookUp(op, dtype.UI32, r.src.Mesh.DeviceIDs))
	case ir.OpReplicaId:
		return number(constantOf(m.BuilderBefore(op), m.Type(m.Result(op, 0)), dtype.UI32, 0))
	case ir.OpShardMapAxisIndex:
		return number(r.numberAlong(op, refs))
	case ir.OpShardMapPpermute:
		pairs := map[[2]int64]bool{}
		for _, members := range r.src.Mesh.Groups(refs) {
			for _, pair := range shardmap.PermOf(m, op) {
				pairs[[2]int64{members[pair[0]], members[pair[1]]}] = true
			}
		}
		return r.permuteAlong(op, pairs)
	case ir.OpShardMapPscatter:
		r.slice(op)
		return nil
	case ir.OpShardMapAllGatherInvariant:
		c.Kind = ir.OpShardMapAllGather
	}
	ok := false
	if c.Axes, ok = r.whole(refs); !ok {
		c.Axes, c.Groups = r.p.allAxes().Axes(), r.src.Mesh.Groups(refs)
	}
	return r.reduceAndReplace(op, c)
}

// reduceAndReplace is replace, where reductions of truth values, which JAX counts, are maxima, and a maximum or minimum of
// which each member keeps its chunk, which has no op of its own, becomes two.
func (r *deviceReader) reduceAndReplace(op ir.OpID, c Collective) error {
	m := r.m
	x := m.Operand(op, 0)
	reduce := map[string]ir.Kind{"max": ir.OpShardMapPmax, "min": ir.OpShardMapPmin}[m.OpAttrs(op).Str("kind")]
	if reduce == ir.OpUnregistered && m.ValueType(x).DType == dtype.I1 {
		reduce = ir.OpShardMapPmax
	}
	switch {
	case reduce == ir.OpUnregistered:
	case c.Kind == ir.OpShardMapPsum:
		c.Kind = reduce
	case c.Kind == ir.OpShardMapPsumScatter && len(c.Axes) > 0:
		b := Edit(r.p, op)
		v := b.Emit(Collective{Kind: reduce, Axes: c.Axes, Groups: c.Groups}, x)
		if b.err != nil {
			return r.p.inOp(op, b.err)
		}
		if c.Groups != nil {
			return diag.Unsupported(diag.NotSupported, m.OpPos(op),
				"the groups of `%s` run along no axes, and its reduction is no sum", m.OpName(op))
		}
		m.SetOperand(op, 0, v)
		c.Kind = ir.OpShardMapPscatter
	}
	return r.replace(op, c)
}

// slice makes a dynamic slice of a pscatter, and notes it for when it is known along which axes the operand varies.
func (r *deviceReader) slice(op ir.OpID) {
	m := r.m
	dims := make([][]int, 0, len(m.Shape(m.Result(op, 0))))
	all := true
	for _, refs := range perDim(m, op) {
		axes, ok := r.whole(refs)
		dims, all = append(dims, axes), all && ok
	}
	if all {
		r.pieces[op] = dims
	}
	m.SetKind(op, ir.OpDynamicSlice)
	m.SetAttrs(op, ir.MakeAttrs(attr("slice_sizes", ir.Ints(m.Shape(m.Result(op, 0))))))
}

// numberAlong returns the number of the device along axes and parts of axes.
func (r *deviceReader) numberAlong(at ir.OpID, refs []subaxis.Ref) ir.ValueID {
	if axes, ok := r.whole(refs); ok {
		return r.index(axes)
	}
	numbers := make([]int64, r.src.Mesh.Devices())
	for d := range numbers {
		numbers[d] = r.src.Mesh.ShardIndex(int64(d), refs)
	}
	return r.lookUp(at, dtype.I32, numbers)
}

// index returns the number of the device along whole axes, which is computed once, at the start of the body.
func (r *deviceReader) index(axes []int) ir.ValueID {
	first := r.m.FirstOp(r.m.Func(r.src.Main).Body)
	key := r.p.tuple(axes)
	if r.indices[key] == 0 && len(axes) == 0 {
		r.indices[key] = constantOf(r.m.BuilderBefore(first), r.m.TensorType(dtype.I32), dtype.I32, 0)
	} else if r.indices[key] == 0 {
		r.indices[key] = Edit(r.p, first).Emit(Collective{Kind: ir.OpShardMapAxisIndex, Axes: axes})
	}
	return r.indices[key]
}

// lookUp emits before an op what a list holds for the place of the device, as a scalar of four bytes.
func (r *deviceReader) lookUp(at ir.OpID, e dtype.Type, list []int64) ir.ValueID {
	m, b := r.m, r.m.BuilderBefore(at)
	d := &ir.Dense{Type: m.TensorType(e, int64(len(list)))}
	for _, x := range list {
		d.Data = binary.LittleEndian.AppendUint32(d.Data, uint32(x))
	}
	table := b.Op1(ir.OpConstant, d.Type, ir.MakeAttrs(attr("value", d)))
	one := Edit(r.p, at).Emit(Collective{Kind: ir.OpShardMapPscatter, Axes: r.p.allAxes().Axes()}, table)
	return b.Op1(ir.OpReshape, m.TensorType(e), nil, one)
}
