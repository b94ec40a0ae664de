package collectives

import (
	"context"

	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/ir/rule"
	"autoshard/subaxis"
)

// even takes the axes off factors of an op that would cut a dimension of its tensors into blocks of different sizes.
func (a Assignment) even(m *ir.Module, op ir.OpID, r *ir.Rule) {
	drop := func(v ir.ValueID, dims [][]int32) {
		for d, factors := range dims {
			n := int64(1)
			for _, f := range factors {
				n *= subaxis.Product(a[op][f])
			}
			if m.Shape(v)[d]%n == 0 {
				continue
			}
			for _, f := range factors {
				a[op][f] = nil
			}
		}
	}
	for i, v := range m.Operands(op) {
		drop(v, r.Operands[i])
	}
	for i, v := range m.ResultValues(op) {
		drop(v, r.Results[i])
	}
}

// PartitionBody makes the communications explicit that the body of a manual computation needs along the axes that the computation leaves
// free, in place: its ops are cut as [Derive] does it, and its reshards expanded to the planner's cheapest steps along free axes. All
// values of the body have closed shardings on the mesh, along free axes that divide them; results goes out in the given ones. Errors are
// the context's and those of [Expand].
func PartitionBody(ctx context.Context, m *ir.Module, mesh ir.MeshID, body ir.BlockID, results []ir.ShardingID, planner *Planner) error {
	assignment, rules := make(Assignment, m.NumOps()), rule.NewComputingCache()
	err := m.WalkContext(ctx, body, func(op ir.OpID) {
		if r := rules.Of(m, op); r != nil {
			assignment[op] = newElection(m, op, r).factors()
			assignment.even(m, op, r)
		}
	})
	if err != nil {
		return err
	}
	m.Walk(body, func(op ir.OpID) { revise(m, op, assignment) })
	out := map[ir.Use]ir.ShardingID{}
	for i, id := range results {
		out[ir.Use{Op: m.LastOp(body), Index: i}] = id
	}
	p := &inserter{ctx: ctx, m: m, mesh: mesh, assignment: assignment, rules: rules, reach: Anywhere}
	if err := p.block(body, out); err != nil {
		return err
	}
	e := Expansion{Order: planner.Without(manualAxes(m, body)).Cheapest}
	for _, op := range m.OpsWhere(body, func(k ir.Kind) bool { return k == ir.OpSdyReshard }) {
		if err := e.reshard(m, op); err != nil {
			return err
		}
	}
	return nil
}

// manualAxes returns the axes along which the devices in a body compute different things.
func manualAxes(m *ir.Module, body ir.BlockID) (axes []subaxis.Ref) {
	for op := m.BlockOp(body); op != 0; op = m.ManualAround(m.ParentOp(op)) {
		axes = append(axes, dataflow.ManualAxes(m, op)...)
	}
	return axes
}
