package propagate

import (
	"context"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/calls"
)

// Import makes a module ready for propagation: meshes named, constants split, shardings said explicitly, data-flow
// edges and constraints in place, every call a computation of its own. It fails where functions are recursive or the
// module would get larger than calls.MaxOps, and with the context's error.
// Shardy: -sdy-import-pipeline and the passes between it and propagation.
func Import(ctx context.Context, m *ir.Module) error {
	if len(calls.All(m)) == 0 {
		if err := Normalize(ctx, m); err != nil {
			return err
		}
		return Connect(ctx, m)
	}
	err := inOrder(ctx, m, infallible(calls.EraseUnused), infallible(LiftInlinedMeshes), infallible(RemoveSizeOneAxes),
		infallible(calls.PropagateToCalls), SplitConstants, infallible(calls.EraseUnused), CleanManualAxes, infallible(AddDataFlowEdges))
	if err != nil {
		return err
	}
	return separateCalls(ctx, m)
}

// separateCalls gives every call a body of its own. Constraints are applied while bodies are still functions, since the edges of
// functions keep a constraint in a body from changing the values that calls pass to it.
func separateCalls(ctx context.Context, m *ir.Module) error {
	return inOrder(ctx, m,
		func(m *ir.Module) error { return calls.Flatten(m, calls.MaxOps) },
		infallible(calls.EraseUnused), infallible(AddFuncDataFlowEdges), infallible(ApplyConstraints), infallible(SinkFuncDataFlowEdges),
		ImportGroups,
		func(m *ir.Module) error { return ImportCalls(m, true, calls.MaxOps) },
		infallible(calls.PreOrder))
}

// Close ends propagation: what only propagation needs is removed, computations become calls again, arguments and
// results become divisible, and all dimensions are closed. Shardy: the end of -sdy-propagation-pipeline, up to
// -sdy-close-shardings, but constraints stay constraints, so that every value keeps its id. It fails with the context's
// error, and where what propagation leaves of computations is not valid.
func Close(ctx context.Context, m *ir.Module) error {
	apart := len(calls.Computations(m)) > 0 || hasFunctions(m)
	passes := []func(*ir.Module){PropagateToResults}
	if apart {
		unflatten := func(m *ir.Module) { calls.Unflatten(m, false) }
		passes = []func(*ir.Module){ExportCalls, PropagateToResults, unflatten, calls.EraseUnused, calls.InsertReshards}
	}
	for _, pass := range append(passes, MergeConstants, Disconnect, UpdateNonDivisible, RemoveSubAxes, CloseShardings) {
		if err := inOrder(ctx, m, infallible(pass)); err != nil {
			return err
		}
	}
	if apart || len(m.OpsOf(m.Body(), ir.OpSdyManualComputation)) > 0 {
		return checkComputations(ctx, m)
	}
	return nil
}

// checkComputations fails where a module is not valid any more. Members of a sharding group take over each other's shardings, also as they
// are seen inside a manual computation, without its axes; and named computations of one name become one function, whatever they hold.
// Shardy does the same, and its verifier refuses what comes of it.
func checkComputations(ctx context.Context, m *ir.Module) error {
	return diag.About(ir.Verify(ctx, m), "propagation leaves a program that is not valid; keep what enters and leaves manual computations "+
		"out of sharding groups, with manual axes first in every dimension, and give named computations names of their own")
}

// hasFunctions says whether a module has functions beside the main one.
func hasFunctions(m *ir.Module) bool {
	n := 0
	for range m.Funcs() {
		n++
	}
	return n > 1
}
