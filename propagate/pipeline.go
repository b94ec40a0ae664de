package propagate

import (
	"autoshard/ir"
	"autoshard/ir/calls"
)

// Import makes a module ready for propagation: meshes named, constants split, shardings said explicitly, data-flow
// edges and constraints in place, every call a computation of its own. It fails where functions are recursive or the
// module would get larger than calls.MaxOps. Shardy: -sdy-import-pipeline and the passes between it and propagation.
func Import(m *ir.Module) error {
	if len(calls.All(m)) == 0 {
		if err := Normalize(m); err != nil {
			return err
		}
		return Connect(m)
	}
	calls.EraseUnused(m)
	LiftInlinedMeshes(m)
	RemoveSizeOneAxes(m)
	calls.PropagateToCalls(m)
	if err := SplitConstants(m); err != nil {
		return err
	}
	calls.EraseUnused(m)
	if err := CleanManualAxes(m); err != nil {
		return err
	}
	AddDataFlowEdges(m)
	return separateCalls(m)
}

// separateCalls gives every call a body of its own. Constraints are applied while bodies are functions, whose edges
// keep them from reaching through.
func separateCalls(m *ir.Module) error {
	if err := calls.Flatten(m, calls.MaxOps); err != nil {
		return err
	}
	calls.EraseUnused(m)
	AddFuncDataFlowEdges(m)
	ApplyConstraints(m)
	SinkFuncDataFlowEdges(m)
	if err := ImportGroups(m); err != nil {
		return err
	}
	if err := ImportCalls(m, true, calls.MaxOps); err != nil {
		return err
	}
	calls.PreOrder(m)
	return nil
}

// Close ends propagation: what only propagation needs is removed, computations become calls again, arguments and
// results become divisible, and all dimensions are closed. Shardy: the end of -sdy-propagation-pipeline, up to
// -sdy-close-shardings, but constraints stay constraints, so that every value keeps its id.
func Close(m *ir.Module) {
	apart := len(calls.Computations(m)) > 0 || hasFunctions(m)
	if apart {
		ExportCalls(m)
	}
	PropagateToResults(m)
	if apart {
		calls.Unflatten(m, false)
		calls.EraseUnused(m)
		calls.InsertReshards(m)
	}
	MergeConstants(m)
	Disconnect(m)
	UpdateNonDivisible(m)
	RemoveSubAxes(m)
	CloseShardings(m)
}

// hasFunctions says whether a module has functions beside the main one.
func hasFunctions(m *ir.Module) bool {
	n := 0
	for op := range m.Ops(m.Body()) {
		if m.FuncOf(op) != 0 {
			n++
		}
	}
	return n > 1
}
