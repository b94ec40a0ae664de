// Package show is the subcommand that says which device holds which block of a tensor:
//
//	autoshard show "P('x', None) : f32[4,8]" --mesh x=2,y=4
package show

import (
	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
	"autoshard/report/chart"
)

// flags are those that only this command has.
type flags struct{ form, deviceIDs, svg string }

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "show 'SHARDING : TYPE' --mesh MESH",
		Short: "Show which device holds which block of a tensor",
		Long: `Show what a sharding does to a tensor: the block of a device, its bytes, how many devices hold the same one, a map of the blocks with
their devices, what each device holds, and the sharding in every form. --svg draws the map.

A SHARDING is written as Shardy writes it, <@mesh, [{"x"}, {}]> or [{"x"}, {}]; as JAX does, P('x', None), with parts of axes as
'x':(1)2 and partial sums as unreduced={'x'}; as PyTorch's placements, [Shard(0), Replicate()]; or as XLA's GSPMD,
{devices=[2,1]<=[2]}, which needs no mesh. A TYPE is f32[4,8] or 4x8xf32.`,
		Example: `  autoshard show '<@m, [{"x"}, {"y":(2)2}]> : 4x8xf32' --mesh x=2,y=4
  autoshard show "P(('y', 'x')) : f32[16]" --mesh x=2,y=4 --svg blocks.svg
  autoshard show '[Shard(0), Replicate()] : bf16[4096,4096]' --mesh data=8,model=4
  autoshard show '{devices=[2,2]<=[4]} : f32[8,8]'`,
		Args: cmdline.Args("'SHARDING : TYPE'"),
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd, s, args[0], &f) },
	}
	config.AddFlags(cmd.Flags(), "mesh", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	cmd.Flags().StringVar(&f.form, "form", "", "sdy, partition-spec, dtensor or gspmd (default: what the first characters tell)")
	cmd.Flags().StringVar(&f.deviceIDs, "device-ids", "", "devices of --mesh in row-major order, such as 3,1,2,0 (default: in order)")
	cmd.Flags().StringVar(&f.svg, "svg", "", "a `file` for the map of blocks")
	return cmd
}

// textName names the argument in errors.
const textName = "SHARDING"

func run(cmd *cobra.Command, s *cmdline.Streams, text string, f *flags) error {
	c, err := config.Load(cmd.Flags())
	if err != nil {
		return err
	}
	if err := cmdline.CheckOutput(f.svg); err != nil {
		return err
	}
	request := autoshard.BlocksRequest{Text: text, Name: textName, Form: f.form, Mesh: c.Mesh}
	if request.DeviceIDs, err = cmdline.Numbers("device-ids", f.deviceIDs); err != nil {
		return err
	}
	a, err := autoshard.ShowBlocks(&request)
	if err != nil {
		return cmdline.Quote(err, textName, text)
	}
	if f.svg != "" {
		if err := s.Write(f.svg, chart.Blocks(a)); err != nil {
			return err
		}
	}
	if cmdline.OutputFormat(c) == config.JSON {
		return s.WriteJSON(c.Output, "blocks", a)
	}
	return s.Write(c.Output, []byte(report.Blocks(a)))
}
