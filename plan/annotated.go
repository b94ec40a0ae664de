package plan

import (
	"context"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/padding"
	"autoshard/program"
)

// Annotated returns the plan as a program for another partitioner, such as XLA's. XLA ignores shardings that stand on
// operations, and refuses them on loops; so a sharding constraint stands behind every value, as it is made and where the
// plan moves it. Partial sums have none: a constraint would complete them at once. Errors are of a
// plan that no longer is one, or the context's.
func (p *Plan) Annotated(ctx context.Context) (text string, err error) {
	defer diag.Recover("annotate", &err)
	m, _, err := program.Parse(ctx, p.Program)
	if err != nil {
		return "", err
	}
	for _, op := range m.OpsWhere(m.MainFunc().Body, func(k ir.Kind) bool { return !k.IsTerminator() }) {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		switch k := m.Kind(op); {
		case k.Communicates() && k.Dialect() == "sdy":
			constrain(m, op)
		case k == ir.OpSdyManualComputation || k == ir.OpSdyShardingConstraint:
		default:
			constrainAll(m, m.BuilderAfter(op), m.ResultValues(op))
			for b := range m.InnerBlocks(op) {
				constrainAll(m, m.BuilderBefore(m.FirstOp(b)), m.BlockArgs(b))
			}
		}
	}
	ir.ForgetTrips(m)
	padding.Forget(m)
	out, err := mlir.Write(ctx, m, mlir.PrintOptions{})
	return string(out), err
}

// constrainAll moves the shardings of values into constraints that all their uses read.
func constrainAll(m *ir.Module, b *ir.Builder, values []ir.ValueID) {
	for _, v := range values {
		id := m.Sharding(v)
		m.SetSharding(v, 0)
		if id == 0 || len(m.Shape(v)) == 0 || len(m.ShardingOf(id).Unreduced) > 0 {
			continue
		}
		c := b.Op1(ir.OpSdyShardingConstraint, m.Type(v), nil, v)
		m.SetSharding(c, id)
		m.Divert(v, c)
	}
}

// constrain replaces a communication by a constraint to its sharding.
func constrain(m *ir.Module, op ir.OpID) {
	from, to := m.Operand(op, 0), m.Result(op, 0)
	v := m.BuilderBefore(op).Op1(ir.OpSdyShardingConstraint, m.Type(from), nil, from)
	m.SetSharding(v, m.Sharding(to))
	m.ReplaceUses(to, v)
	m.Erase(op)
}
