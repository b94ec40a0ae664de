package estimate

import (
	"github.com/spf13/cobra"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/report"
)

// choices are the options that say how a model is sharded; a plan says it itself.
var choices = []string{"mesh", "memory", "rule", "dim", "platform", "collective-matmul", "merge-collectives", "without",
	"no-sub-axes"}

// programFlags are those of prices of programs.
type programFlags struct {
	ahead    int
	timeline string
}

// run prices a step of a plan, a shard_map program or a model.
func (f *programFlags) run(cmd *cobra.Command, s *cmdline.Streams, file string) error {
	c, err := config.Load(cmd.Flags())
	if err != nil {
		return err
	}
	if f.ahead < 0 {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--ahead"}, "`ahead` must be at least 0, not %d", f.ahead)
	}
	if err := cmdline.CheckOutput(f.timeline); err != nil {
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
	b, err := d.Program.Breakdown(cmd.Context(), hw, f.ahead)
	if err != nil {
		return err
	}
	if f.timeline != "" {
		line, err := d.Program.Timeline(cmd.Context(), hw, f.ahead)
		if err != nil {
			return err
		}
		if err := s.WritePacked(f.timeline, line); err != nil {
			return err
		}
	}
	return write(s, c, b, report.Breakdown(b, c.All))
}
