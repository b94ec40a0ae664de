package estimate

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
)

func collectiveCommand(s *cmdline.Streams) *cobra.Command {
	var f flags
	kinds := autoshard.CollectiveKinds()
	cmd := &cobra.Command{
		Use:   "collective " + strings.Join(kinds, "|") + " ARRAY",
		Short: "Say what a communication takes",
		Long: `Say what a communication of a sharded array takes: how many bytes are sent, how long links and latency take, and which of them bounds it.
The array is written as it is before. A collective runs over the axes of --over, in groups side by side. A shift moves every block --shift
places up one axis, round and round. A send takes a device's block from one device to another, by their numbers in the mesh.`,
		Example: `  autoshard estimate collective all_gather 'bf16[E_Y, F]' --over Y --dims E=2048,F=8192 --mesh X=8,Y=4 --book
  autoshard estimate collective send 'bf16[8,128,8192]' --from 0 --to 15 --mesh X=4,Y=4 --hardware tpu-v5e`,
		Args: cmdline.Args("KIND", "ARRAY"),
		RunE: cmdline.WithConfig(func(_ context.Context, c *config.Config, args []string) error {
			a, err := autoshard.PriceCollective(&autoshard.CollectiveRequest{Setting: f.setting(c), Kind: args[0], Array: args[1], Over: f.over,
				Shift: f.shift, From: f.from, To: f.to})
			if err != nil {
				return err
			}
			return write(s, c, a, report.Collective(a))
		}),
	}
	f.addFlags(cmd)
	cmd.Flags().StringVar(&f.over, "over", "", "`axes` of the mesh that it runs over, such as X, XY or data,model")
	cmd.Flags().Int64Var(&f.shift, "shift", 1, "of a shift: how many `places` blocks move")
	cmd.Flags().Int64Var(&f.from, "from", 0, "of a send: the `device` that sends")
	cmd.Flags().Int64Var(&f.to, "to", 0, "of a send: the `device` that receives")
	return cmd
}
