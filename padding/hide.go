package padding

import (
	"bytes"
	"math"
	"slices"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/rule"
	"autoshard/localform"
	"autoshard/subaxis"
)

// hide changes an op, whose operands are padded already, so that its result has nothing of their padding.
func (p *padder) hide(op ir.OpID, roles *roles) {
	m := p.m
	if roles.runs {
		p.run(op)
		return
	}
	switch m.Kind(op) {
	case ir.OpReduce:
		for i := range m.NumResults(op) {
			if !localform.Exchanged(m, op) {
				p.mask(op, i, roles)
			} else {
				p.surround(op, i, m.Operand(op, m.NumResults(op)+i), roles.alongAll(i, roles.rule.Permutation))
			}
		}
	case ir.OpChloTopK:
		p.surround(op, 0, p.last(op), roles.alongAll(0, roles.rule.Permutation))
	case ir.OpSort:
		p.putLast(op, roles)
	case ir.OpDotGeneral, ir.OpDot:
		for i := range m.NumOperands(op) {
			p.mask(op, i, roles)
		}
	case ir.OpScatter:
		for i := m.NumResults(op) + 1; i < m.NumOperands(op); i++ {
			p.mask(op, i, roles) // updates: where those go that change nothing does not matter
		}
		p.unsorted(op)
	case ir.OpConvolution:
		p.multiply(op, roles)
	case ir.OpCustomCall:
		p.calm(op, roles)
	case ir.OpSlice:
		p.lengthen(op, "limit_indices")
	case ir.OpGather:
		p.clampIndices(op)
		p.lengthen(op, "slice_sizes")
		p.unsorted(op)
	case ir.OpDynamicSlice:
		p.clampStarts(op, m.OpAttrs(op).Ints("slice_sizes"), 1)
		p.lengthen(op, "slice_sizes")
	case ir.OpDynamicUpdateSlice:
		p.clampStarts(op, p.unpadded(m.Operand(op, 1)), 2)
	}
}

// calm gives routines of linear algebra, which iterate until they are done, zeros in the place of padding, and the rule that a custom call
// was given its new sizes.
func (p *padder) calm(op ir.OpID, roles *roles) {
	m := p.m
	for i, v := range m.Operands(op) {
		if p.has(v) && ir.ProblemRank(m.OpAttrs(op).Str("call_target_name")) > 0 {
			zero := m.BuilderBefore(op).Constant(m.Zeros(m.TensorType(m.ValueType(v).DType)))
			m.SetSharding(zero, m.Replicated(p.mesh, 0, true))
			p.surround(op, i, zero, ^uint64(0))
		}
	}
	given, ok := m.Attr(op, rule.Attr).(*ir.RuleAttr)
	if !ok {
		return
	}
	grown := *given.Rule
	grown.Sizes = slices.Clone(grown.Sizes)
	for i, v := range m.Operands(op) {
		for d, f := range roles.operands[i] {
			if f >= 0 {
				grown.Sizes[f] = m.Shape(v)[d]
			}
		}
	}
	m.SetAttrs(op, m.OpAttrs(op).With(rule.Attr, &ir.RuleAttr{Rule: &grown}))
}

// last emits for an op that searches its first operand for the greatest elements what it finds last: the least element, of floating-point
// numbers in their total order the negative one that is all ones. What is equal to it is found before, as it stands before.
func (p *padder) last(op ir.OpID) ir.ValueID {
	m := p.m
	e := m.ValueType(m.Operand(op, 0)).DType
	least := ir.Extreme(e, false)
	if e.Kind() == dtype.Float {
		least = bytes.Repeat([]byte{0xff}, e.Bytes())
	}
	v := m.BuilderBefore(op).Constant(m.Dense(m.TensorType(e), least))
	m.SetSharding(v, m.Replicated(p.mesh, 0, true))
	return v
}

// putLast gives the keys of a sort, in the place of padding, what no element stands behind. Elements that are equal to it stand before it
// and stay there.
func (p *padder) putLast(op ir.OpID, roles *roles) {
	m := p.m
	s := localform.Sorted(m, op, localform.Counts(m))
	lasts, _ := s.Lasts(m, op)
	for i, k := range s.Keys {
		v := m.BuilderBefore(op).Constant(m.Dense(m.TensorType(m.ValueType(m.Operand(op, k.Operand)).DType), lasts[i]))
		m.SetSharding(v, m.Replicated(p.mesh, 0, true))
		p.surround(op, k.Operand, v, roles.alongAll(k.Operand, roles.rule.Permutation))
	}
	m.SetAttrs(op, m.OpAttrs(op).With("is_stable", ir.BoolAttr(true)))
}

// unsorted takes back promises about indices, of which some are padding.
func (p *padder) unsorted(op ir.OpID) {
	for _, name := range []string{"indices_are_sorted", "unique_indices"} {
		if a := p.m.OpAttrs(op); a.Get(name) != nil {
			p.m.SetAttrs(op, a.With(name, ir.BoolAttr(false)))
		}
	}
}

// lengthen changes an attribute that holds the size of every dimension of the operand that an op takes whole.
func (p *padder) lengthen(op ir.OpID, name string) {
	m, operand := p.m, p.m.Operand(op, 0)
	list, before := slices.Clone(m.OpAttrs(op).Ints(name)), p.unpadded(operand)
	for d, n := range m.Shape(operand) {
		if list[d] == before[d] {
			list[d] = n
		}
	}
	m.SetAttrs(op, m.OpAttrs(op).With(name, ir.Ints(list)))
}

// maskKey is a value with something in the place of its padding along some dimensions.
type maskKey struct {
	value     ir.ValueID
	block     ir.BlockID
	dims      uint64
	reduction ir.Reduction
}

// rangeKey is which indices of a dimension are less than a limit.
type rangeKey struct {
	block    ir.BlockID
	n, limit int64
	cut      ir.ShardingID
}

// mask replaces what pads an operand of an op along reduced dimensions by what changes nothing. Both operands of a product are masked:
// zero times what is not a number is not zero.
func (p *padder) mask(op ir.OpID, i int, roles *roles) {
	m, v := p.m, p.m.Operand(op, i)
	if !p.has(v) {
		return
	}
	key := maskKey{v, m.OpBlock(op), 0, roles.reduction}
	whole := p.unpadded(v)
	for d, f := range roles.operands[i] {
		if f >= 0 && whole[d] != m.Shape(v)[d] && slices.Contains(roles.rule.Reduction, f) {
			key.dims |= 1 << d
		}
	}
	if key.dims == 0 {
		return
	}
	masked, ok := p.masks[key]
	if !ok {
		masked = p.masked(op, v, key.dims, ir.Identity(m.ValueType(v).DType, roles.reduction))
		p.alias(masked, v)
		p.masks[key] = masked
	}
	m.SetOperand(op, i, masked)
}

// masked emits a value for an op with a fill in the place of its padding along some dimensions.
func (p *padder) masked(op ir.OpID, v ir.ValueID, dims uint64, fill []byte) ir.ValueID {
	m := p.m
	b := m.BuilderBefore(op)
	inside := p.inside(op, v, dims)
	filled := p.like(v, b.Constant(&ir.Dense{Type: m.Type(v), Data: fill, Splat: true}))
	return p.like(v, b.Op1(ir.OpSelect, m.Type(v), nil, inside, v, filled))
}

// inside emits for an op which elements of a value are no padding along some dimensions.
func (p *padder) inside(op ir.OpID, v ir.ValueID, dims uint64) ir.ValueID {
	m, shape, whole := p.m, p.m.Shape(v), p.unpadded(v)
	b, block := m.BuilderBefore(op), m.OpBlock(op)
	predicate := m.TensorType(dtype.I1, shape...)
	var inside ir.ValueID
	for d := range shape {
		if dims>>d&1 == 0 {
			continue
		}
		valid := p.below(b, block, shape[d], whole[d], p.axes(v, d))
		if len(shape) > 1 {
			over := ir.MakeAttrs(ir.Named("broadcast_dimensions", ir.Ints{int64(d)}))
			valid = p.like(v, b.Op1(ir.OpBroadcastInDim, predicate, over, valid))
		}
		if inside == 0 {
			inside = valid
		} else {
			inside = p.like(v, b.Op1(ir.OpAnd, predicate, nil, inside, valid))
		}
	}
	return inside
}

// below emits which of n indices, cut by axes, are less than a limit.
func (p *padder) below(b *ir.Builder, block ir.BlockID, n, limit int64, axes []subaxis.Ref) ir.ValueID {
	m, e := p.m, dtype.I32
	if n > math.MaxInt32 {
		e = dtype.I64
	}
	cut := p.cutBy(axes)
	key := rangeKey{block, n, limit, cut}
	if v, ok := p.ranges[key]; ok {
		return v
	}
	t := m.TensorType(e, n)
	count := b.Op1(ir.OpIota, t, ir.MakeAttrs(ir.Named("iota_dimension", m.I64(0))))
	m.SetSharding(count, cut)
	bound := p.like(count, b.Constant(&ir.Dense{Type: t, Data: integer(e, limit), Splat: true}))
	v := p.like(count, b.Op1(ir.OpCompare, m.TensorType(dtype.I1, n), ir.CompareAttrs("LT", e), count, bound))
	p.ranges[key] = v
	return v
}
