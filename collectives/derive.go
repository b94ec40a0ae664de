package collectives

import (
	"context"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// Settle gives every tensor value of the main function, and every result of it, a closed sharding on the mesh: missing ones become
// replicated. Axes that do not divide a dimension stay where it can be padded ([Padded]), padding makes blocks smaller, and no op ties
// it to a dimension that is cut evenly; else they are dropped or split as Shardy does for inputs and outputs (shardy.md section 5.1).
// Results of functions without a sharding take over that of the value they return. The only error is the context's.
func Settle(ctx context.Context, m *ir.Module, mesh ir.MeshID) error {
	main, ok := m.Main()
	if !ok {
		return nil
	}
	body := m.Func(main).Body
	for _, arg := range m.BlockArgs(body) {
		settleValue(m, mesh, arg)
	}
	err := m.WalkContext(ctx, body, func(op ir.OpID) {
		for _, v := range m.Results(op) {
			settleValue(m, mesh, v)
		}
	})
	if err != nil {
		return err
	}
	RestrictManual(m)
	if err := soften(ctx, m, body); err != nil {
		return err
	}
	f, ret := m.Func(main), m.LastOp(body)
	for i := range f.ResultShardings {
		v := m.Operand(ret, i)
		if f.ResultShardings[i] == 0 {
			f.ResultShardings[i] = m.Sharding(v)
		} else if isTensor(m, v) {
			f.ResultShardings[i] = m.InternSharding(closed(mesh, m.ShardingOf(f.ResultShardings[i]), len(m.Shape(v))))
		}
	}
	return nil
}

// RestrictManual closes the shardings around manual computations and leaves only their manual axes there: what their
// bodies could place along other axes is computed by all devices alike.
func RestrictManual(m *ir.Module) {
	main, ok := m.Main()
	if !ok {
		return
	}
	m.Walk(m.Func(main).Body, func(op ir.OpID) {
		manual, ok := m.Attr(op, "manual_axes").(*ir.AxesAttr)
		if !ok || m.Kind(op) != ir.OpSdyManualComputation {
			return
		}
		for _, v := range append(m.ResultValues(op), m.BlockArgs(m.RegionBlock(op, 0))...) {
			if m.Sharding(v) == 0 {
				continue
			}
			l := LayoutOf(m.ShardingOf(m.Sharding(v)))
			l.Unreduced = nil
			for d := range l.Dims {
				l.Dims[d] = intersect(l.Dims[d], manual.Axes)
			}
			m.SetSharding(v, m.InternSharding(l.Sharding(m.ShardingOf(m.Sharding(v)).Mesh)))
		}
	})
}

// intersect returns the axes of a list that belong to an axis of another.
func intersect(axes, others []subaxis.Ref) []subaxis.Ref {
	var out []subaxis.Ref
	for _, r := range axes {
		if _, ok := subaxis.Overlapping(others, r); ok {
			out = append(out, r)
		}
	}
	return out
}

func settleValue(m *ir.Module, mesh ir.MeshID, v ir.ValueID) {
	if !isTensor(m, v) {
		return
	}
	if m.Sharding(v) == 0 {
		m.SetSharding(v, m.Replicated(mesh, len(m.Shape(v)), true))
		return
	}
	s := closed(mesh, m.ShardingOf(m.Sharding(v)), len(m.Shape(v)))
	for d, n := range m.Shape(v) {
		axes := s.Dims[d].Axes
		if even := subaxis.Dividing(axes, n); n%subaxis.Product(axes) != 0 && !settled(m, v, d, subaxis.Product(axes), subaxis.Product(even)) {
			s.Dims[d].Axes = even
		}
	}
	m.SetSharding(v, m.InternSharding(s))
}

// settled says whether a dimension that n blocks do not divide evenly stays cut so, although fewer would: inputs and what the user asks
// for do where that is possible, other values where blocks become smaller.
func settled(m *ir.Module, v ir.ValueID, d int, n, even int64) bool {
	op, size := m.DefiningOp(v), m.Shape(v)[d]
	return Padded(m, v, d) && (op == 0 || m.Kind(op) == ir.OpSdyShardingConstraint || (size+n-1)/n < size/even)
}

// Padded says whether a dimension of a value may be cut by axes that do not divide it: that of an input, and one that the op that makes
// the value can pad.
func Padded(m *ir.Module, v ir.ValueID, d int) bool {
	op := m.DefiningOp(v)
	switch k := m.Kind(op); {
	case op == 0:
		return m.BlockOp(m.ArgBlock(v)) == m.MainFunc().Op
	case k == ir.OpSdyManualComputation:
		return false
	case k.IsConstant() || k == ir.OpIota || k == ir.OpSdyReshard || dataflow.Has(k):
		return true
	}
	r := rule.Computing(m, op)
	if r == nil {
		return false
	}
	f, ok := rule.Leading(r, r.Results[m.Index(v)][d])
	return ok && rule.Paddable(m, op, r)[f]
}

// closed returns the closed form of the sharding of a tensor.
func closed(mesh ir.MeshID, s *ir.Sharding, rank int) ir.Sharding {
	l := Layout{Dims: make([][]subaxis.Ref, rank)}
	for d := range min(rank, len(s.Dims)) {
		l.Dims[d] = s.Dims[d].Axes
	}
	return l.Sharding(mesh)
}

// Derive chooses factors for every op of a settled module from the shardings of its tensors: an op is cut as those lie. Where they want
// one axis along several factors, it is cut so that least is sent around the op, and of ways that send as much the way that most of the
// bytes lie. Factors are cut as far as [rule.Shardable] lets them. Constants lie as they are needed afterwards. The only error is the
// context's.
func Derive(ctx context.Context, m *ir.Module) (Assignment, error) {
	assignment := make(Assignment, m.NumOps())
	main, ok := m.Main()
	if !ok {
		return assignment, nil
	}
	body, rules := m.Func(main).Body, rule.NewComputingCache()
	err := m.WalkContext(ctx, body, func(op ir.OpID) {
		if r := rules.Of(m, op); r != nil {
			assignment[op] = newElection(m, op, r).factors()
		}
	})
	if err == nil {
		err = m.WalkContext(ctx, body, func(op ir.OpID) { revise(m, op, assignment) })
	}
	return assignment, err
}

// splitAxes distributes the axes of a dimension over its factors, major to minor: each takes what divides it, and
// the next one only follows where the factors before it are cut to single elements. Axes that do not divide a dimension pad its first
// factor.
func splitAxes(axes []subaxis.Ref, dim []int32, sizes []int64, size int64) [][]subaxis.Ref {
	out := make([][]subaxis.Ref, len(dim))
	if size%subaxis.Product(axes) != 0 {
		for i, f := range dim {
			if sizes[f] > 1 {
				out[i] = axes
				break
			}
		}
		return out
	}
	left, rest := rule.AxesOf(axes), int64(1)
	for i := 0; i < len(dim) && rest == 1; i++ {
		out[i], rest = left.Dividing(nil, sizes[dim[i]])
	}
	return out
}
