package shardmap

import (
	"cmp"
	"fmt"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/subaxis"
)

// sending lowers a collective by a function, unless the tensor has no elements: engines refuse to gather those.
func sending(lower func(*lowerer, ir.OpID) error) func(*lowerer, ir.OpID) error {
	return func(l *lowerer, op ir.OpID) error {
		m, v := l.m, l.m.Result(op, 0)
		if m.ValueType(v).Elements() > 0 {
			return lower(l, op)
		}
		l.replace(op, m.BuilderBefore(op).Constant(m.Dense(localType(m, m.Type(v), m.Sharding(v)), nil)))
		return nil
	}
}

func (l *lowerer) allGather(op ir.OpID) error {
	return l.perDimension(op, "gathering_axes", func(b *ir.Builder, v ir.ValueID, d int, axes []subaxis.Ref) ir.ValueID {
		return l.gathered(b, op, v, axes, d)
	})
}

// gathered emits the blocks of a value that the devices along axes have, joined along a dimension, for an op.
func (l *lowerer) gathered(b *ir.Builder, op ir.OpID, v ir.ValueID, axes []subaxis.Ref, d int) ir.ValueID {
	dims := slices.Clone(l.m.Shape(v))
	dims[d] *= subaxis.Product(axes)
	attrs := l.joined(op, l.along(axes).With("dim", l.m.I64(int64(d))))
	out := b.Op1(ir.OpShardMapAllGatherInvariant, l.m.WithDims(l.m.Type(v), dims), attrs, v)
	l.record(out, collectives.AllGather, axes, v, op)
	return out
}

func (l *lowerer) reduceScatter(op ir.OpID) error {
	reduction := l.reduction(op)
	return l.perDimension(op, "reduce_scatter_axes", func(b *ir.Builder, v ir.ValueID, d int, axes []subaxis.Ref) ir.ValueID {
		dims := slices.Clone(l.m.Shape(v))
		dims[d] /= subaxis.Product(axes)
		attrs := l.joined(op, l.along(axes).With("dim", l.m.I64(int64(d))))
		if reduction != ir.ReduceSum {
			attrs = attrs.With("kind", ir.StringAttr(reduction.String()))
		}
		out := b.Op1(ir.OpShardMapPsumScatter, l.m.WithDims(l.m.Type(v), dims), attrs, v)
		l.record(out, collectives.ReduceScatter, axes, v, op)
		return out
	})
}

// joined returns attributes of a collective with the mark of the op that it stands for, if that has it.
func (l *lowerer) joined(op ir.OpID, attrs ir.Attrs) ir.Attrs {
	if mark := l.m.Attr(op, JoinedAttr); mark != nil {
		return attrs.With(JoinedAttr, mark)
	}
	return attrs
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
	out := m.BuilderBefore(op).Op1(AllReduce(l.reduction(op)), m.Type(v), l.along(axes), v)
	l.record(out, collectives.AllReduce, axes, v, op)
	l.replace(op, out)
	return nil
}

// reduction returns how the partial values of an op's operand combine.
func (l *lowerer) reduction(op ir.OpID) ir.Reduction {
	return l.m.ShardingOf(l.m.Sharding(l.m.Operand(op, 0))).Reduction
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
		attrs := l.along(move.Axes).With("split", l.m.I64(move.Dst)).With("concat", l.m.I64(move.Src))
		out := b.Op1(ir.OpShardMapAllToAll, m.WithDims(m.Type(v), dims), attrs, v)
		l.record(out, collectives.AllToAll, move.Axes, v, op)
		v = out
	}
	l.replace(op, v)
	return nil
}

// permute numbers the members along the axes that cut the value before or after, or along all axes where the groups along
// those do not all exchange their blocks in the same way.
func (l *lowerer) permute(op ir.OpID) error {
	m := l.m
	v := m.Operand(op, 0)
	before, after := l.perDim(v), l.perDim(m.Result(op, 0))
	var cutting []subaxis.Ref
	for _, refs := range append(slices.Clone(before), after...) {
		cutting = append(cutting, subaxis.Difference(refs, cutting)...)
	}
	cutting = subaxis.SortMerge(cutting)
	if s := m.ShardingOf(m.Sharding(v)); len(s.Unreduced) > 0 { // blocks of one place are summands, each of its own
		before, after = append(before, s.Unreduced), append(after, s.Unreduced)
	}
	pairs := map[[2]int64]bool{}
	for target, source := range l.sources(before, after) {
		pairs[[2]int64{source, int64(target)}] = true
	}
	along, perm := permOver(&l.p.Mesh, cutting, pairs)
	slices.SortFunc(perm, func(x, y [2]int64) int { return cmp.Compare(x[1], y[1]) })
	out := m.BuilderBefore(op).Op1(ir.OpShardMapPpermute, m.Type(v), l.along(along).With("perm", Perm(perm)), v)
	l.record(out, collectives.Permute, cutting, v, op)
	l.replace(op, out)
	return nil
}

// sources returns the device from which each device gets the block that it needs, by place: itself where that is possible,
// each device sending once.
func (l *lowerer) sources(before, after [][]subaxis.Ref) []int64 {
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
	for d := range n {
		if source[d] < 0 {
			source[d] = holders[needs[d]][0]
			holders[needs[d]] = holders[needs[d]][1:]
		}
	}
	return source
}

func (l *lowerer) blockKey(device int64, dims [][]subaxis.Ref) string {
	key := ""
	for _, refs := range dims {
		key += fmt.Sprint(l.p.Mesh.ShardIndex(device, refs), ",")
	}
	return key
}

// record notes a collective that made a value of another.
func (l *lowerer) record(out ir.ValueID, kind collectives.Kind, axes []subaxis.Ref, operand ir.ValueID, source ir.OpID) {
	size := subaxis.Product(axes)
	c := Collective{Op: l.m.DefiningOp(out), From: source, Kind: kind, Axes: axes, Source: l.m.OpLoc(source),
		Groups: l.p.Mesh.Devices() / size, Size: size, Bytes: l.m.ValueType(operand).Bytes(), Runs: l.runs, Varies: l.varies}
	if kind == collectives.Permute {
		c.Pairs = moving(PermOf(l.m, c.Op)) * l.p.Mesh.Devices() / subaxis.Product(AxesOf(l.m, c.Op))
	}
	l.p.Collectives = append(l.p.Collectives, c)
}

// moving counts the pairs of two different members.
func moving(perm [][2]int64) (n int64) {
	for _, pair := range perm {
		if pair[0] != pair[1] {
			n++
		}
	}
	return n
}
