package shardmap

import (
	"fmt"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/subaxis"
)

func (l *lowerer) allGather(op ir.OpID) error {
	return l.perDimension(op, "gathering_axes", func(b *ir.Builder, v ir.ValueID, d int, axes []subaxis.Ref) ir.ValueID {
		dims := slices.Clone(l.m.Shape(v))
		dims[d] *= subaxis.Product(axes)
		attrs := l.grouped(axes).With("all_gather_dim", l.i64(int64(d))).With("use_global_device_ids", ir.UnitAttr{})
		out := b.Op1(ir.OpAllGather, l.m.WithDims(l.m.Type(v), dims), attrs, v)
		l.record(out, collectives.AllGather, axes, v, op)
		return out
	})
}

func (l *lowerer) reduceScatter(op ir.OpID) error {
	reduction := l.reduction(op)
	return l.perDimension(op, "reduce_scatter_axes", func(b *ir.Builder, v ir.ValueID, d int, axes []subaxis.Ref) ir.ValueID {
		dims := slices.Clone(l.m.Shape(v))
		dims[d] /= subaxis.Product(axes)
		attrs := l.grouped(axes).With("scatter_dimension", l.i64(int64(d))).With("use_global_device_ids", ir.UnitAttr{})
		out := b.OpRegions(ir.OpReduceScatter, []ir.TypeID{l.m.WithDims(l.m.Type(v), dims)}, attrs, 1, v)
		l.reducer(out, reduction, l.m.TensorType(l.m.ValueType(v).DType))
		l.record(l.m.Result(out, 0), collectives.ReduceScatter, axes, v, op)
		return l.m.Result(out, 0)
	})
}

// perDimension emits one collective for each dimension that has axes, and replaces the op by the last one.
func (l *lowerer) perDimension(op ir.OpID, name string, emit func(*ir.Builder, ir.ValueID, int, []subaxis.Ref) ir.ValueID) error {
	m := l.m
	v := m.Operand(op, 0)
	b := m.BuilderBefore(op)
	first := len(l.p.Collectives)
	for d, axes := range m.Attr(op, name).(*ir.AxesPerDimAttr).Dims {
		if len(axes) > 0 {
			v = emit(b, v, d, axes)
		}
	}
	l.handOnRing(op, l.p.Collectives[first:])
	l.replace(op, v)
	return nil
}

// handOnRing gives the attribute RingAttr of an op to the one of its collectives that is beside the product.
func (l *lowerer) handOnRing(op ir.OpID, lowered []Collective) {
	mark := l.m.Attr(op, RingAttr)
	if mark == nil || len(lowered) == 0 {
		return
	}
	beside := lowered[0].Op
	if l.m.Kind(op) == ir.OpSdyAllGather {
		beside = lowered[len(lowered)-1].Op
	}
	l.m.SetAttrs(beside, l.m.OpAttrs(beside).With(RingAttr, mark))
}

func (l *lowerer) allSlice(op ir.OpID) error {
	axes := l.m.Attr(op, "slicing_axes").(*ir.AxesPerDimAttr).Dims
	l.replace(op, l.cut(l.m.BuilderBefore(op), l.m.Operand(op, 0), axes))
	return nil
}

func (l *lowerer) allReduce(op ir.OpID) error {
	m := l.m
	v := m.Operand(op, 0)
	axes := m.Attr(op, "reduction_axes").(*ir.AxesAttr).Axes
	b := m.BuilderBefore(op)
	out := b.OpRegions(ir.OpAllReduce, []ir.TypeID{m.Type(v)}, l.grouped(axes).With("use_global_device_ids", ir.UnitAttr{}), 1, v)
	l.reducer(out, l.reduction(op), m.TensorType(m.ValueType(v).DType))
	l.record(m.Result(out, 0), collectives.AllReduce, axes, v, op)
	l.replace(op, m.Result(out, 0))
	return nil
}

// reduction returns the elementwise op that combines the partial values of an op's operand.
func (l *lowerer) reduction(op ir.OpID) ir.Kind {
	operand := l.m.Operand(op, 0)
	switch l.m.ShardingOf(l.m.Sharding(operand)).Reduction {
	case ir.ReduceMax:
		return ir.OpMaximum
	case ir.ReduceMin:
		return ir.OpMinimum
	}
	return ir.OpAdd
}

func (l *lowerer) allToAll(op ir.OpID) error {
	m := l.m
	v := m.Operand(op, 0)
	b := m.BuilderBefore(op)
	for _, move := range m.Attr(op, "params").(*ir.AllToAllAttr).Moves {
		n := subaxis.Product(move.Axes)
		dims := slices.Clone(m.Shape(v))
		dims[move.Src] *= n
		dims[move.Dst] /= n
		attrs := l.grouped(move.Axes).With("concat_dimension", l.i64(move.Src)).
			With("split_count", l.i64(n)).With("split_dimension", l.i64(move.Dst))
		out := b.Op1(ir.OpAllToAll, m.WithDims(m.Type(v), dims), attrs, v)
		l.record(out, collectives.AllToAll, move.Axes, v, op)
		v = out
	}
	l.replace(op, v)
	return nil
}

func (l *lowerer) permute(op ir.OpID) error {
	m := l.m
	v := m.Operand(op, 0)
	before, after := l.perDim(v), l.perDim(m.Result(op, 0))
	pairs := l.pairs(before, after)
	t := m.TensorType(dtype.I64, int64(len(pairs)/2), 2)
	attrs := l.channelled().With("source_target_pairs", dense(m, t, longs(pairs)))
	out := m.BuilderBefore(op).Op1(ir.OpCollectivePermute, m.Type(v), attrs, v)
	var axes []subaxis.Ref
	for _, refs := range append(slices.Clone(before), after...) {
		axes = append(axes, subaxis.Difference(refs, axes)...)
	}
	l.record(out, collectives.Permute, subaxis.SortMerge(axes), v, op)
	l.replace(op, out)
	return nil
}

// pairs returns source, target partition ids: every device gets the block it needs from a device that has it, from
// itself where that is possible, each device sending once.
func (l *lowerer) pairs(before, after [][]subaxis.Ref) []int64 {
	n := l.p.Mesh.Devices()
	holders := map[string][]int64{}
	needs := make([]string, n)
	for d := range n {
		key := l.blockKey(d, before)
		holders[key] = append(holders[key], d)
		needs[d] = l.blockKey(d, after)
	}
	source := make([]int64, n)
	for d := range n {
		source[d] = -1
		if i := slices.Index(holders[needs[d]], d); i >= 0 {
			source[d] = d
			holders[needs[d]] = slices.Delete(holders[needs[d]], i, i+1)
		}
	}
	var out []int64
	for d := range n {
		if source[d] < 0 {
			source[d] = holders[needs[d]][0]
			holders[needs[d]] = holders[needs[d]][1:]
		}
		out = append(out, l.p.Mesh.DeviceID(source[d]), l.p.Mesh.DeviceID(d))
	}
	return out
}

func (l *lowerer) blockKey(device int64, dims [][]subaxis.Ref) string {
	key := ""
	for _, refs := range dims {
		key += fmt.Sprint(l.p.Mesh.ShardIndex(device, refs), ",")
	}
	return key
}

// grouped returns the attributes of a collective whose groups run along axes.
func (l *lowerer) grouped(axes []subaxis.Ref) ir.Attrs {
	groups := l.p.Mesh.Groups(axes)
	var ids []int64
	for _, g := range groups {
		for _, logical := range g {
			ids = append(ids, l.p.Mesh.DeviceID(logical))
		}
	}
	t := l.m.TensorType(dtype.I64, int64(len(groups)), int64(len(groups[0])))
	return l.channelled().With("replica_groups", dense(l.m, t, longs(ids)))
}

func (l *lowerer) channelled() ir.Attrs {
	l.channel++
	return ir.MakeAttrs(ir.NamedAttr{Name: "channel_handle", Value: ir.ChannelHandle{Handle: l.channel, Type: 1}})
}

// record notes a collective that made a value of another.
func (l *lowerer) record(out ir.ValueID, kind collectives.Kind, axes []subaxis.Ref, operand ir.ValueID, source ir.OpID) {
	size := subaxis.Product(axes)
	c := Collective{Op: l.m.DefiningOp(out), From: source, Kind: kind, Axes: axes, Source: l.m.OpLoc(source),
		Groups: l.p.Mesh.Devices() / size, Size: size, Bytes: l.m.ValueType(operand).Bytes(), Runs: l.runs, Varies: l.varies}
	if kind == collectives.Permute {
		c.Pairs = movingPairs(l.m, c.Op)
	}
	l.p.Collectives = append(l.p.Collectives, c)
}

func movingPairs(m *ir.Module, op ir.OpID) int64 {
	pairs, _ := m.Attr(op, "source_target_pairs").(*ir.Dense)
	values := pairs.Int64s()
	moving := int64(0)
	for i := 0; i+1 < len(values); i += 2 {
		if values[i] != values[i+1] {
			moving++
		}
	}
	return moving
}

var userKinds = map[ir.Kind]collectives.Kind{
	ir.OpAllGather:         collectives.AllGather,
	ir.OpReduceScatter:     collectives.ReduceScatter,
	ir.OpAllReduce:         collectives.AllReduce,
	ir.OpAllToAll:          collectives.AllToAll,
	ir.OpCollectivePermute: collectives.Permute,
}

// userCollectives notes the collectives in and under an op that the user wrote in a manual computation.
func (l *lowerer) userCollectives(op ir.OpID) {
	m := l.m
	runs, varies := l.runs, l.varies
	defer func() { l.runs, l.varies = runs, varies }()
	switch m.Kind(op) {
	case ir.OpWhile:
		l.enterLoop(op)
	case ir.OpCase, ir.OpIf:
		l.varies = true
	}
	if kind, ok := userKinds[m.Kind(op)]; ok {
		c := Collective{Op: op, Kind: kind, Source: m.OpLoc(op), Runs: l.runs, Varies: l.varies}
		for i := range m.NumOperands(op) {
			c.Bytes += m.ValueType(m.Operand(op, i)).Bytes()
		}
		if kind == collectives.Permute {
			c.Pairs, c.Groups, c.Size = movingPairs(m, op), 1, l.p.Mesh.Devices()
		} else {
			c.Groups, c.Size, c.Axes = l.userGroups(op)
		}
		l.p.Collectives = append(l.p.Collectives, c)
		return
	}
	for i := range m.NumRegions(op) {
		for inner := range m.Ops(m.RegionBlock(op, i)) {
			l.userCollectives(inner)
		}
	}
}

func (l *lowerer) userGroups(op ir.OpID) (groups, size int64, axes []subaxis.Ref) {
	switch g := l.m.Attr(op, "replica_groups").(type) {
	case *ir.Dense:
		dims := l.m.TypeOf(g.Type).Dims
		return dims[0], dims[1], nil
	case *ir.MeshAxesGroups:
		size = subaxis.Product(g.Axes)
		return l.p.Mesh.Devices() / size, size, g.Axes
	}
	return 1, l.p.Mesh.Devices(), nil
}
