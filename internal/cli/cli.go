// Package cli is the command line: a root command over one package a subcommand. It maps errors to exit codes
// (specification: design.md section 5) and signals to cancellation.
//
//	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"autoshard/internal/cli/calibrate"
	"autoshard/internal/cli/check"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/cli/convert"
	"autoshard/internal/cli/emit"
	"autoshard/internal/cli/estimate"
	"autoshard/internal/cli/explain"
	"autoshard/internal/cli/hardware"
	"autoshard/internal/cli/interpret"
	"autoshard/internal/cli/lower"
	"autoshard/internal/cli/memory"
	"autoshard/internal/cli/opt"
	"autoshard/internal/cli/plan"
	"autoshard/internal/cli/propagate"
	"autoshard/internal/cli/reshard"
	"autoshard/internal/cli/review"
	"autoshard/internal/cli/run"
	"autoshard/internal/cli/serve"
	"autoshard/internal/cli/show"
	"autoshard/internal/cli/solve"
	"autoshard/internal/cli/version"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// Main runs the command that args name and returns its exit code. The first interrupt cancels the work, which then
// ends as soon as it can; the second ends the process.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	s := cmdline.New(in, out, errs)
	root := Root(s)
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		return s.Fail(err)
	}
	return diag.ExitOK
}

// Root returns the root command.
func Root(s *cmdline.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "autoshard",
		Short: "Choose, explain, run and verify shardings of large models",
		Long: `autoshard decides how to cut a model over many devices, shows why, and proves that the cut program computes the same.

Options come from flags, then AUTOSHARD_* in the environment, then autoshard.yaml, .toml or .json, then defaults.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		RunE:              cmdline.Group,
		Args:              cobra.ArbitraryArgs,
		PersistentPreRunE: checkOutput,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(cmdline.FlagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(plan.Command(s), propagate.Command(s), explain.Command(s), run.Command(s), interpret.Command(s), emit.Command(s),
		lower.Command(s), show.Command(s), reshard.Command(s), estimate.Command(s), memory.Command(s), hardware.Command(s), calibrate.Command(s),
		calibrate.Bench(s), convert.Command(s), check.Command(s), opt.Command(s), solve.Command(s), review.Command(s), serve.Command(s),
		version.Command(s))
	return root
}

// checkOutput fails before the work of a command where its result could not be written.
func checkOutput(cmd *cobra.Command, _ []string) error {
	if cmd.Flags().Lookup("output") == nil {
		return nil
	}
	c, err := config.Load(cmd.Flags())
	if err != nil {
		return err
	}
	return cmdline.CheckOutput(c.Output)
}
