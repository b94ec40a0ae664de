// Package emit is the subcommand that writes the program of a plan for other systems:
//
//	autoshard emit plan.json --format jax -o train.py
package emit

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/backend/jax"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	starter := ""
	cmd := &cobra.Command{
		Use:   "emit PLAN",
		Short: "Write a plan's program as Python for JAX, or as StableHLO",
		Long: `Write the program of a plan for other systems.

--format jax is a Python file: the mesh, the specifications, the per-device function under shard_map, the unsharded
function, and a main that runs both on JAX's devices, or on virtual ones, and compares them. It runs on JAX 0.6 and
later, in one process or several; python FILE --help lists its options. --format stablehlo is the program that every
device runs, with explicit collectives.

--launcher writes what starts the Python file on several hosts in place of the program: a script for every host
(shell), a batch script (slurm), or a Service and a Job (kubernetes). --hosts is their number.`,
		Example: `  autoshard emit plan.json -o train.py && python train.py
  autoshard emit plan.json --format stablehlo
  autoshard emit plan.json --launcher slurm --hosts 2 -o train.sbatch`,
		Args: cmdline.Args("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			if starter != "" && cmd.Flags().Changed("format") {
				return diag.Invalid(diag.BadOption, diag.Position{}, "`--launcher` and `--format` exclude each other: each writes one file")
			}
			return run(cmd.Context(), s, c, args[0], starter)
		},
	}
	var formats []config.Format
	for _, name := range autoshard.EmitFormats() {
		formats = append(formats, config.Format(name))
	}
	cmd.Flags().String("format", "jax", "")
	config.AllowFormats(cmd.Flags(), formats...)
	cmd.Flags().StringVar(&starter, "launcher", "", "write what starts the program on several hosts: "+strings.Join(jax.Launchers(), " or "))
	config.AddFlags(cmd.Flags(), "output", "hosts")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file, starter string) error {
	plan, err := s.Plan(ctx, file)
	if err != nil {
		return err
	}
	write := func() ([]byte, error) { return autoshard.Emit(plan, string(c.Format)) }
	if starter != "" {
		write = func() ([]byte, error) { return launcher(plan, starter, c.Hosts) }
	}
	text, err := write()
	if err != nil {
		return err
	}
	return s.Write(c.Output, text)
}
