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
	"autoshard/internal/filekind"
	"autoshard/report"
)

// flags are those that only this command has.
type flags struct {
	whyNot string
	top    bool
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "explain MODEL|PLAN VALUE[DIM]",
		Short: "Say why a dimension is sharded as it is, or why not along an axis",
		Long: `Propagate the shardings that the user wrote, and say how the axes of a value came there: step by step, from what the
user wrote, through each operation. With --why-not AXIS, say what kept the axis away, and from where it could have come.

VALUE is a value of the program that "autoshard propagate --format mlir" prints: %5, %3#1 or %arg0; "result 0"; or the name
of a location or argument. [DIM] is one of its dimensions; without it, all are explained. VALUE@12 is the one of line 12.

Of a plan.json VALUE is an input or output, or a value inside the program, called by the line of the model that makes it: @12.
The answer is how else it could be cut, and what a step would take if everything else adapts, with --why-not AXIS along that axis.
The model is the file that the plan names. With --top, and without VALUE, it is the three decisions that matter most.

With --format dot the steps are a graph for Graphviz: dimensions of values are nodes, operations are edges.`,
		Example: `  autoshard explain examples/transformer_train_megatron_priorities.mlir '%8[0]'
  autoshard explain examples/transformer_train_megatron_priorities.mlir '%8[1]' --why-not model
  autoshard explain model.mlir '%5[0]' --format dot | dot -Tsvg > why.svg
  autoshard explain plan.json "params['w1']" --why-not model
  autoshard explain plan.json @165
  autoshard explain plan.json --top`,
		Args: f.arguments,
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error { return answer(ctx, s, c, args, &f) }),
	}
	config.AddFlags(cmd.Flags(), "mesh", "rule", "dim", "platform", "format", "output", "hardware", "timeout", "progress")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.DOT)
	cmd.Flags().StringVar(&f.whyNot, "why-not", "", "also say why the dimension is not sharded along this `axis`")
	cmd.Flags().BoolVar(&f.top, "top", false, "of a plan: the three decisions that matter most")
	return cmd
}

// arguments demands a file, and a value of it unless decisions are asked for.
func (f *flags) arguments(cmd *cobra.Command, args []string) error {
	if f.top {
		return cmdline.Args("PLAN")(cmd, args)
	}
	return cmdline.Args("MODEL|PLAN", "VALUE[DIM]")(cmd, args)
}

// answer answers about a plan or, of another file, about the propagation of a model.
func answer(ctx context.Context, s *cmdline.Streams, c *config.Config, args []string, f *flags) error {
	name, text, err := s.Read(ctx, args[0])
	if err != nil {
		return err
	}
	if f.top || filekind.Is(text, filekind.Plan) {
		return weigh(ctx, s, c, args, f.whyNot)
	}
	model, err := cmdline.Specialize(ctx, name, text, c)
	if err != nil {
		return err
	}
	return run(ctx, s, c, model, autoshard.ExplainOptions{Mesh: c.Mesh, Value: args[1], WhyNot: f.whyNot})
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, model *autoshard.Model, o autoshard.ExplainOptions) error {
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
	return s.Page(c.Output, report.Explanation(x))
}
