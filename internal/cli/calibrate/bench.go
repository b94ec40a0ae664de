package calibrate

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/calibrate"
	"autoshard/cost"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
	"autoshard/subaxis"
)

// Bench returns the subcommand that times single things on the devices of JAX.
func Bench(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "bench", Short: "Time primitives on the devices of JAX"}
	cmd.AddCommand(collectives(s))
	return cmd
}

func collectives(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "collectives",
		Short: "Time the four primitives of communication, beside what a profile says",
		Long: `Time all-gather, reduce-scatter, all-reduce and all-to-all over all devices of JAX, in rounds inside one program, for arrays of growing
size. Beside each time stands what the profile of --hardware says; the last lines say how many times as long as an all-gather each takes
where bandwidth counts: on a ring with links in both directions it is 1, 1, 2 and a quarter.

Measurements mean something on a machine that does nothing else.`,
		Example: `  autoshard bench collectives --python .venv/bin/python --number 8
  autoshard bench collectives --devices native --number 8 --hardware h100 --format json`,
		Args: cmdline.Args(),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, _ []string) error { return benchCollectives(ctx, s, c, &f) }),
	}
	config.AddFlags(cmd.Flags(), "hardware", "python", "devices", "timeout", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	f.add(cmd.Flags(), "arrays go up to four times its square")
	return cmd
}

func benchCollectives(ctx context.Context, s *cmdline.Streams, c *config.Config, f *flags) error {
	samples, devices, err := measure(ctx, c, f, true)
	if err != nil {
		return err
	}
	b := &report.Bench{Schema: report.BenchSchema, Devices: devices, Hardware: c.Hardware.OrDefault().Name, Rounds: []report.BenchRound{}}
	rounds := calibrate.Rounds(samples)
	for i := range rounds {
		row := report.BenchRound{Bytes: int64(rounds[i].Bytes)}
		for k, kind := range calibrate.Primitives {
			said, err := said(&c.Hardware, kind, row.Bytes, devices)
			if err != nil {
				return err
			}
			x := report.BenchTime{Kind: string(kind), Predicted: said}
			if sample := rounds[i].Of[k]; sample != nil {
				x.Seconds, x.Spread = sample.Seconds, sample.Spread
			}
			row.Times = append(row.Times, x)
		}
		b.Rounds = append(b.Rounds, row)
	}
	for k, kind := range calibrate.Primitives {
		b.Ratios = append(b.Ratios, report.BenchRatio{Kind: string(kind), Measured: calibrate.Ratio(rounds, k, largeBytes)})
	}
	if c.Format == config.JSON {
		text, err := json.MarshalIndent(b, "", "  ")
		if err != nil {
			return err
		}
		return s.Write(c.Output, append(text, '\n'))
	}
	return s.Write(c.Output, []byte(report.BenchText(b)))
}

// largeBytes are those of arrays where bandwidth counts.
const largeBytes = 1 << 20

// said returns the seconds that a profile says a primitive takes over all devices, for an array of so many bytes.
func said(hw *cost.Hardware, kind calibrate.Kind, bytes, devices int64) (float64, error) {
	array, sizes := "f32[I]{U_X}", fmt.Sprintf("I=%d", bytes/4)
	switch kind {
	case calibrate.AllGather:
		array = "f32[I_X]"
	case calibrate.AllToAll:
		array, sizes = "f32[I_X, J]", fmt.Sprintf("I=%d,J=%d", devices, bytes/4/devices)
	}
	a, err := autoshard.PriceCollective(&autoshard.CollectiveRequest{Kind: string(kind), Array: array, Over: "X",
		Setting: autoshard.PriceSetting{Mesh: []subaxis.Axis{{Name: "X", Size: devices}}, Hardware: *hw, Sizes: sizes}})
	if err != nil {
		return 0, err
	}
	return a.Ours, nil
}
