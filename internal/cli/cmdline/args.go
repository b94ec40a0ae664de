package cmdline

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// Args demands exactly the named arguments.
func Args(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return diag.Invalid(diag.BadOption, diag.Position{}, "argument %s of `%s` is missing", names[len(args)], cmd.Name()).
				WithNote(diag.Position{}, "usage: %s", cmd.UseLine())
		case len(args) > len(names):
			return noteOptional(cmd, diag.Invalid(diag.BadOption, diag.Position{}, "unexpected argument %q of `%s`", args[len(names)], cmd.Name())).
				WithNote(diag.Position{}, "usage: %s", cmd.UseLine())
		}
		return nil
	}
}

// noteOptional says of flags that were given without the value that they may have how that is written: behind a space it is an argument.
func noteOptional(cmd *cobra.Command, err *diag.Error) *diag.Error {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" && f.Value.String() == f.NoOptDefVal {
			err = err.WithNote(diag.Position{}, "a value of `--%s` is written as `--%s=%s`", f.Name, f.Name, f.DefValue)
		}
	})
	return err
}

// AtLeast demands one or more arguments of a name.
func AtLeast(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Args(name)(cmd, args)
		}
		return nil
	}
}

// WithConfig is what a command runs that needs no more of cobra: the configuration is loaded first.
func WithConfig(run func(ctx context.Context, c *config.Config, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := config.Load(cmd.Flags())
		if err != nil {
			return err
		}
		return run(cmd.Context(), c, args)
	}
}

// FlagError turns cobra's message about a flag into a diagnostic, with the nearest flag for an unknown one.
func FlagError(cmd *cobra.Command, err error) error {
	message := err.Error()
	name, unknown := strings.CutPrefix(message, "unknown flag: --")
	if !unknown {
		return diag.Invalid(diag.BadOption, diag.Position{}, "%s", message)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	hint := ""
	if near := diag.Nearest(name, known); near != "" {
		hint = fmt.Sprintf(", did you mean `--%s`?", near)
	}
	return diag.Invalid(diag.BadOption, diag.Position{}, "unknown flag `--%s` of `%s`%s", name, cmd.Name(), hint)
}

// Group is what a command runs that only has subcommands: it shows them, and fails where it is given none of them.
func Group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" {
			names = append(names, c.Name())
		}
	}
	return diag.Invalid(diag.BadOption, diag.Position{}, "unknown command %q%s", args[0], diag.DidYouMean(args[0], names)).
		WithNote(diag.Position{}, "commands are %s", strings.Join(names, ", "))
}
