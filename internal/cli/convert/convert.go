// Package convert is the subcommand that writes a model as model.json:
//
//	autoshard convert model.mlir -o model.json
package convert

import (
	"github.com/spf13/cobra"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "convert MODEL",
		Short:   "Convert a model to model.json",
		Long:    "Convert a model, StableHLO text or model.json, to the framework-neutral model.json.",
		Example: "  autoshard convert model.mlir -o model.json",
		Args:    cmdline.Args("MODEL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			model, err := s.Model(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			out, err := model.Convert()
			if err != nil {
				return err
			}
			return s.Write(c.Output, out)
		},
	}
	config.AddFlags(cmd.Flags(), "output")
	return cmd
}
