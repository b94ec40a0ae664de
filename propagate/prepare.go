package propagate

import (
	"context"

	"autoshard/ir"
)

// Normalize is the part of Import that leaves an ordinary program behind: meshes are named and equal ones merged,
// axes of size one are gone from shardings, every use of a constant has its own, and manual computations say which
// axes they replicate. Errors are those of its passes or the context's.
func Normalize(ctx context.Context, m *ir.Module) error {
	return inOrder(ctx, m, infallible(LiftInlinedMeshes), infallible(RemoveSizeOneAxes), SplitConstants, CleanManualAxes)
}

// Connect is the rest of Import: it inserts the data-flow edges along which shardings cross regions, applies
// constraints to what they constrain, and merges sharding groups. Disconnect takes it out again.
// Errors are those of its passes or the context's.
func Connect(ctx context.Context, m *ir.Module) error {
	return inOrder(ctx, m, infallible(AddDataFlowEdges), infallible(ApplyConstraints), ImportGroups)
}

// Disconnect takes out what Connect inserted; values keep their ids and shardings.
func Disconnect(m *ir.Module) {
	SinkDataFlowEdges(m)
	RemoveGroups(m)
}

// Spread propagates the shardings of a module that Normalize prepared to all values that they reach, across regions too, with rules for all
// ops that have one. Errors are those of Connect and Run.
func Spread(ctx context.Context, m *ir.Module) error {
	if err := Connect(ctx, m); err != nil {
		return err
	}
	if _, err := Run(ctx, m, Options{CompleteRules: true}); err != nil {
		return err
	}
	Disconnect(m)
	return nil
}

// inOrder runs passes one after the other. Each is short, so that it is enough to look at the context between them.
func inOrder(ctx context.Context, m *ir.Module, passes ...func(*ir.Module) error) error {
	for _, pass := range passes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := pass(m); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// infallible makes a pass that cannot fail one of those that can.
func infallible(pass func(*ir.Module)) func(*ir.Module) error {
	return func(m *ir.Module) error {
		pass(m)
		return nil
	}
}
