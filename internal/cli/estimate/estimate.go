// Package estimate is the subcommand that says what arrays, collectives, reshards and matrix products take, by the formulas that plans are
// made by:
//
//	autoshard estimate matmul 'A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]' --dims I=8192,J=8192,K=8192 --mesh X=4,Y=4 --hardware tpu-v5e
package estimate

import (
	"context"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
	"autoshard/report/chart"
)

// flags are those that only this command has.
type flags struct {
	dims, dtype, over string
	sweep, plot       string
	shift, from, to   int64
	book              bool
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var p programFlags
	cmd := &cobra.Command{
		Use:   "estimate MODEL|PLAN",
		Short: "Say what a step takes, and what products, collectives, reshards and arrays take",
		Long: `Say what a computation takes on a mesh of some hardware, by the formulas that plans are made by.

A plan or a shard_map program is priced op by op: what a step waits for, and what it would gain from twice as much of each resource. A model
is priced with the shardings that its user wrote. A plan is priced on the hardware that it was made for, or on that of --hardware. Beside
the time of one op after the other, which plans are chosen by, it is simulated with collectives beside other ops; --timeline writes that
for Perfetto.

The subcommands answer questions without a program. Arrays and products are written
as in "How to Scale Your Model": A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K] cuts dimension I along mesh axis X, and C[I, K]{U_Y} are partial
sums along Y. --book uses that book's conventions, and shows beside its answers what plans count.`,
		Example: `  autoshard estimate plan.json
  autoshard estimate matmul 'A[I_X, J_Y] · B[J_Y, K] -> C[I_X, K]' --dims I=8192,J=8192,K=8192 --mesh X=4,Y=4
  autoshard estimate collective all_gather 'bf16[E_Y, F]' --over Y --dims E=2048,F=8192 --mesh X=8,Y=4 --book`,
		Args: cmdline.Args("MODEL|PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(cmd, s, args[0]) },
	}
	cmd.Flags().IntVar(&p.ahead, "ahead", autoshard.DefaultAhead, "how many `places` before its own a collective may start in the "+
		"simulated step")
	cmd.Flags().StringVar(&p.timeline, "timeline", "", "a `file` for the simulated step, which Perfetto shows; packed if it ends in .gz")
	config.AddFlags(cmd.Flags(), append([]string{"hardware", "topology", "all", "format", "output"}, choices...)...)
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	cmd.AddCommand(matmulCommand(s), collectiveCommand(s), reshardCommand(s), arrayCommand(s))
	return cmd
}

// addFlags adds the flags of questions in the book's notation.
func (f *flags) addFlags(cmd *cobra.Command, more ...string) {
	config.AddFlags(cmd.Flags(), append([]string{"mesh", "hardware", "topology", "format", "output"}, more...)...)
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	cmd.Flags().StringVar(&f.dims, "dims", "", "`sizes` of the dimensions, such as I=8192,J=1024")
	cmd.Flags().StringVar(&f.dtype, "dtype", "bf16", "element `type` of arrays that are not called by theirs")
	cmd.Flags().BoolVar(&f.book, "book", false, "by the conventions of \"How to Scale Your Model\": nominal rates, no time to start, what "+
		"can overlap does")
}

func (f *flags) setting(c *config.Config) autoshard.PriceSetting {
	return autoshard.PriceSetting{Mesh: c.Mesh, Hardware: c.Hardware, Sizes: f.dims, DType: f.dtype, Book: f.book}
}

// write writes an answer as text or JSON.
func write(s *cmdline.Streams, c *config.Config, answer any, text string) error {
	if cmdline.OutputFormat(c) == config.JSON {
		return s.WriteJSON(c.Output, "estimate", answer)
	}
	return s.Write(c.Output, []byte(text))
}

func matmulCommand(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "matmul PRODUCT",
		Short: "Show all ways to compute a sharded matrix product",
		Long: `Show every way to compute a product of sharded arrays: what is sent and how long that takes, how long the local product
computes and reads memory, and which of these bounds the whole. The first is the fastest. Dimensions in both operands but not in the
result are summed over; without an arrow the result may be sharded in any way.

--sweep says how that changes with a size, and --plot draws it.`,
		Example: `  autoshard estimate matmul 'A[I_X, J] · B[J, K_Y] -> C[I_X, K_Y]' --dims I=8192,J=8192,K=8192 --mesh X=4,Y=4
  autoshard estimate matmul 'X[B, D] · Y[D_X, F]' --dims D=8192,F=32768 --mesh X=4 --sweep B=64:65536 --plot times.svg`,
		Args: cmdline.Args("PRODUCT"),
		RunE: cmdline.WithConfig(func(_ context.Context, c *config.Config, args []string) error {
			r := autoshard.MatmulRequest{Setting: f.setting(c), Product: args[0]}
			if f.sweep != "" || f.plot != "" {
				return f.sweepMatmul(s, c, &autoshard.SweepRequest{MatmulRequest: r, Sweep: f.sweep})
			}
			a, err := autoshard.PriceMatmul(&r)
			if err != nil {
				return err
			}
			return write(s, c, a, report.Matmul(a, c.All))
		}),
	}
	f.addFlags(cmd, "all")
	cmd.Flags().StringVar(&f.sweep, "sweep", "", "a `size` that changes, of a dimension or of a mesh axis, such as B=64:65536: say which "+
		"way is the fastest from where on")
	cmd.Flags().StringVar(&f.plot, "plot", "", "an SVG `file` that shows the times of --sweep")
	return cmd
}

// sweepMatmul prices a product while a size changes, and draws that where it is asked for.
func (f *flags) sweepMatmul(s *cmdline.Streams, c *config.Config, r *autoshard.SweepRequest) error {
	if err := cmdline.CheckOutput(f.plot); err != nil {
		return err
	}
	a, err := autoshard.PriceSweep(r)
	if err != nil {
		return err
	}
	if f.plot != "" {
		svg, err := chart.Sweep(a)
		if err != nil {
			return err
		}
		if err := s.Write(f.plot, svg); err != nil {
			return err
		}
	}
	return write(s, c, a, report.Sweep(a))
}

func arrayCommand(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "array ARRAY",
		Short:   "Say what each device holds of a sharded array",
		Example: "  autoshard estimate array 'int8[I_XY, J]' --dims I=128,J=2048 --mesh X=2,Y=8,Z=2",
		Args:    cmdline.Args("ARRAY"),
		RunE: cmdline.WithConfig(func(_ context.Context, c *config.Config, args []string) error {
			a, err := autoshard.PriceArray(&autoshard.ArrayRequest{Setting: f.setting(c), Array: args[0]})
			if err != nil {
				return err
			}
			return write(s, c, a, report.Array(a))
		}),
	}
	f.addFlags(cmd)
	return cmd
}

func reshardCommand(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:     "reshard MOVE",
		Short:   "Say how an array gets from one sharding to another, as `autoshard reshard` does",
		Example: "  autoshard estimate reshard 'A[I_X, J] -> A[I, J_X]' --dims I=8192,J=8192 --mesh X=4",
		Args:    cmdline.Args("MOVE"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			a, err := autoshard.PriceMove(ctx, &autoshard.MoveRequest{Setting: f.setting(c), Move: args[0], Memory: c.Memory})
			if err != nil {
				return err
			}
			return write(s, c, a, report.Resharding(a))
		}),
	}
	f.addFlags(cmd, "memory")
	return cmd
}
