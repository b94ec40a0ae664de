// Package reshard is the subcommand that says how a tensor gets from one sharding to another:
//
//	autoshard reshard --from "P('x', None)" --to "P(None, 'x')" --shape f32[64,64] --mesh x=4
package reshard

import (
	"context"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/report"
)

// flags are those that only this command has.
type flags struct{ from, to, shape string }

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "reshard --from SHARDING --to SHARDING --shape TYPE --mesh MESH",
		Short: "Say how a tensor gets from one sharding to another, and what that takes",
		Long: `Find the cheapest sequence of collectives that brings a tensor from one sharding to another, as plans do: what each
sends, how long it takes and how much memory, and which device holds which block before and after. --memory is what one
step may take of a device, for what it reads and what it makes.

A SHARDING is written as Shardy writes it, <@mesh, [{"x"}, {}]> or [{"x"}, {}], or as JAX does, P('x', None), with parts of
axes as 'x':(1)2 and partial sums as unreduced={'x'}.`,
		Example: `  autoshard reshard --from "P('x', None)" --to "P(None, 'x')" --shape f32[64,64] --mesh x=4
  autoshard reshard --from '[{"x", "y"}, {}]' --to '[{"y"}, {"x"}]' --shape bf16[4096,4096] --mesh x=4,y=2 --hardware h100`,
		Args: cmdline.Args(),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, _ []string) error { return run(ctx, s, c, &f) }),
	}
	config.AddFlags(cmd.Flags(), "mesh", "hardware", "topology", "memory", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.MLIR)
	cmd.Flags().StringVar(&f.from, "from", "", "the `sharding` before")
	cmd.Flags().StringVar(&f.to, "to", "", "the `sharding` after")
	cmd.Flags().StringVar(&f.shape, "shape", "", "the tensor's `type`, such as f32[64,64]")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, f *flags) error {
	for _, given := range [][2]string{{"from", f.from}, {"to", f.to}, {"shape", f.shape}} {
		if given[1] == "" {
			return diag.Invalid(diag.BadOption, diag.Position{}, "option `--%s` of `reshard` is missing", given[0])
		}
	}
	a, err := autoshard.Reshard(ctx, &autoshard.ReshardRequest{Mesh: c.Mesh, Tensor: f.shape, From: f.from, To: f.to, Hardware: c.Hardware,
		Memory: c.Memory})
	if err != nil {
		for name, text := range map[string]string{"--from": f.from, "--to": f.to, "--shape": f.shape} {
			err = cmdline.Quote(err, name, text)
		}
		return err
	}
	switch cmdline.OutputFormat(c) {
	case config.JSON:
		return s.WriteJSON(c.Output, "resharding", a)
	case config.MLIR:
		return s.Write(c.Output, []byte(a.Program))
	}
	return s.Write(c.Output, []byte(report.Resharding(a)))
}
