// Package propagate is the subcommand that gives every value the sharding that follows from the user's:
//
//	autoshard propagate model.mlir --trace --priority 0
package propagate

import (
	"context"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var value string
	cmd := &cobra.Command{
		Use:   "propagate MODEL",
		Short: "Propagate the user's shardings, and say step by step how",
		Long: `Propagate the shardings that the user wrote to all values, by priority, by Shardy's rules.
The text format shows inputs and outputs, or with --trace the steps in order; mlir is the annotated program,
sarif and github what it does not keep of the user's shardings.`,
		Example: `  autoshard propagate examples/transformer_train_megatron_priorities.mlir --trace
  autoshard propagate model.mlir --trace --value %5
  autoshard propagate model.mlir --format mlir -o annotated.mlir`,
		Args: cmdline.Args("MODEL"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return run(ctx, s, c, args[0], value)
		}),
	}
	config.AddFlags(cmd.Flags(), "mesh", "rule", "dim", "platform", "trace", "all", "priority", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.MLIR, config.SARIF, config.GitHub)
	cmd.Flags().StringVar(&value, "value", "", "with --trace, only the steps that touch this value, such as %5, p['w'] or 'result 0'")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file, value string) error {
	model, err := s.Specialized(ctx, file, c)
	if err != nil {
		return err
	}
	o := autoshard.PropagateOptions{Mesh: c.Mesh, Value: value}
	if c.Priority >= 0 {
		o.MaxPriority = &c.Priority
	}
	result, err := autoshard.Propagate(ctx, model, o)
	if err != nil {
		return err
	}
	if c.Format == config.SARIF || c.Format == config.GitHub {
		return s.WriteFindings(c, result.Findings)
	}
	text := ""
	switch format := cmdline.OutputFormat(c); {
	case format == config.JSON:
		if !c.Trace {
			result.Trace.Rounds = nil
		}
		return s.WriteJSON(c.Output, "propagation", result)
	case format == config.MLIR:
		text = result.Program
	case c.Trace:
		text = result.Trace.Text(int32(c.Priority))
	default:
		text = report.Propagation(result, c.All)
	}
	return s.Write(c.Output, []byte(text))
}
