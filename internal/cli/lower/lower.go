// Package lower is the subcommand that writes a model, or a plan, as programs with explicit communication:
//
//	autoshard lower model.mlir --mesh data=4,model=2 -o device.mlir
//	autoshard lower plan.json --stop-after collectives
package lower

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/rewrites"
)

// choices are the options that say how a model is sharded and which collectives are cheap; a plan says both itself.
var choices = []string{"mesh", "hardware", "topology", "memory", "rule", "dim", "platform", "collective-matmul", "without",
	"no-sub-axes"}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var stage string
	last := autoshard.Stages()[len(autoshard.Stages())-1]
	cmd := &cobra.Command{
		Use:   "lower MODEL|PLAN",
		Short: "Write a model or a plan as a program with explicit communication, for one device or all",
		Long: `Propagate the shardings that the user wrote in a model, make all communication explicit, and write the program of one
device in StableHLO, which runs elsewhere without anything of autoshard. Nothing is searched: values without a sharding stay
as propagation leaves them. A plan has its shardings; it is lowered as it is.

--stop-after reshards writes the program on whole tensors, with an sdy.reshard wherever a value is not as its reader needs
it; --stop-after collectives writes the cheapest collectives of Shardy's dialect in their places; --stop-after local, the
default, the program of one device, with collectives over groups of devices, each by itself: XLA merges them. What cannot be
kept of the user's shardings is said on standard error (docs/check.md).`,
		Example: `  autoshard lower examples/transformer_train_megatron.mlir -o device.mlir
  autoshard lower model.mlir --mesh data=4,model=2 --stop-after reshards
  autoshard lower plan.json --stop-after collectives`,
		Args: cmdline.Args("MODEL|PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			return run(cmd.Context(), s, c, cmd.Flags(), args[0], stage)
		},
	}
	config.AddFlags(cmd.Flags(), append([]string{"output"}, choices...)...)
	cmd.Flags().StringVar(&stage, "stop-after", last, "the last `stage` of lowering: "+strings.Join(autoshard.Stages(), ", "))
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, flags *pflag.FlagSet, file, stage string) error {
	if err := checkStage(stage); err != nil {
		return err
	}
	c.Without |= rewrites.Of(rewrites.MergeCollectives) // each collective is one op of the program with reshards
	d, err := s.Deployed(ctx, c, flags, file, choices...)
	if err != nil {
		return err
	}
	text, err := d.Program.Stage(ctx, stage)
	if err != nil {
		return err
	}
	return s.Write(c.Output, text)
}

// checkStage finds a misspelt stage before any work.
func checkStage(stage string) error {
	if known := autoshard.Stages(); !slices.Contains(known, stage) {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--stop-after"}, "unknown stage `%s`%s", stage, diag.DidYouMean(stage, known)).
			WithNote(diag.Position{}, "stages are %s", strings.Join(known, ", "))
	}
	return nil
}
