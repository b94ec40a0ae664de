package padding

import (
	"slices"

	"autoshard/ir"
	"autoshard/subaxis"
)

// resize brings a value to other sizes, and to a sharding. Dimensions grow and shrink where they are cut by the axes that cut them first
// both before and after, along which devices fetch what their blocks have then; they are gathered along others before, or cut afterwards.
func (p *padder) resize(b *ir.Builder, v ir.ValueID, dims []int64, to ir.ShardingID) ir.ValueID {
	m, from := p.m, p.m.Sharding(v)
	before := slices.Clone(m.Shape(v))
	grows := func(d int) bool { return dims[d] > before[d] }
	shrinks := func(d int) bool { return dims[d] < before[d] }
	stay := func(d int) []subaxis.Ref {
		axes := subaxis.CommonPrefix(m.ShardingOf(from).Dims[d].Axes, m.ShardingOf(to).Dims[d].Axes)
		return subaxis.Dividing(axes, subaxis.GCD(before[d], dims[d]))
	}
	v = p.send(b, v, p.cutLess(from, grows, stay))
	v = p.grow(b, v, larger(dims, before))
	v = p.send(b, v, p.cutLess(to, shrinks, stay))
	v = p.shrink(b, v, dims)
	return p.send(b, v, to)
}

func larger(a, b []int64) []int64 {
	out := slices.Clone(a)
	for d := range out {
		out[d] = max(a[d], b[d])
	}
	return out
}

// cutLess returns a sharding in which some dimensions have other axes.
func (p *padder) cutLess(id ir.ShardingID, of func(d int) bool, axes func(d int) []subaxis.Ref) ir.ShardingID {
	s := p.m.ShardingOf(id).Clone()
	for d := range s.Dims {
		if of(d) {
			s.Dims[d].Axes = axes(d)
		}
	}
	return p.m.InternSharding(s)
}

// send brings a value to a sharding, unless it has it.
func (p *padder) send(b *ir.Builder, v ir.ValueID, to ir.ShardingID) ir.ValueID {
	if p.m.Equivalent(p.m.Sharding(v), to) {
		return v
	}
	return b.Reshard(v, to)
}

// grow appends zeros to dimensions of a value.
func (p *padder) grow(b *ir.Builder, v ir.ValueID, dims []int64) ir.ValueID {
	m := p.m
	if slices.Equal(dims, m.Shape(v)) {
		return v
	}
	zero := b.Constant(m.Zeros(m.TensorType(m.ValueType(v).DType)))
	m.SetSharding(zero, m.Replicated(p.mesh, 0, true))
	return p.like(v, Grow(m, b, v, zero, dims))
}

// Grow appends copies of a scalar to dimensions of a value, which are to have the given sizes.
func Grow(m *ir.Module, b *ir.Builder, v, scalar ir.ValueID, dims []int64) ir.ValueID {
	before := m.Shape(v)
	high, none := make(ir.Ints, len(dims)), make(ir.Ints, len(dims))
	for d := range dims {
		high[d] = dims[d] - before[d]
	}
	return b.Op1(ir.OpPad, m.WithDims(m.Type(v), dims), ir.MakeAttrs(ir.Named("edge_padding_low", none),
		ir.Named("edge_padding_high", high), ir.Named("interior_padding", none)), v, scalar)
}

// shrink leaves the first elements of dimensions of a value.
func (p *padder) shrink(b *ir.Builder, v ir.ValueID, dims []int64) ir.ValueID {
	if slices.Equal(dims, p.m.Shape(v)) {
		return v
	}
	return p.like(v, Shrink(p.m, b, v, dims))
}

// Shrink leaves the first elements of dimensions of a value, which are to have the given sizes.
func Shrink(m *ir.Module, b *ir.Builder, v ir.ValueID, dims []int64) ir.ValueID {
	return b.Op1(ir.OpSlice, m.WithDims(m.Type(v), dims), ir.MakeAttrs(
		ir.Named("start_indices", make(ir.Ints, len(dims))), ir.Named("limit_indices", ir.Ints(slices.Clone(dims))),
		ir.Named("strides", ir.Ints(slices.Repeat([]int64{1}, len(dims))))), v)
}

// like gives a new value the sharding of another one.
func (p *padder) like(old, v ir.ValueID) ir.ValueID {
	p.m.SetSharding(v, p.m.Sharding(old))
	return v
}

// cutBy returns the sharding of a value of some dimensions, of which each is cut by the axes that are given for it.
func (p *padder) cutBy(axes ...[]subaxis.Ref) ir.ShardingID {
	s := ir.Sharding{Mesh: p.mesh, Dims: make([]ir.DimSharding, len(axes))}
	for d := range axes {
		s.Dims[d] = ir.DimSharding{Axes: axes[d], Closed: true, Priority: ir.NoPriority}
	}
	return p.m.InternSharding(s)
}
