package passes

import (
	"context"

	"autoshard/ir"
	"autoshard/ir/pass"
	"autoshard/propagate"
)

// importGroup makes a program ready for propagation.
func importGroup() pass.Group {
	return pass.Group{
		Title: "Import",
		Text: "Passes that make a program ready for propagation: every mesh has a name, every use of a constant a copy of its own, " +
			"and what ties values together is there as an op.",
		Passes: []pass.Pass{
			{
				Name:    "sdy-lift-inlined-meshes",
				Summary: "give every mesh that is written inside a sharding a name, and keep one of several equal meshes",
				Order:   "first: later passes compare meshes by name",
				Run: pass.Infallible(func(m *ir.Module) {
					propagate.LiftInlinedMeshes(m)
					propagate.TagMeshes(m)
				}),
			},
			{
				Name:    "sdy-remove-size-one-axes",
				Summary: "drop mesh axes of size 1 from all shardings",
				Order:   "after meshes are known, and before anything else sees axes that shard nothing",
				Run:     pass.Infallible(propagate.RemoveSizeOneAxes),
			},
			{
				Name:    "sdy-constant-or-scalar-splitter",
				Summary: "give every user of a constant, or of a broadcast scalar, a copy of its own",
				Order:   "before propagation, so that a shared constant carries no sharding from one user to another",
				Run: pass.Plain(func(m *ir.Module) error {
					propagate.NameConstants(m)
					return propagate.SplitConstants(m)
				}),
			},
			{
				Name:    "sdy-explicit-gather-scatter-batching",
				Summary: "give gathers and scatters that index dimension 0 in step with their indices a batching dimension",
				Order:   "not part of a pipeline; before propagation, which sees through batching dimensions",
				Func:    true,
				Run:     pass.Infallible(propagate.BatchGathers),
			},
			{
				Name:    "sdy-manual-axes-cleanup",
				Summary: "sort the axes of manual computations, and say explicitly where values are replicated along them",
				Order:   "before data-flow edges, which read the shardings of manual computations",
				Run:     pass.Plain(propagate.CleanManualAxes),
			},
			{
				Name:    "sdy-add-data-flow-edges",
				Summary: "insert an edge op for every value that flows into or out of a region",
				Order:   "after everything that changes regions; edges hold the shardings of what flows until they are sunk",
				Run:     pass.Infallible(propagate.AddDataFlowEdges),
			},
			{
				Name:    "sdy-apply-sharding-constraints",
				Summary: "copy closed shardings of constraints to the values that they constrain",
				Order:   "after data-flow edges, through which constraints reach the values of regions",
				Options: []pass.Option{debugOrigins, debugEdges},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					propagate.ApplyConstraintsWith(m, propagate.Debug{Origins: s.Bool(debugOrigins.Name), Edges: s.Bool(debugEdges.Name)})
					return nil
				},
			},
			{
				Name:    "sdy-sharding-group-import",
				Summary: "merge sharding groups that share a value, and number them from 0",
				Order:   "last before propagation: members must be the values that propagation sees",
				Run:     pass.Plain(propagate.ImportGroups),
			},
		},
	}
}
