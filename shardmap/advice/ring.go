package advice

import (
	"context"
	"fmt"
	"slices"

	"autoshard/internal/lint"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/shardmap"
	"autoshard/shardmap/ring"
	"autoshard/shardmap/typed"
)

// rings finds products that wait for the collective beside them, a gather of an operand or a sum of the result, in a program without
// scans, which would come back as other loops, and without free axes, which would not come back. Each is said for every way in which its
// chunks can walk.
func rings(p *typed.Program, op ir.OpID) (found []*Advice) {
	if len(p.Module.OpsOf(p.Body(), ir.OpShardMapScan)) > 0 || p.Manual.Len() < len(p.Mesh.Axes) {
		return nil
	}
	split, at := p, op
	if p.Module.Kind(op) == ir.OpShardMapPsum {
		if split, at = scattered(p, op); split == nil {
			return nil
		}
	}
	device := split.LowerOverAxes()
	i := indexOf(device, at)
	if i < 0 {
		return nil
	}
	device.Collectives[i].From = at // as if a plan had made it
	group := slices.DeleteFunc(ring.Find(device), func(c ring.Candidate) bool { return c.Collective != i })
	beside := "product"
	if n := len(ring.Products(group)); n > 1 {
		beside = fmt.Sprint(n, " products")
	}
	for _, way := range []ring.Way{ring.OneWay, ring.BothWays} {
		if len(group) > 0 && group[0].Allows(way) {
			found = append(found, &Advice{Rule: lint.SerialProduct, Overlaps: true,
				Message: fmt.Sprintf("%s and the %s beside it wait for each other: a %s ring sends chunks while others are multiplied",
					p.Describe(op), beside, way),
				apply: func() (*typed.Program, error) { return ringed(split, at, way) }})
		}
	}
	return found
}

// indexOf returns the number of the collective that an op is, -1 if it is none.
func indexOf(device *shardmap.Program, op ir.OpID) int {
	for i := range device.Collectives {
		if device.Collectives[i].Op == op {
			return i
		}
	}
	return -1
}

// scattered returns the program with a psum of a product made in two steps, a psum_scatter and a gather, and the first one's op; nil where
// there is no such form.
func scattered(p *typed.Program, op ir.OpID) (*typed.Program, ir.OpID) {
	sum, ok := plain(p, op, ir.OpShardMapPsum)
	product := p.Module.DefiningOp(p.Module.Operand(op, 0))
	if !ok || product == 0 || p.Module.Kind(product) != ir.OpDotGeneral || !p.Module.HasOneUse(p.Module.Operand(op, 0)) {
		return nil, 0
	}
	n := p.GroupSize(sum.Axes)
	for d, size := range p.Module.Shape(p.Module.Result(op, 0)) {
		if size%n != 0 || size == 0 {
			continue
		}
		q := p.Clone()
		b := typed.Edit(q, op)
		part := b.Emit(typed.Collective{Kind: ir.OpShardMapPsumScatter, Axes: sum.Axes, Dim: int64(d)}, q.Module.Operand(op, 0))
		kind := ir.OpShardMapAllGatherInvariant
		if !q.Check {
			kind = ir.OpShardMapAllGather
		}
		q.Replace(q.Module.Result(op, 0), b.Emit(typed.Collective{Kind: kind, Axes: sum.Axes, Dim: int64(d)}, part))
		q.Erase(op)
		q.Variance = nil
		if _, err := q.Elaborate(typed.Options{}); err != nil {
			return nil, 0
		}
		return q, q.Module.DefiningOp(part)
	}
	return nil, 0
}

// ringed returns the program with a collective and the products beside it as rings.
func ringed(p *typed.Program, op ir.OpID, way ring.Way) (*typed.Program, error) {
	ctx := context.Background() // which never ends: what is rewritten is one product
	device := p.LowerOverAxes()
	i := indexOf(device, op)
	device.Collectives[i].From = op
	device.Module.SetAttrs(op, device.Module.OpAttrs(op).With(ring.Attr, ir.StringAttr(way.String())))
	if err := ring.Rewrite(ctx, device); err != nil {
		return nil, err
	}
	called := typed.Names{Program: p.Name, Inputs: lists.Map(p.Params, func(x typed.Param) string { return x.Name }),
		Outputs: lists.Map(p.Module.Operands(p.Return()), p.NameOf)}
	t, err := typed.FromDevice(ctx, device, called)
	if err != nil {
		return nil, err
	}
	if t.Program.Check != p.Check {
		return nil, t.Unchecked
	}
	for i := range p.Params {
		t.Program.Params[i].Donated = p.Params[i].Donated
	}
	return t.Program, nil
}
