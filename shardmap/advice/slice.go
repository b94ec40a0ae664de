package advice

import (
	"slices"

	"autoshard/internal/lint"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap/typed"
	"autoshard/subaxis"
)

// psumThenSlice finds a sum of which every device keeps its own part only, along axes that it is summed over.
func psumThenSlice(p *typed.Program, op ir.OpID) *Advice {
	sum, ok := plain(p, op, ir.OpShardMapPsum)
	if !ok {
		return nil
	}
	user, operand := onlyUse(p, p.Module.Result(op, 0))
	if user == 0 || operand != 0 || p.Module.OpBlock(user) != p.Module.OpBlock(op) {
		return nil
	}
	axes, dim, ok := ownPart(p, user)
	if !ok || slices.ContainsFunc(axes, func(a int) bool { return !sum.Set().Has(a) }) {
		return nil
	}
	return &Advice{
		Rule:    lint.PsumThenSlice,
		Message: p.Describe(op) + " is cut to each device's own part: a psum_scatter in the place of both sends half",
		rewrite: func(e *editor) {
			b := typed.Edit(e.p, user)
			v := b.Emit(typed.Collective{Kind: ir.OpShardMapPsumScatter, Axes: axes, Dim: int64(dim)}, e.m.Operand(op, 0))
			rest := lists.Filter(sum.Axes, func(a int) bool { return !slices.Contains(axes, a) })
			if len(rest) > 0 {
				v = b.Emit(typed.Collective{Kind: ir.OpShardMapPsum, Axes: rest}, v)
			}
			e.p.Replace(e.m.Result(user, 0), v)
			e.drop(user)
		},
	}
}

// ownPart says along which axes, in the order of the parts, and in which dimension an op takes this device's own part of its operand.
func ownPart(p *typed.Program, op ir.OpID) (axes []int, dim int, ok bool) {
	m := p.Module
	if c, ok := plain(p, op, ir.OpShardMapPscatter); ok {
		return c.Axes, int(c.Dim), true
	}
	if m.Kind(op) != ir.OpDynamicSlice {
		return nil, 0, false
	}
	whole, part := m.Shape(m.Operand(op, 0)), m.Shape(m.Result(op, 0))
	dim = -1
	for d := range whole {
		if whole[d] == part[d] {
			continue
		}
		if dim >= 0 || part[d] == 0 || whole[d]%part[d] != 0 {
			return nil, 0, false
		}
		dim = d
	}
	if dim < 0 {
		return nil, 0, false
	}
	starts := (&places{p: p}).of(m.Operand(op, 1+dim))
	for i, start := range starts {
		if start%part[dim] != 0 {
			return nil, 0, false
		}
		starts[i] = start / part[dim]
	}
	refs, found := p.Mesh.Find(starts)
	if !found || subaxis.Product(refs) != whole[dim]/part[dim] {
		return nil, 0, false
	}
	if slices.ContainsFunc(refs, func(r subaxis.Ref) bool { return !p.Mesh.IsFull(r) }) {
		return nil, 0, false
	}
	return lists.Map(refs, func(r subaxis.Ref) int { return int(r.Axis) }), dim, true
}

// maxPlaces bounds the places in a mesh for which numbers are worked out one by one.
const maxPlaces = 1 << 16

// places works out integers that depend on the device alone.
type places struct{ p *typed.Program }

// of returns an integer at each place of the mesh, nil where data decides about it.
func (x *places) of(v ir.ValueID) []int64 {
	m, n := x.p.Module, x.p.Mesh.Devices()
	op := m.DefiningOp(v)
	if op == 0 || n > maxPlaces {
		return nil
	}
	if c, ok := m.ConstantInt(v); ok {
		return slices.Repeat([]int64{c}, int(n))
	}
	if c, ok := plain(x.p, op, ir.OpShardMapAxisIndex); ok {
		refs := lists.Map(c.Axes, x.p.Mesh.Full)
		return lists.Of(int(n), func(i int) int64 { return x.p.Mesh.ShardIndex(int64(i), refs) })
	}
	if c, err := x.p.Collective(op); err == nil && !c.IsCast() || err != nil && !m.Kind(op).IsElementwise() && m.Kind(op) != ir.OpReshape {
		return nil
	}
	operands := make([][]int64, m.NumOperands(op))
	for i := range operands {
		if operands[i] = x.of(m.Operand(op, i)); operands[i] == nil {
			return nil
		}
	}
	out := make([]int64, n)
	for i := range out {
		var ok bool
		if out[i], ok = x.compute(op, func(k int) int64 { return operands[k][i] }); !ok {
			return nil
		}
	}
	return out
}

// compute evaluates an op on integers; truth is 1.
func (x *places) compute(op ir.OpID, at func(int) int64) (int64, bool) {
	m := x.p.Module
	truth := func(b bool) (int64, bool) {
		if b {
			return 1, true
		}
		return 0, true
	}
	switch m.Kind(op) {
	case ir.OpAdd:
		return at(0) + at(1), true
	case ir.OpSubtract:
		return at(0) - at(1), true
	case ir.OpMultiply:
		return at(0) * at(1), true
	case ir.OpSelect:
		return at(2 - int(at(0))), true
	case ir.OpCompare:
		direction, _ := m.Attr(op, "comparison_direction").(ir.EnumAttr)
		switch direction.Value {
		case "LT":
			return truth(at(0) < at(1))
		case "GE":
			return truth(at(0) >= at(1))
		}
		return 0, false
	}
	switch kind := m.Kind(op); {
	case kind == ir.OpConvert || kind == ir.OpReshape || kind.IsShardMap():
		return at(0), true
	}
	return 0, false
}
