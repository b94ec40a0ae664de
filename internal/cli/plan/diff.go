package plan

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/report"
)

func diffCommand(s *cmdline.Streams) *cobra.Command {
	var exitCode bool
	cmd := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Say in what two plans differ",
		Long: `Compare two plan.json: what they were made for, the predictions, what collectives send by kind and axes, and the inputs and outputs
that are cut otherwise. Values of equal layers that change alike share a row where there are many; --all shows each.

With --exit-code the exit code is 1 where shardings, programs or predictions differ.`,
		Example: `  autoshard plan diff main.json branch.json --exit-code
  autoshard plan diff a.json b.json --format markdown -o diff.md`,
		Args: cmdline.Args("BEFORE", "AFTER"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return diff(ctx, s, c, args[0], args[1], exitCode)
		}),
	}
	config.AddFlags(cmd.Flags(), "format", "output", "all")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.Markdown)
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "end with exit code 1 where the plans differ")
	return cmd
}

func diff(ctx context.Context, s *cmdline.Streams, c *config.Config, before, after string, exitCode bool) error {
	a, err := s.Plan(ctx, before)
	if err != nil {
		return err
	}
	b, err := s.Plan(ctx, after)
	if err != nil {
		return err
	}
	d := autoshard.DiffPlans(a, b)
	if err := writeDiff(s, c, d, before, after); err != nil || d.Same || !exitCode {
		return err
	}
	return diag.Finding(diag.PlansDiffer, diag.Position{File: cmdline.Name(after)}, "the plan differs from %s", cmdline.Name(before))
}

func writeDiff(s *cmdline.Streams, c *config.Config, d *autoshard.Difference, before, after string) error {
	format := cmdline.OutputFormat(c)
	if format == config.JSON {
		return s.WriteJSON(c.Output, "difference", d)
	}
	o := report.DiffOptions{Before: label(before), After: label(after), All: c.All, Markdown: format == config.Markdown}
	return s.Write(c.Output, []byte(report.Diff(d, o)))
}

// label is what a column calls a plan: its file without folders.
func label(file string) string { return filepath.Base(cmdline.Name(file)) }
