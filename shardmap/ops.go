package shardmap

import (
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/localform"
	"autoshard/subaxis"
)

// constant keeps a splat as a smaller splat; other constants are cut from the whole.
func (l *lowerer) constant(op ir.OpID) error {
	m := l.m
	v := m.Result(op, 0)
	value, ok := m.Attr(op, "value").(*ir.Dense)
	if !ok || m.Sharding(v) == 0 || m.ShardingOf(m.Sharding(v)).IsReplicated() {
		l.replace(op, m.BuilderBefore(op).Op1(ir.OpConstant, m.Type(v), m.OpAttrs(op)))
		return nil
	}
	b := m.BuilderBefore(op)
	if value.Splat {
		local := *value
		local.Type = localType(m, m.Type(v), m.Sharding(v))
		l.replace(op, b.Op1(ir.OpConstant, local.Type, m.OpAttrs(op).With("value", &local)))
		return nil
	}
	whole := b.Op1(ir.OpConstant, m.Type(v), m.OpAttrs(op))
	l.replace(op, l.cut(b, whole, l.perDim(v)))
	return nil
}

// perDim returns the axes that cut each dimension of a value.
func (l *lowerer) perDim(v ir.ValueID) [][]subaxis.Ref {
	s := l.m.ShardingOf(l.m.Sharding(v))
	return lists.Map(s.Dims, func(d ir.DimSharding) []subaxis.Ref { return d.Axes })
}

// iota counts from this device's offset along the counted dimension.
func (l *lowerer) iota(op ir.OpID) error {
	m := l.m
	v := m.Result(op, 0)
	d := int(m.OpAttrs(op).Int("iota_dimension", 0))
	axes, counts := l.axes(v, d), localform.Counts(m)(v, d)
	l.results(op)
	if len(axes) == 0 {
		return nil
	}
	b := m.BuilderAfter(op)
	dims, e := m.Shape(v), m.ValueType(v).DType
	offset := l.broadcast(b, l.offset(b, axes, dims[d], e), dims)
	sum := b.Op1(ir.OpAdd, m.Type(v), nil, v, offset)
	m.SetSharding(sum, m.Sharding(v))
	m.Divert(v, sum)
	l.p.Move(v, sum)
	if counts {
		l.numbering[sum] = d
	}
	return nil
}

// convolution slides over what its windows need, and divides its group counts by the shards of the grouped dimensions.
func (l *lowerer) convolution(op ir.OpID) error {
	m := l.m
	l.windows(op, zeros)
	dims := m.Attr(op, "dimension_numbers").(*ir.ConvDims)
	a := m.OpAttrs(op)
	for name, v := range map[string]struct {
		operand int
		dim     int64
	}{"feature_group_count": {1, dims.KernelOut}, "batch_group_count": {0, dims.InBatch}} {
		count := a.Get(name)
		groups, ok := count.(ir.IntAttr)
		if !ok || groups.Value == 1 {
			continue
		}
		shards := subaxis.Product(l.axes(m.Operand(op, v.operand), int(v.dim)))
		groups.Value /= min(groups.Value, shards)
		a = a.With(name, groups)
	}
	m.SetAttrs(op, a)
	l.results(op)
	return nil
}
