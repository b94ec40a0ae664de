package plan

import (
	"context"
	"slices"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/dataflow"
	"autoshard/propagate"
	"autoshard/shardmap"
	"autoshard/subaxis"
)

// cutFree cuts the bodies of manual computations along the axes that they leave free, as the user's shardings propagate into them. The
// search sees computations that are manual along those axes too. It fails with the context's error where that ends.
func cutFree(ctx context.Context, m *ir.Module, mesh ir.MeshID, pricer collectives.Pricer) error {
	decl := m.Mesh(mesh)
	partly := partlyManual(m, decl.All())
	if len(partly) == 0 {
		return nil
	}
	settled := m.Clone()
	if err := propagate.Spread(ctx, settled); err != nil {
		return err
	}
	planner := collectives.NewPlanner(pricer, decl.Axes)
	for _, op := range partly {
		if err := shardmap.CutFree(ctx, m, mesh, op, planner, settled); err != nil {
			return err
		}
	}
	return nil
}

// partlyManual returns the manual computations that leave axes free, or others to computations inside them, those inside others first: a
// body is cut when what it holds is.
func partlyManual(m *ir.Module, axes []subaxis.Ref) (ops []ir.OpID) {
	for _, op := range slices.Backward(m.OpsOf(m.MainFunc().Body, ir.OpSdyManualComputation)) {
		var manual []subaxis.Ref
		for around := op; around != 0; around = m.ManualAround(m.ParentOp(around)) {
			manual = append(manual, dataflow.ManualAxes(m, around)...)
		}
		free := func(r subaxis.Ref) bool {
			_, taken := subaxis.Overlapping(manual, r)
			return !taken && r.Size > 1
		}
		if slices.ContainsFunc(axes, free) || len(m.OpsOf(m.RegionBlock(op, 0), ir.OpSdyManualComputation)) > 0 {
			ops = append(ops, op)
		}
	}
	return ops
}
