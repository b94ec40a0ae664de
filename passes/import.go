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
				Why:     "later passes compare meshes by name",
				Run: pass.Infallible(func(m *ir.Module) {
					propagate.LiftInlinedMeshes(m)
					propagate.TagMeshes(m)
				}),
			},
			{
				Name:    "sdy-remove-size-one-axes",
				Summary: "drop mesh axes of size 1 from all shardings",
				After:   []string{"sdy-lift-inlined-meshes"},
				Why:     "meshes are known then, and nothing later sees axes that shard nothing",
				Run:     pass.Infallible(propagate.RemoveSizeOneAxes),
			},
			{
				Name:    "sdy-constant-or-scalar-splitter",
				Summary: "give every user of a constant, or of a broadcast scalar, a copy of its own",
				After:   []string{"sdy-lift-inlined-meshes"},
				Why:     "a shared constant would carry shardings from one user to another",
				Run: pass.Plain(func(m *ir.Module) error {
					propagate.NameConstants(m)
					return propagate.SplitConstants(m)
				}),
			},
			{
				Name:    "sdy-explicit-gather-scatter-batching",
				Summary: "give gathers and scatters that index dimension 0 in step with their indices a batching dimension",
				Why:     "in no pipeline; propagation sees through batching dimensions",
				Func:    true,
				Run:     pass.Infallible(propagate.BatchGathers),
			},
			{
				Name:    "sdy-manual-axes-cleanup",
				Summary: "sort the axes of manual computations, and say explicitly where values are replicated along them",
				After:   []string{"sdy-remove-size-one-axes"},
				Why:     "data-flow edges read the shardings of manual computations",
				Run:     pass.Plain(propagate.CleanManualAxes),
			},
			{
				Name:    "sdy-add-data-flow-edges",
				Summary: "insert an edge op for every value that flows into or out of a region",
				After:   []string{"sdy-constant-or-scalar-splitter", "sdy-manual-axes-cleanup"},
				Why:     "edges hold the shardings of what flows into and out of regions until they are sunk",
				Run:     pass.Infallible(propagate.AddDataFlowEdges),
			},
			{
				Name:    "sdy-apply-sharding-constraints",
				Summary: "copy closed shardings of constraints to the values that they constrain",
				After:   []string{"sdy-add-data-flow-edges"},
				Why:     "constraints reach the values of regions through data-flow edges",
				Options: []pass.Option{debugOrigins, debugEdges},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					propagate.ApplyConstraintsWith(m, propagate.Debug{Origins: s.Bool(debugOrigins.Name), Edges: s.Bool(debugEdges.Name)})
					return nil
				},
			},
			{
				Name:    "sdy-sharding-group-import",
				Summary: "merge sharding groups that share a value, and number them from 0",
				After:   []string{"sdy-apply-sharding-constraints"},
				Why:     "the members of groups must be the values that propagation sees",
				Run:     pass.Plain(propagate.ImportGroups),
			},
		},
	}
}
