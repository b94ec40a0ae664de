package passes

import (
	"context"

	"autoshard/collectives"
	"autoshard/ir"
	"autoshard/ir/canonical"
	"autoshard/ir/pass"
	"autoshard/propagate"
	"autoshard/propagate/reshard"
)

// exportGroup turns a propagated program into an ordinary one.
func exportGroup() pass.Group {
	return pass.Group{
		Title: "Export",
		Text:  "Passes that end propagation: what only propagation needs goes, and what shardings mean is said once and for all.",
		Passes: []pass.Pass{
			{
				Name:    "sdy-constant-or-scalar-merger",
				Summary: "merge equal constants and broadcasts of a scalar whose shardings are equal",
				After:   []string{"sdy-user-priority-propagate"},
				Why:     "undoes the splitter where copies ended up the same",
				Func:    true,
				Run:     pass.Infallible(propagate.MergeConstants),
			},
			{
				Name:    "sdy-sink-data-flow-edges",
				Summary: "move the shardings of data-flow edges to the operations that they belong to, and remove the edges",
				After:   []string{"sdy-user-priority-propagate"},
				Why:     "later passes look for the producer of a value, which an edge hides",
				Func:    true,
				Options: []pass.Option{sinkOrigins, sinkEdges},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					propagate.SinkDataFlowEdgesWith(m, propagate.Debug{Origins: s.Bool(sinkOrigins.Name), Edges: s.Bool(sinkEdges.Name)})
					return nil
				},
			},
			{
				Name:    "sdy-remove-sharding-groups",
				Summary: "remove all sharding groups",
				After:   []string{"sdy-user-priority-propagate"},
				Why:     "propagation made the shardings of members equal",
				Run:     pass.Infallible(propagate.RemoveGroups),
			},
			{
				Name:    "sdy-sharding-constraint-to-reshard",
				Summary: "turn sharding constraints into reshards",
				After:   []string{"sdy-sink-data-flow-edges"},
				Why:     "to propagation a constraint is an anchor, and a reshard an operation like others",
				Func:    true,
				Run:     pass.Infallible(propagate.ConstraintsToReshards),
			},
			{
				Name:    "sdy-update-non-divisible-input-output-shardings",
				Summary: "cut shardings of inputs and outputs down to axes that divide their dimensions",
				After:   []string{"sdy-sink-data-flow-edges", "sdy-insert-func-call-reshards"},
				Why:     "it reads the shardings of functions, calls and manual computations themselves",
				Run:     pass.Infallible(propagate.UpdateNonDivisible),
			},
			{
				Name:    "sdy-remove-sub-axes-in-input-output-shardings",
				Summary: "cut open dimensions of the main function's inputs and outputs at the first sub-axis",
				After:   []string{"sdy-update-non-divisible-input-output-shardings"},
				Why:     "cutting axes down to those that divide may leave parts of axes",
				Run:     pass.Infallible(propagate.RemoveSubAxes),
			},
			{
				Name:    "sdy-close-shardings",
				Summary: "close all dimensions, and forget explicitly replicated axes",
				After:   []string{"sdy-remove-sub-axes-in-input-output-shardings"},
				Why:     "open dimensions mean nothing to later passes",
				Run:     pass.Infallible(propagate.CloseShardings),
			},
			{
				Name:    "sdy-verify-unreduced-axes",
				Summary: "check that unreduced axes appear and vanish only where that means something",
				After:   []string{"sdy-sharding-constraint-to-reshard"},
				Why:     "inserted communication would hide mistakes",
				Func:    true,
				Run:     pass.Plain(reshard.VerifyUnreduced),
			},
			{
				Name:    "sdy-insert-explicit-reshards",
				Summary: "insert reshards and all-reduces where shardings imply them",
				After:   []string{"sdy-close-shardings", "sdy-verify-unreduced-axes"},
				Why:     "later passes see communication as operations",
				Func:    true,
				Options: []pass.Option{fullVersion},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					return reshard.Insert(m, reshard.Options{Full: s.Bool(fullVersion.Name)})
				},
			},
			{
				Name:    "sdy-reshard-to-collectives",
				Summary: "turn reshards into the collectives that do what they ask for",
				After:   []string{"sdy-insert-explicit-reshards"},
				Why:     "all communication has to be reshards first; before it, canonicalize removes those that cancel out",
				Func:    true,
				Options: []pass.Option{keepRedundant},
				Run: func(ctx context.Context, m *ir.Module, s pass.Settings) error {
					return collectives.Expand(ctx, m, collectives.Expansion{Order: collectives.Shardy, KeepRedundant: s.Bool(keepRedundant.Name)})
				},
			},
			{
				Name:    "sdy-optimize-collectives",
				Summary: "move axes on without a permute that only reorders those of a dimension before",
				After:   []string{"sdy-reshard-to-collectives"},
				Why:     "permutes and all-to-alls are what it looks for",
				Func:    true,
				Run: func(ctx context.Context, m *ir.Module, _ pass.Settings) error {
					collectives.Unpermute(m)
					return ctx.Err()
				},
			},
			{
				Name:    "sdy-remove-all-gather-reduce-scatter-for-cmv1",
				Summary: "remove gathers before and scatters after matrix products, which their partitioner makes itself",
				After:   []string{"canonicalize"},
				Why:     "collectives must be explicit and canonical",
				Func:    true,
				Run:     pass.Infallible(canonical.DropMatmulCollectives),
			},
			{
				Name:    "sdy-remove-propagation-debug-info",
				Summary: "remove what the debug options of propagation left",
				After:   []string{"sdy-sink-data-flow-edges"},
				Why:     "sinking moves the information of edges to operations",
				Run:     pass.Infallible(propagate.RemoveDebugInfo),
			},
			{
				Name:    "sdy-drop-sharding-rules",
				Summary: "remove the rules of operations, but not those that a user gave",
				After:   []string{"sdy-populate-op-sharding-rules", "sdy-insert-explicit-reshards"},
				Why:     "inserting reshards is the last pass that reads rules",
				Func:    true,
				Run:     pass.Infallible(propagate.DropRules),
			},
			{
				Name:    "sdy-inline-meshes",
				Summary: "write meshes inside shardings, and remove their names",
				After:   []string{"canonicalize"},
				Why:     "other passes compare meshes by name",
				Run:     pass.Infallible(propagate.InlineMeshes),
			},
			{
				Name:    "sdy-drop-sharding-and-mesh",
				Summary: "remove all shardings and meshes",
				After:   []string{"sdy-drop-sharding-rules", "sdy-inline-meshes", "sdy-remove-propagation-debug-info", "sdy-remove-sharding-groups"},
				Why:     "in no pipeline; for programs of one device, in which shardings mean nothing any more",
				Run:     pass.Infallible(propagate.DropShardings),
			},
		},
	}
}

var keepRedundant = pass.Bool("keep-redundant-reshards", false, "leave reshards that ask for nothing")

var fullVersion = pass.Bool("enable-full-version", false, "make all operations compatible with their rules, not only some")

// The options of sinking.
var (
	sinkOrigins = pass.Bool("sink-debug-sharding-origins", false, "keep what edges say about who asked for their axes")
	sinkEdges   = pass.Bool("sink-debug-propagation-edge-sharding", false, "keep what edges say about the ways that axes went")
)
