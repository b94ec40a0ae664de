package typed

import (
	"encoding/binary"
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/shardmap"
	"autoshard/shardmap/refine"
	"autoshard/subaxis"
)

// importer makes ops over axes and parts of axes of a mesh those of a program, over whole axes of its refinement.
type importer struct {
	m       *ir.Module // of the program
	p       *Program
	refined *refine.Mesh        // the mesh of the ops, and that of the program
	planned bool                // of a plan: axes of size 1 cut nothing, and gathers make values equal along their axes
	splits  bool                // a reduce-scatter that is no sum becomes two ops
	pieces  map[ir.OpID][][]int // slices that take the device's own block: the axes per dimension
}

// convert replaces the ops of a block, and of the blocks inside it.
func (i *importer) convert(b ir.BlockID) error {
	for op := range i.m.Ops(b) {
		if err := i.convertOp(op); err != nil {
			return err
		}
	}
	return nil
}

func (i *importer) convertOp(op ir.OpID) error {
	m, kind := i.m, i.m.Kind(op)
	switch {
	case kind.IsShardMap():
		return i.overWhole(op)
	case kind == ir.OpPartitionId:
		if !m.HasUses(m.Result(op, 0)) {
			return nil
		}
		if i.p.Manual != i.p.allAxes() {
			return i.notManual(op)
		}
		i.swap(op, i.lookUp(op, dtype.UI32, i.refined.Coarse.DeviceIDs))
		return nil
	}
	for b := range m.InnerBlocks(op) {
		if err := i.convert(b); err != nil {
			return err
		}
	}
	return nil
}

// refuseForeign refuses what a shard_map program has no op for, in a block and in the blocks inside it.
func (i *importer) refuseForeign(b ir.BlockID) (err error) {
	for op := range i.m.Within(b) {
		switch kind := i.m.Kind(op); {
		case kind == ir.OpCustomCall:
			err = i.customCall(op)
		case kind.Communicates() && !kind.IsShardMap():
			err = i.refuse(op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// customCall refuses calls that take functions of the module, such as the comparator of approximate maxima.
func (i *importer) customCall(op ir.OpID) error {
	if called, _ := i.m.Attr(op, "called_computations").(ir.ArrayAttr); len(called) > 0 {
		return diag.Unsupported(diag.NotSupported, i.m.OpPos(op),
			"the custom call `%s` calls functions of the module, which a shard_map program has no place for",
			i.m.OpAttrs(op).Str("call_target_name"))
	}
	return nil
}

// refuse says why a collective of StableHLO has no form over axes.
func (i *importer) refuse(op ir.OpID) error {
	m, name := i.m, i.m.OpName(op)
	switch m.Kind(op) {
	case ir.OpCollectivePermute:
		return i.p.badAt(op, diag.BadOp, "E_PERM", "`%s` names a device that the mesh does not have", name)
	case ir.OpAllGather, ir.OpAllReduce, ir.OpReduceScatter, ir.OpAllToAll, ir.OpCollectiveBroadcast:
	default:
		return nil // Validate says what else has no place in a program
	}
	groups, err := shardmap.GroupsOf(m, op, &i.refined.Coarse)
	if err != nil {
		return err
	}
	devices, size := int64(0), len(groups[0])
	for _, g := range groups {
		devices += int64(len(g))
	}
	reason := "`%s` with a region other than a sum, maximum or minimum has no form as a collective over axes"
	switch {
	case slices.ContainsFunc(groups, func(g []int64) bool { return len(g) != size }):
		reason = "the groups of `%s` have different sizes"
	case devices != i.p.Mesh.Devices():
		reason = fmt.Sprintf("the groups of `%%s` name %d of %d devices", devices, i.p.Mesh.Devices())
	case m.Kind(op) == ir.OpCollectiveBroadcast:
		reason = "the groups of `%s` run along no axes from one member"
	}
	return diag.Unsupported(diag.NotSupported, m.OpPos(op), reason, name)
}

func (i *importer) notManual(op ir.OpID) error {
	problem := "a partition id is used otherwise than for the place along a manual axis"
	if i.m.Kind(op).Communicates() {
		problem = "a collective communicates along axes that are not manual"
	}
	return diag.Unsupported(diag.NotSupported, i.m.OpPos(op), "%s", problem)
}

// whole returns parts of axes as axes of the program, and whether there are such axes.
func (i *importer) whole(refs []subaxis.Ref) ([]int, bool) {
	axes := i.refined.Axes(refs)
	if i.planned {
		axes = slices.DeleteFunc(axes, func(a int) bool { return i.p.Mesh.Axes[a].Size == 1 })
	}
	return axes, i.p.GroupSize(axes) == subaxis.Product(refs)
}

// overWhole replaces an op over axes and parts of axes by one of this package.
func (i *importer) overWhole(op ir.OpID) error {
	m, a := i.m, i.m.OpAttrs(op)
	refs, coarse := shardmap.AxesOf(m, op), &i.refined.Coarse
	c := Collective{Kind: m.Kind(op)}
	c.read(a)
	if along, ok := coarse.FindGroups(c.Groups); ok && c.Groups != nil {
		if _, ok := i.whole(along); ok {
			refs, c.Groups = along, nil
		}
	}
	switch c.Kind {
	case ir.OpShardMapAxisIndex:
		return i.axisIndex(op, refs)
	case ir.OpShardMapPpermute:
		pairs := map[[2]int64]bool{}
		for _, members := range coarse.Groups(refs) {
			for _, pair := range shardmap.PermOf(m, op) {
				pairs[[2]int64{members[pair[0]], members[pair[1]]}] = true
			}
		}
		return i.permute(op, pairs)
	case ir.OpShardMapPscatter:
		i.slice(op)
		return nil
	case ir.OpShardMapAllGatherInvariant:
		c.Kind = ir.OpShardMapAllGather
	}
	ok := false
	if c.Axes, ok = i.whole(refs); !ok {
		c.Axes, c.Groups = i.p.allAxes().Axes(), coarse.Groups(refs)
	}
	if !c.Set().In(i.p.Manual) {
		return i.notManual(op)
	}
	return i.reduceAndReplace(op, c)
}

// reduceAndReplace is replace, where reductions of truth values, which JAX counts, are maxima.
func (i *importer) reduceAndReplace(op ir.OpID, c Collective) error {
	m := i.m
	x := m.Operand(op, 0)
	if scatters := c.Kind == ir.OpShardMapPsumScatter; m.ValueType(x).DType == dtype.I1 && c.Reduction == ir.ReduceSum &&
		(scatters || c.Kind == ir.OpShardMapPsum) {
		c.Reduction = ir.ReduceMax
	}
	switch {
	case c.Reduction == ir.ReduceSum:
	case c.Kind == ir.OpShardMapPsum:
		c.Kind = ir.OpShardMapPmax
	case i.splits && len(c.Axes) > 0:
		b := Edit(i.p, op)
		v := b.Emit(Collective{Kind: shardmap.AllReduce(c.Reduction), Axes: c.Axes, Groups: c.Groups}, x)
		if b.err != nil {
			return i.p.inOp(op, b.err)
		}
		if c.Groups != nil {
			return diag.Unsupported(diag.NotSupported, m.OpPos(op),
				"the groups of `%s` run along no axes, and its reduction is no sum", m.OpName(op))
		}
		m.SetOperand(op, 0, v)
		c.Kind, c.Reduction = ir.OpShardMapPscatter, ir.ReduceSum
	}
	return i.replace(op, c)
}

// replace puts an op of this package in the place of one over parts of axes. One over no axes is the identity.
func (i *importer) replace(op ir.OpID, c Collective) error {
	if i.planned && c.Kind == ir.OpShardMapAllGather && c.Groups == nil {
		c.Kind = ir.OpShardMapAllGatherInvariant
	}
	v := i.m.Operand(op, 0)
	if len(c.Axes) > 0 {
		b := Edit(i.p, op)
		if v = b.Emit(c, v); b.err != nil {
			return i.p.inOp(op, b.err)
		}
	}
	i.swap(op, v)
	return nil
}

// swap puts a value in the place of an op, whose place in the source its op takes.
func (i *importer) swap(op ir.OpID, v ir.ValueID) {
	i.m.InheritPos(i.m.DefiningOp(v), op)
	i.m.ReplaceUses(i.m.Result(op, 0), v)
	i.m.Erase(op)
}

// permute replaces a permute by one along the least axes along which the pairs of devices run in the same way in every group.
func (i *importer) permute(op ir.OpID, pairs map[[2]int64]bool) error {
	var moved AxisSet
	for pair := range pairs {
		for a := range i.p.Mesh.Axes {
			if r := i.p.Mesh.Full(a); i.p.Mesh.Coordinate(pair[0], r) != i.p.Mesh.Coordinate(pair[1], r) {
				moved |= 1 << a
			}
		}
	}
	for _, axes := range []AxisSet{moved, i.p.Manual, i.p.allAxes()} {
		perm, ok := shardmap.PermAlong(&i.p.Mesh, lists.Map(axes.Axes(), i.p.Mesh.Full), pairs)
		if ok && axes != 0 && axes.In(i.p.Manual) {
			return i.replace(op, Collective{Kind: ir.OpShardMapPpermute, Axes: axes.Axes(), Perm: perm})
		}
	}
	return i.notManual(op)
}

// slice makes a dynamic slice of a pscatter, and notes it for when it is known along which axes the operand varies.
func (i *importer) slice(op ir.OpID) {
	m := i.m
	dims := make([][]int, 0, len(m.Shape(m.Result(op, 0))))
	all := true
	for _, refs := range perDim(m, op) {
		axes, ok := i.whole(refs)
		dims, all = append(dims, axes), all && ok
	}
	if all {
		i.pieces[op] = dims
	}
	m.SetKind(op, ir.OpDynamicSlice)
	m.SetAttrs(op, ir.MakeAttrs(ir.Named("slice_sizes", ir.Ints(m.Shape(m.Result(op, 0))))))
}

// axisIndex replaces the number of the device along axes and parts of axes.
func (i *importer) axisIndex(op ir.OpID, along []subaxis.Ref) error {
	axes, ok := i.whole(along)
	c := Collective{Kind: ir.OpShardMapAxisIndex, Axes: axes}
	switch {
	case !c.Set().In(i.p.Manual):
		return i.notManual(op)
	case !ok:
		numbers := lists.Of(int(i.p.Mesh.Devices()), func(d int) int64 { return i.refined.Coarse.ShardIndex(int64(d), along) })
		i.swap(op, i.lookUp(op, dtype.I32, numbers))
	case len(axes) == 0:
		i.swap(op, i.m.BuilderBefore(op).Integer(dtype.I32, 0))
	default:
		i.swap(op, Edit(i.p, op).Emit(c))
	}
	return nil
}

// lookUp emits before an op what a list holds for the place of the device, as a scalar of four bytes.
func (i *importer) lookUp(at ir.OpID, e dtype.Type, list []int64) ir.ValueID {
	m, b := i.m, i.m.BuilderBefore(at)
	var data []byte
	for _, x := range list {
		data = binary.LittleEndian.AppendUint32(data, uint32(x))
	}
	table := b.Constant(m.Dense(m.TensorType(e, int64(len(list))), data))
	one := Edit(i.p, at).Emit(Collective{Kind: ir.OpShardMapPscatter, Axes: i.p.allAxes().Axes()}, table)
	return b.Op1(ir.OpReshape, m.TensorType(e), nil, one)
}
