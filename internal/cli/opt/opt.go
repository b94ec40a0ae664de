// Package opt is the subcommand that runs passes on a program and prints it as MLIR does:
//
//	autoshard opt --pass-pipeline='sdy-add-data-flow-edges,sdy-basic-propagate' model.mlir
package opt

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/internal/lists"
	"autoshard/ir/pass"
	"autoshard/passes"
)

// flags are those that only this command has.
type flags struct {
	pipeline  string
	dumpAfter []string
	dumpDir   string
	time      bool
	list      bool
	debugInfo bool
	verify    bool
	split     bool
}

const pipelineFlag = "pass-pipeline"

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "opt MODEL",
		Short: "Run passes on a program and print it as MLIR does",
		Long: `Parse and verify a program, run the passes of a pipeline on it, each followed by verification, and print it as
MLIR does. Without passes the program is parsed, verified and printed. docs/passes.md describes all passes.`,
		Example: `  autoshard opt model.mlir
  autoshard opt --pass-pipeline='sdy-add-data-flow-edges,sdy-aggressive-propagate{propagation-strategy=basic}' -
  autoshard opt --pass-pipeline='builtin.module(func.func(sdy-constant-or-scalar-merger),canonicalize)' --dump-after=all model.mlir`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.list && len(args) == 0 {
				return nil
			}
			return cmdline.Args("MODEL")(cmd, args)
		},
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			switch {
			case f.list && c.Format == config.DOT:
				return s.Write(c.Output, []byte(drawing(passes.Table())))
			case f.list:
				return s.Write(c.Output, []byte(listing(passes.Table())))
			case c.Format == config.DOT:
				return diag.Invalid(diag.BadOption, diag.Position{File: "--format"}, "`dot` needs --list-passes: it draws the order of passes")
			}
			return run(ctx, s, c, &f, args[0])
		}),
	}
	config.AddFlags(cmd.Flags(), "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.DOT)
	local := cmd.Flags()
	local.StringVar(&f.pipeline, pipelineFlag, "", "passes as MLIR writes them: `p1,p2{option=value}`")
	local.StringSliceVar(&f.dumpAfter, "dump-after", nil, "print the program after these `passes`, or after all")
	local.StringVar(&f.dumpDir, "dump-dir", "", "`directory` for the programs of --dump-after, a file each")
	local.BoolVar(&f.time, "time-passes", false, "say on standard error how long each pass took")
	local.BoolVar(&f.list, "list-passes", false, "list all passes with their options, or with --format dot their order, and do nothing else")
	local.BoolVar(&f.debugInfo, "mlir-print-debuginfo", false, "print source locations")
	local.BoolVar(&f.verify, "verify-each", true, "verify the program after each pass")
	local.BoolVar(&f.split, "split-input-file", false, "treat the parts between lines `// -----` as programs of their own")
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, f *flags, file string) error {
	pipeline, err := passes.Table().Parse(f.pipeline, "--"+pipelineFlag)
	if err != nil {
		return err
	}
	dumps, err := newDumper(s, f, pipeline)
	if err != nil {
		return err
	}
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return err
	}
	if err := filekind.Check(name, text, filekind.MLIR); err != nil {
		return err
	}
	o := &optimizer{flags: f, pipeline: pipeline, dumps: dumps, file: name}
	out, err := o.programs(ctx, text)
	if f.time {
		s.Note("%s", times(o.timings))
	}
	if err != nil {
		return err
	}
	return s.Write(c.Output, out)
}

// checkDumps finds misspelt names of --dump-after.
func checkDumps(names []string, pipeline *pass.Pipeline) error {
	known := lists.Map(pipeline.Steps, func(step pass.Step) string { return step.Pass.Name })
	for _, name := range names {
		if name == dumpAll || slices.Contains(known, name) {
			continue
		}
		return diag.Invalid(diag.BadOption, diag.Position{File: "--dump-after"}, "the pipeline has no pass `%s`%s", name,
			diag.DidYouMean(name, append(known, dumpAll)))
	}
	return nil
}
