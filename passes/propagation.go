package passes

import (
	"context"

	"autoshard/ir"
	"autoshard/ir/pass"
	"autoshard/propagate"
)

// propagationGroup moves shardings from values that have them to those that can take them.
func propagationGroup() pass.Group {
	return pass.Group{
		Title: "Propagation",
		Text: "Each of the propagation passes runs the one before it, once or more often. They remove operations without uses or " +
			"effects that they meet.",
		Passes: []pass.Pass{
			{
				Name:    "sdy-populate-op-sharding-rules",
				Summary: "attach to every operation that has a sharding rule its rule",
				Why:     "for looking at rules: propagation makes them itself",
				Func:    true,
				Options: []pass.Option{conservative},
				Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
					propagate.PopulateRules(m, s.Bool(conservative.Name))
					return nil
				},
			},
			{
				Name:    "sdy-basic-propagate",
				Summary: "propagate shardings; a conflict stops an axis at all tensors of an operation",
				After:   []string{"sdy-explicit-gather-scatter-batching", "sdy-sharding-group-import", "sdy-pre-order-funcs"},
				Why:     "runs on a program that was imported",
				Options: []pass.Option{keepRules, conservative, debugOrigins, debugEdges},
				Run:     propagation(propagate.Options{Strategy: propagate.Basic, NoOpPriority: true, NoUserPriority: true}),
			},
			{
				Name:    "sdy-aggressive-propagate",
				Summary: "propagate shardings; a conflict stops an axis only at the tensors that have it",
				After:   []string{"sdy-basic-propagate"},
				Why:     "runs on a program that was imported; of several strategies the weaker go first",
				Options: []pass.Option{keepRules, conservative, strategy, debugOrigins, debugEdges},
				Run:     propagation(propagate.Options{NoOpPriority: true, NoUserPriority: true}),
			},
			{
				Name:    "sdy-op-priority-propagate",
				Summary: "propagate aggressively in rounds, first through operations that keep shapes",
				After:   []string{"sdy-aggressive-propagate"},
				Why:     "runs on a program that was imported",
				Options: []pass.Option{keepRules, conservative, strategy, opPriority, debugOrigins, debugEdges},
				Run:     propagation(propagate.Options{NoUserPriority: true}),
			},
			{
				Name:    "sdy-user-priority-propagate",
				Summary: "propagate by operation priority in rounds, first the dimensions of the highest user priority",
				After:   []string{"sdy-op-priority-propagate"},
				Why:     "runs on a program that was imported: the whole propagation",
				Options: []pass.Option{keepRules, conservative, strategy, opPriority, debugOrigins, debugEdges},
				Run:     propagation(propagate.Options{}),
			},
		},
	}
}

// The options that propagation passes share.
var (
	keepRules    = pass.Bool("keep-sharding-rules", false, "leave the rules of operations attached")
	conservative = pass.Bool("conservative-propagation", false, "no sub-axes, and rules that keep apart what windows and slices relate")
	strategy     = pass.Enum("propagation-strategy", "how conflicts between the tensors of one operation are resolved",
		propagate.Aggressive.String(), propagate.Basic.String(), propagate.BasicThenAggressive.String())
	opPriority   = pass.Bool("run-op-priority-propagation", true, "rounds by operation priority")
	debugOrigins = pass.Bool("debug-sharding-origins", false, "say at every value who asked for each of its axes")
	debugEdges   = pass.Bool("debug-propagation-edge-sharding", false, "say at every operation which way axes went through it, and when")
)

// propagation makes the Run of a pass whose fixed options are o and whose others are those that it has.
func propagation(o propagate.Options) func(context.Context, *ir.Module, pass.Settings) error {
	return func(ctx context.Context, m *ir.Module, s pass.Settings) error {
		o := o
		o.Conservative = s.Bool(conservative.Name)
		o.Debug = propagate.Debug{Origins: s.Bool(debugOrigins.Name), Edges: s.Bool(debugEdges.Name)}
		if s.Has(strategy.Name) {
			o.Strategy, _ = propagate.ParseStrategy(s.Enum(strategy.Name))
		}
		if s.Has(opPriority.Name) && !s.Bool(opPriority.Name) {
			o.NoOpPriority = true
		}
		o.KeepRules = s.Bool(keepRules.Name)
		_, err := propagate.Run(ctx, m, o)
		return err
	}
}
