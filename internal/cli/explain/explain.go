// Package explain is the subcommand that says why a value is sharded as it is:
//
//	autoshard explain model.mlir '%5[0]' --why-not model
package explain

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
	var whyNot string
	cmd := &cobra.Command{
		Use:   "explain MODEL VALUE[DIM]",
		Short: "Say why a dimension is sharded as it is, or why not along an axis",
		Long: `Propagate the shardings that the user wrote, and say how the axes of a value came there: step by step, from what the
user wrote, through each operation. With --why-not AXIS, say what kept the axis away, and from where it could have come.

VALUE is a value of the program that "autoshard propagate --format mlir" prints: %5, %3#1 or %arg0; "result 0"; or the name
of a location or argument. [DIM] is one of its dimensions; without it, all are explained. VALUE@12 is the one of line 12.

With --format dot the steps are a graph for Graphviz: dimensions of values are nodes, operations are edges.`,
		Example: `  autoshard explain examples/transformer_train_megatron_priorities.mlir '%8[0]'
  autoshard explain examples/transformer_train_megatron_priorities.mlir '%8[1]' --why-not model
  autoshard explain model.mlir '%5[0]' --format dot | dot -Tsvg > why.svg`,
		Args: cmdline.Args("MODEL", "VALUE[DIM]"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return run(ctx, s, c, args[0], autoshard.ExplainOptions{Mesh: c.Mesh, Value: args[1], WhyNot: whyNot})
		}),
	}
	config.AddFlags(cmd.Flags(), "mesh", "rule", "dim", "platform", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.DOT)
	cmd.Flags().StringVar(&whyNot, "why-not", "", "also say why the dimension is not sharded along this `axis`")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, o autoshard.ExplainOptions) error {
	model, err := s.Specialized(ctx, file, c)
	if err != nil {
		return err
	}
	x, err := autoshard.Explain(ctx, model, o)
	if err != nil {
		return err
	}
	switch cmdline.OutputFormat(c) {
	case config.DOT:
		return s.Write(c.Output, []byte(x.DOT()))
	case config.JSON:
		return s.WriteJSON(c.Output, "explanation", x)
	}
	return s.Write(c.Output, []byte(report.Explanation(x)))
}
