// Package calibrate is the subcommand that measures the devices of JAX and writes a hardware profile:
//
//	autoshard calibrate --python .venv/bin/python -o host.yaml
package calibrate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"autoshard/backend/jax"
	"autoshard/calibrate"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/report"
)

// flags are those that only this command has.
type flags struct{ number, size int }

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Measure the devices of JAX, and write a hardware profile of them",
		Long: `Measure products, vector units, memory and collectives on the devices of JAX, all at once and in rounds inside one program, and fit a
latency and a rate to the times of each. Every third size is not fitted, but compared with the fit. The profile goes to --output, where
--hardware takes it; its memory is that of the profile of --hardware. Without --output it is written after the table.

Measurements mean something on a machine that does nothing else.`,
		Example: `  autoshard calibrate --python .venv/bin/python -o host.yaml
  autoshard calibrate --devices native --number 8 --hardware h100 -o node.yaml`,
		Args: cmdline.Args(),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, _ []string) error { return run(ctx, s, c, &f) }),
	}
	config.AddFlags(cmd.Flags(), "hardware", "python", "devices", "timeout", "output")
	f.add(cmd.Flags(), "memory goes up to its square")
	return cmd
}

// add defines the flags; what else goes up to the size is said.
func (f *flags) add(set *pflag.FlagSet, upTo string) {
	set.IntVar(&f.number, "number", 8, "`devices` to measure")
	set.IntVar(&f.size, "size", 512, "rows and columns of the largest `product`; "+upTo)
}

// measure runs the program that measures, all it knows or collectives alone, and returns its samples and the number of devices.
func measure(ctx context.Context, c *config.Config, f *flags, collectives bool) ([]calibrate.Sample, int64, error) {
	if f.number < 2 || f.size < 256 || f.size > 1<<14 {
		return nil, 0, diag.Invalid(diag.BadOption, diag.Position{}, "`number` must be at least 2, and `size` from 256 to %d, not %d and %d",
			1<<14, f.number, f.size)
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	o := jax.Options{Python: c.Python, Devices: f.number, Native: c.Devices == "native", Env: os.Environ()}
	outputs, err := jax.Run(ctx, calibrate.Script, calibrate.Inputs(int64(f.size), collectives), o)
	if err != nil {
		return nil, 0, err
	}
	return calibrate.Outputs(outputs)
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, f *flags) error {
	samples, devices, err := measure(ctx, c, f, false)
	if err != nil {
		return err
	}
	found, err := calibrate.Fit(samples, devices)
	if err != nil {
		return err
	}
	name := "calibrated"
	if c.Output != "" && c.Output != "-" {
		name = strings.TrimSuffix(filepath.Base(c.Output), filepath.Ext(c.Output))
	}
	profile := found.Profile(name, time.Now().Format(time.DateOnly), &c.Hardware)
	if c.Output == "" || c.Output == "-" {
		return s.Write("", []byte(report.Calibration(found)+"\n"+profile))
	}
	if err := s.Write(c.Output, []byte(profile)); err != nil {
		return err
	}
	return s.Write("", []byte(report.Calibration(found)))
}
