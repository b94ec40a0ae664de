// Package memory is the subcommand that says what a device holds while a step runs:
//
//	autoshard memory plan.json --svg curve.svg
package memory

import (
	"cmp"

	"github.com/spf13/cobra"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
	"autoshard/report/chart"
)

// choices are the options that say how a model is sharded; a plan says it itself.
var choices = []string{"mesh", "rule", "dim", "platform", "collective-matmul", "merge-collectives", "without",
	"no-sub-axes"}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var svg string
	cmd := &cobra.Command{
		Use:   "memory MODEL|PLAN",
		Short: "Say what a device holds while a step runs, and what holds the most at the peak",
		Long: `Say how much memory a step needs on a device, at which op, and what is held there: parameters, optimizer state, other inputs, gathered
blocks, results, what the op reads and writes, and what is kept for later. Of the ten largest values it says from which op to which they
are needed and, where that can be said, what computing them again behind the peak would save and cost. --svg draws the curve.

PLAN may be a shard_map program. Of a model the shardings that its user wrote count.`,
		Example: `  autoshard memory plan.json --svg curve.svg
  autoshard memory examples/transformer_train_megatron.mlir`,
		Args: cmdline.Args("MODEL|PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd, s, args[0], svg) },
	}
	config.AddFlags(cmd.Flags(), append([]string{"hardware", "topology", "memory", "format", "output"}, choices...)...)
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	cmd.Flags().StringVar(&svg, "svg", "", "a `file` for the curve of what is held, by class")
	return cmd
}

func run(cmd *cobra.Command, s *cmdline.Streams, file, svg string) error {
	c, err := config.Load(cmd.Flags())
	if err != nil {
		return err
	}
	if err := cmdline.CheckOutput(svg); err != nil {
		return err
	}
	d, err := s.Deployed(cmd.Context(), c, cmd.Flags(), file, choices...)
	if err != nil {
		return err
	}
	hw, err := d.Hardware(c)
	if err != nil {
		return err
	}
	m, err := d.Program.Memory(cmd.Context(), hw)
	if err != nil {
		return err
	}
	if svg != "" {
		curve, err := chart.Memory(m)
		if err != nil {
			return err
		}
		if err := s.Write(svg, curve); err != nil {
			return err
		}
	}
	if cmdline.OutputFormat(c) == config.JSON {
		return s.WriteJSON(c.Output, "memory", m)
	}
	return s.Write(c.Output, []byte(report.Memory(m, cmp.Or(c.Memory, int64(hw.HBMBytes)))))
}
