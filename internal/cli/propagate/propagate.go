// Package propagate is the subcommand that gives every value the sharding that follows from the user's:
//
//	autoshard propagate model.mlir --trace --priority 0
package propagate

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
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
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			return run(cmd.Context(), s, c, args[0], value)
		},
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
	data, err := render(c, result)
	if err != nil {
		return err
	}
	return s.Write(c.Output, data)
}

func render(c *config.Config, result *autoshard.Propagation) ([]byte, error) {
	switch cmdline.OutputFormat(c) {
	case config.MLIR:
		return []byte(result.Program), nil
	case config.JSON:
		if !c.Trace {
			result.Trace.Rounds = nil
		}
		data, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			return nil, diag.Internal(diag.Bug, diag.Position{}, "write propagation: %v", err)
		}
		return append(data, '\n'), nil
	}
	if c.Trace {
		return []byte(result.Trace.Text(int32(c.Priority))), nil
	}
	return []byte(report.Propagation(result, c.All)), nil
}
