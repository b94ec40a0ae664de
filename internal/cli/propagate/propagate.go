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

// flags are those that only this command has.
type flags struct {
	filter autoshard.TraceFilter
	full   bool
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "propagate MODEL",
		Short: "Propagate the user's shardings, and say step by step how",
		Long: `Propagate the shardings that the user wrote to all values, by priority, by Shardy's rules.
The text format shows inputs and outputs, or with --trace how that went: for each user priority what was given, what followed
and what was refused, then the steps, those that are alike in one line, with their number first. --full lists all in order.
--value, --op, --axis and --refusals choose steps; few are listed one by one. On a terminal a trace has colours and goes through
the pager of $PAGER. perfetto is the trace for https://ui.perfetto.dev, with a track for each op priority and a slice for each step;
mlir is the annotated program, sarif and github what it does not keep of the user's shardings.`,
		Example: `  autoshard propagate examples/transformer_train_megatron_priorities.mlir --trace
  autoshard propagate model.mlir --trace --value %5
  autoshard propagate model.mlir --trace --op dot_general --axis model --refusals
  autoshard propagate model.mlir --format perfetto -o steps.json
  autoshard propagate model.mlir --format mlir -o annotated.mlir`,
		Args: cmdline.Args("MODEL"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return run(ctx, s, c, args[0], &f)
		}),
	}
	config.AddFlags(cmd.Flags(), "mesh", "rule", "dim", "platform", "trace", "all", "priority", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.MLIR, config.Perfetto, config.SARIF,
		config.GitHub)
	flags := cmd.Flags()
	flags.StringVar(&f.filter.Value, "value", "", "with --trace, only the steps that touch this value, such as %5, p['w'] or 'result 0'")
	flags.StringVar(&f.filter.Op, "op", "", "with --trace, only the steps through these operations: a kind, such as dot_general, a result, "+
		"such as %5, or a line")
	flags.StringVar(&f.filter.Axis, "axis", "", "with --trace, only the steps of this axis, or of a part of one, such as model or 'x:(1)2'")
	flags.BoolVar(&f.filter.Refusals, "refusals", false, "with --trace, only what was kept away")
	flags.BoolVar(&f.full, "full", false, "with --trace, every step in order")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, f *flags) error {
	model, err := s.Specialized(ctx, file, c)
	if err != nil {
		return err
	}
	o := autoshard.PropagateOptions{Mesh: c.Mesh, Filter: f.filter}
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
	if c.Format == config.Perfetto {
		events, err := result.Trace.Perfetto()
		if err != nil {
			return err
		}
		return s.WritePacked(c.Output, events)
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
	case c.Trace && f.full:
		return s.Page(c.Output, result.Trace.Text(int32(c.Priority)))
	case c.Trace:
		return s.Page(c.Output, report.Trace(&result.Trace, int32(c.Priority)))
	default:
		text = report.Propagation(result, c.All)
	}
	return s.Write(c.Output, []byte(text))
}
