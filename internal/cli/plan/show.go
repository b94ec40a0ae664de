package plan

import (
	"context"

	"github.com/spf13/cobra"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
)

func showCommand(s *cmdline.Streams) *cobra.Command {
	var specs string
	cmd := &cobra.Command{
		Use:   "show PLAN",
		Short: "Show a plan.json as text, or as the program that another partitioner keeps",
		Long: `Show a plan.json as the report that was written when it was made: at most a page, or with --all every collective and value.
--format json writes the plan again, --format mlir the annotated program that XLA accepts.

--specs FORM writes the shardings of inputs and outputs by name as a Python file: partition-spec for JAX, dtensor for PyTorch, over a mesh of
which every axis exists.`,
		Example: `  autoshard plan show plan.json --all
  autoshard plan show plan.json --format mlir -o annotated.mlir
  autoshard plan show plan.json --specs partition-spec -o specs.py`,
		Args: cmdline.Args("PLAN"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			p, err := s.Plan(ctx, args[0])
			if err != nil {
				return err
			}
			if specs != "" {
				text, err := p.Python(specs)
				if err != nil {
					return err
				}
				return s.Write(c.Output, []byte(text))
			}
			if cmdline.OutputFormat(c) == config.Text {
				return s.Write(c.Output, []byte(report.Plan(p, report.Options{All: c.All, Read: true})))
			}
			return write(ctx, s, c, p)
		}),
	}
	config.AddFlags(cmd.Flags(), "format", "output", "all")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.MLIR, config.SARIF, config.GitHub)
	cmd.Flags().StringVar(&specs, "specs", "", "write shardings by name as Python in this `form`: partition-spec or dtensor")
	return cmd
}
