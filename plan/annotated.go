package plan

import (
	"context"
	"slices"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/mlir"
	"autoshard/padding"
	"autoshard/program"
)

// Annotated returns the plan as a program for another partitioner, such as XLA's, which propagates shardings from inputs, outputs and
// constraints on by Shardy's rules. XLA ignores shardings that stand on operations, and refuses them on loops; so sharding constraints
// stand where the plan moves a value, and where propagation would cut one otherwise than the plan: as few as that takes. Partial sums have
// none: a constraint would complete them at once, and XLA completes in every round what a loop carries as unreduced, and sums up wrong.
// Errors are of a plan that no longer is one, or the context's.
func (p *Plan) Annotated(ctx context.Context) (text string, err error) {
	defer diag.Recover("annotate", &err)
	m, _, err := program.Parse(ctx, p.Program)
	if err != nil {
		return "", err
	}
	a := &annotation{m: m}
	if err := a.write(ctx); err != nil {
		return "", err
	}
	ir.ForgetTrips(m)
	padding.Forget(m)
	if err := a.thin(ctx); err != nil {
		return "", err
	}
	out, err := mlir.Write(ctx, m, mlir.PrintOptions{})
	return string(out), err
}

// annotation is a program in which constraints stand for the shardings of a plan.
type annotation struct {
	m           *ir.Module
	constraints []constraint // in program order
}

// constraint is an operation that says how its operand is cut.
type constraint struct {
	op    ir.OpID
	moves bool // the plan moves the operand there: it is cut otherwise before
}

// write puts a constraint behind every value that the plan gives a sharding, and in the place of every communication.
func (a *annotation) write(ctx context.Context) error {
	m := a.m
	for _, op := range m.OpsWhere(m.MainFunc().Body, func(k ir.Kind) bool { return !k.IsTerminator() }) {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch k := m.Kind(op); {
		case k.Communicates() && k.Dialect() == "sdy":
			a.move(op)
		case k == ir.OpSdyManualComputation || k == ir.OpSdyShardingConstraint:
		default:
			for b := range m.InnerBlocks(op) { // before the results of a loop, where the shardings of its arguments are
				a.constrain(m.BuilderBefore(m.FirstOp(b)), m.BlockArgs(b))
			}
			a.constrain(m.BuilderAfter(op), m.ResultValues(op))
		}
	}
	return nil
}

// constrain moves the shardings of values into constraints that all their uses read.
func (a *annotation) constrain(b *ir.Builder, values []ir.ValueID) {
	m := a.m
	for _, v := range values {
		id := dataflow.ShardingOf(m, v)
		m.SetSharding(v, 0)
		if id == 0 || len(m.Shape(v)) == 0 || len(m.ShardingOf(id).Unreduced) > 0 {
			continue
		}
		c := b.Op1(ir.OpSdyShardingConstraint, m.Type(v), nil, v)
		m.SetSharding(c, id)
		m.Divert(v, c)
		a.constraints = append(a.constraints, constraint{op: m.DefiningOp(c)})
	}
}

// move replaces a communication by a constraint to its sharding. One that completes partial sums moves nothing that has a sharding yet.
func (a *annotation) move(op ir.OpID) {
	m := a.m
	from, to := m.Operand(op, 0), m.Result(op, 0)
	alone := len(slices.Collect(m.Uses(from))) == 1
	v := m.BuilderBefore(op).Op1(ir.OpSdyShardingConstraint, m.Type(from), nil, from)
	m.SetSharding(v, m.Sharding(to))
	m.ReplaceUses(to, v)
	k := m.Kind(op)
	m.Erase(op)
	completes := alone && (k == ir.OpSdyAllReduce || k == ir.OpSdyReduceScatter)
	a.constraints = append(a.constraints, constraint{m.DefiningOp(v), !completes})
}
