package passes

import (
	"context"

	"slices"

	"autoshard/ir"
	"autoshard/ir/canonical"
	"autoshard/ir/pass"
)

// dialectGroup tidies programs at any stage.
func dialectGroup() pass.Group {
	return pass.Group{
		Title: "Dialect",
		Text:  "Passes that mean the same at every stage.",
		Passes: []pass.Pass{
			{
				Name:    "canonicalize",
				Summary: "simplify reshards, collectives and manual computations, merge equal constants, and remove dead operations",
				After:   []string{"sdy-insert-explicit-reshards"},
				Why:     "reshards and collectives that passes leave behind may cancel out",
				Func:    true,
				Options: []pass.Option{
					pass.List("enable-patterns", "only these patterns; none: all", canonical.Labels()...),
					pass.List("disable-patterns", "not these patterns", canonical.Labels()...),
					pass.Bool("top-down", true, "visit operations in program order, not backwards"),
				},
				Run: runCanonicalize,
			},
		},
	}
}

func runCanonicalize(_ context.Context, m *ir.Module, s pass.Settings) error {
	enabled, disabled := s.List("enable-patterns"), s.List("disable-patterns")
	canonical.Run(m, canonical.Options{
		BottomUp: !s.Bool("top-down"),
		Skip: func(label string) bool {
			return len(enabled) > 0 && !slices.Contains(enabled, label) || slices.Contains(disabled, label)
		},
	})
	return nil
}
