// Package version is the subcommand that prints the version:
//
//	autoshard version
package version

import (
	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cmdline.Args(),
		RunE: func(*cobra.Command, []string) error {
			return s.Write("", []byte("autoshard "+autoshard.Version()+"\n"))
		},
	}
}
