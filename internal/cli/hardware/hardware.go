// Package hardware is the subcommand that shows hardware profiles, and checks those that users write:
//
//	autoshard hardware list
//	autoshard hardware show tpu-v5p
//	autoshard hardware check cluster.yaml
package hardware

import (
	"context"

	"github.com/spf13/cobra"

	"autoshard/cost"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/lists"
	"autoshard/report"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hardware list|show|check",
		Short: "Show hardware profiles, and check those of files",
		Long: `Show the hardware that prices are for, and how each number is known: nominal, as its maker states it, measured, or guessed.
A profile of your own is a file of the same entries, in YAML, JSON or TOML, and goes where a name goes: --hardware cluster.yaml.`,
		Example: `  autoshard hardware list
  autoshard hardware show tpu-v5p
  autoshard hardware check cluster.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: cmdline.Group,
	}
	cmd.AddCommand(listCommand(s), showCommand(s), checkCommand(s))
	return cmd
}

func listCommand(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the built-in profiles",
		Example: "  autoshard hardware list",
		Args:    cmdline.Args(),
		RunE: cmdline.WithConfig(func(_ context.Context, c *config.Config, _ []string) error {
			profiles := cost.Profiles()
			if cmdline.OutputFormat(c) == config.JSON {
				return s.WriteJSON(c.Output, "profiles", lists.Map(profiles, report.NewProfile))
			}
			return s.Write(c.Output, []byte(report.Profiles(profiles)))
		}),
	}
	addFlags(cmd)
	return cmd
}

// addFlags adds the flags of commands that write profiles.
func addFlags(cmd *cobra.Command) {
	config.AddFlags(cmd.Flags(), "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
}

func showCommand(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show NAME|FILE",
		Short:   "Show every number of a profile, and how it is known",
		Example: "  autoshard hardware show tpu-v5p",
		Args:    cmdline.Args("NAME or FILE"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			p, err := find(ctx, s, args[0])
			if err != nil {
				return err
			}
			if cmdline.OutputFormat(c) == config.JSON {
				return s.WriteJSON(c.Output, "profile", report.NewProfile(p))
			}
			return s.Write(c.Output, []byte(report.Profile(p)))
		}),
	}
	addFlags(cmd)
	return cmd
}

// find returns the profile that --hardware would.
func find(ctx context.Context, s *cmdline.Streams, name string) (*cost.Profile, error) {
	if !config.IsHardwareFile(name) {
		return cost.LookupProfile(name)
	}
	file, text, err := s.Read(ctx, name)
	if err != nil {
		return nil, err
	}
	return cost.ReadProfile(file, text)
}

func checkCommand(s *cmdline.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Check profiles that users wrote",
		Long: `Check that files are hardware profiles, and say how many of their numbers are nominal, measured or guessed, and of how many
the file does not say it.`,
		Example: "  autoshard hardware check cluster.yaml",
		Args:    cmdline.AtLeast("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := ""
			for _, name := range args {
				file, text, err := s.Read(cmd.Context(), name)
				if err != nil {
					return err
				}
				p, err := cost.ReadProfile(file, text)
				if err != nil {
					return err
				}
				out += file + ": " + report.ProfileSummary(p) + "\n"
			}
			return s.Write("", []byte(out))
		},
	}
}
