// Package interpret is the subcommand that runs a model on one device in this process:
//
//	autoshard interpret program.mlir
//	autoshard interpret examples/mlp_train.mlir -o out.npz
package interpret

import (
	"context"

	"github.com/spf13/cobra"

	"autoshard/internal/cli/arrays"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "interpret MODEL",
		Short: "Run a model on one device, with the checks in it",
		Long: `Run the main function of a model on one device in this process, as StableHLO's reference interpreter does: shardings
change nothing, and the programs that interpreter.run_parallel starts run side by side. The first check.* op that does not hold ends the
run with exit code 1, the line of the check and the first element that differs.

Inputs and expected outputs are those of --inputs and --expect, otherwise those that lie beside the model, as for plan --verify;
inputs that are not given are random. A difference from expected outputs is exit code 1, too. With --output the outputs are written as
an .npz file. --profile, --check-nans and --max-memory are those of run.`,
		Example: `  autoshard interpret program.mlir
  autoshard interpret examples/mlp_train.mlir -o out.npz
  autoshard interpret step.jaxexport --dim b=8 --seed 1`,
		Args: cmdline.Args("MODEL"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return run(ctx, s, c, args[0])
		}),
	}
	config.AddFlags(cmd.Flags(), "inputs", "expect", "rtol", "atol", "tolerance", "output", "seed", "timeout", "dim", "platform",
		"max-memory", "check-nans", "profile")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file string) error {
	if err := cmdline.CheckOutput(c.Profile); err != nil {
		return err
	}
	model, err := s.Specialized(ctx, file, c)
	if err != nil {
		return err
	}
	in, err := model.Interpreter()
	if err != nil {
		return err
	}
	data, err := arrays.Find(ctx, s, c, arrays.Ports{Inputs: in.Inputs, Outputs: in.Outputs}, file)
	if err != nil {
		return err
	}
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	if len(in.Inputs) > 0 {
		s.Note("inputs: %s", data.Source)
	}
	result, err := in.Run(ctx, data.Inputs, cmdline.Observation(c))
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := arrays.WriteOutputs(s, c.Output, result.Outputs); err != nil {
			return err
		}
	}
	if err := s.Write("", []byte(report.Interpreted(result, in.Outputs))); err != nil {
		return err
	}
	if err := s.Profile(c, result.Profile); err != nil || data.Expected == nil {
		return err
	}
	check, err := in.Compare(ctx, result, data.Inputs, data.Expected, data.Tolerance)
	if check != nil {
		if writeErr := s.Write("", []byte("\n"+report.Check(check))); writeErr != nil {
			return writeErr
		}
	}
	return err
}
