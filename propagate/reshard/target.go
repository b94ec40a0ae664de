package reshard

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// toTarget brings the value of one use to a sharding, 0 for none: unreduced axes that it must not have are reduced,
// those that it lacks are introduced, and with full what else differs is resharded.
func (r *inserter) toTarget(use ir.Use, target ir.ShardingID, b *ir.Builder, full bool) {
	m := r.m
	v := m.Operand(use.Op, use.Index)
	have := r.sharding(v)
	out := v
	if axes := r.dropped(have, target); len(axes) > 0 {
		out, have = r.reduce(b, out, have, axes)
	}
	if have != 0 && target != 0 {
		out, have = r.toUnreduced(b, out, have, target)
	}
	if full && r.differ(have, target) {
		if target == 0 {
			target = r.replicatedLike(have)
		}
		out = b.Reshard(out, target)
	}
	if out != v {
		m.SetOperand(use.Op, use.Index, out)
	}
}

// differ says whether a value has to be resharded for its target. One without sharding is as good as unreduced.
func (r *inserter) differ(have, target ir.ShardingID) bool {
	if have == 0 {
		return !r.isReplicated(target)
	}
	return !r.m.Equivalent(have, target)
}

// dropped returns the unreduced axes of a sharding that its target does not have. Those of another mesh are others.
func (r *inserter) dropped(have, target ir.ShardingID) []subaxis.Ref {
	if target == 0 || !r.onOneMesh(have, target) {
		return r.unreduced(have)
	}
	return subaxis.Difference(r.unreduced(have), r.unreduced(target))
}

// onOneMesh says whether two shardings are on one mesh; none is on any.
func (r *inserter) onOneMesh(a, b ir.ShardingID) bool {
	if a == 0 || b == 0 {
		return true
	}
	s, t := r.m.ShardingOf(a).Mesh, r.m.ShardingOf(b).Mesh
	return s == t || r.m.Mesh(s).Equal(&r.m.Mesh(t).Mesh)
}

// reduce reduces a value along some of its unreduced axes and returns it with its sharding.
func (r *inserter) reduce(b *ir.Builder, v ir.ValueID, have ir.ShardingID, axes []subaxis.Ref) (ir.ValueID, ir.ShardingID) {
	s := r.m.ShardingOf(have).Clone()
	kind := s.Reduction
	if s.Unreduced = subaxis.Difference(s.Unreduced, axes); len(s.Unreduced) == 0 {
		s.Reduction = ir.ReduceSum
	}
	have = r.m.InternSharding(s)
	return r.allReduce(b, v, axes, kind, have), have
}

// toUnreduced introduces the unreduced axes that a value lacks of its target, whose dimensions it then has, too. Axes
// that cut a dimension become unreduced where they are its minor ones, without communication; others are those along
// which the value is replicated (source: shardy.md section 5.3, to-unreduced).
func (r *inserter) toUnreduced(b *ir.Builder, v ir.ValueID, have, target ir.ShardingID) (ir.ValueID, ir.ShardingID) {
	m := r.m
	in, out := m.ShardingOf(have), m.ShardingOf(target)
	introduced := subaxis.Difference(out.Unreduced, in.Unreduced)
	if len(introduced) == 0 {
		return v, have
	}
	dims, perDim, moves := freed(in, out, introduced)
	switch {
	case !r.onOneMesh(have, target): // no axis means the same there
		dims, perDim = out.Dims, nil
		have = m.InternSharding(ir.Sharding{Mesh: out.Mesh, Dims: dims})
		v = b.Reshard(v, have)
	case !moves:
		dims = in.Dims // the same axes, perhaps open where the target is closed
	default:
		s := in.Clone()
		s.Dims = dims
		have = m.InternSharding(s)
		v = b.Reshard(v, have)
	}
	sharded := slices.Concat(perDim...)
	if spread := subaxis.Difference(introduced, sharded); len(spread) > 0 {
		s := out.Clone()
		s.Dims = dims
		s.Unreduced = subaxis.SortMerge(slices.Concat(in.Unreduced, spread))
		attrs := ir.MakeAttrs(ir.NamedAttr{Name: "axes", Value: &ir.AxesAttr{Mesh: out.Mesh, Axes: spread}})
		v = r.insert(b, ir.OpSdyReplicatedToUnreduced, attrs, v, m.InternSharding(s))
	}
	if len(sharded) > 0 {
		attrs := ir.MakeAttrs(ir.NamedAttr{Name: "axes", Value: &ir.AxesPerDimAttr{Mesh: out.Mesh, Dims: perDim}})
		v = r.insert(b, ir.OpSdyShardedToUnreduced, attrs, v, target)
	}
	return v, target
}

// freed returns, by dimension, the minor axes of in that are unreduced in out; the dimensions before they are taken;
// and whether those differ from in's.
func freed(in, out *ir.Sharding, introduced []subaxis.Ref) (dims []ir.DimSharding, perDim []ir.ShardAxes, moves bool) {
	dims, perDim = slices.Clone(out.Dims), make([]ir.ShardAxes, len(out.Dims))
	for d := range dims {
		had, gets := in.Dims[d].Axes, out.Dims[d].Axes
		if slices.Equal(had, gets) {
			continue
		}
		rest, ok := suffix(had, gets)
		if !ok || len(subaxis.Difference(rest, introduced)) > 0 {
			moves = true
			continue
		}
		perDim[d], dims[d] = rest, in.Dims[d]
	}
	return dims, perDim, moves
}

// suffix returns what is left of a list of axes behind a prefix of it.
func suffix(list, prefix []subaxis.Ref) ([]subaxis.Ref, bool) {
	n := len(prefix)
	switch {
	case subaxis.PrefixStatus(prefix, list) != subaxis.StrictPrefix:
		return nil, false
	case n == 0 || prefix[n-1] == list[n-1]:
		return list[n:], true
	}
	minor, ok := list[n-1].SuffixWithout(prefix[n-1])
	return slices.Concat([]subaxis.Ref{minor}, list[n:]), ok
}

// spreads says whether an op introduces unreduced axes.
func (r *inserter) spreads(op ir.OpID) bool {
	m := r.m
	have, target := r.sharding(m.Operand(op, 0)), m.Sharding(m.Result(op, 0))
	return have != 0 && len(subaxis.Difference(r.unreduced(target), r.unreduced(have))) > 0
}

// expandReshard replaces a reshard that introduces unreduced axes by the steps that it takes.
func (r *inserter) expandReshard(op ir.OpID) {
	m := r.m
	v, result := m.Operand(op, 0), m.Result(op, 0)
	have, target := r.sharding(v), m.Sharding(result)
	b := m.BuilderBefore(op)
	if axes := r.dropped(have, target); len(axes) > 0 {
		v, have = r.reduce(b, v, have, axes)
	}
	v, _ = r.toUnreduced(b, v, have, target)
	m.ReplaceUses(result, v)
	m.Erase(op)
}
