// Package check is the subcommand that reads, verifies and lints models and shard_map programs, and holds plans to limits:
//
//	autoshard check model.mlir --disable unused-axis --format sarif -o report.sarif
//	autoshard check plan.json --limit 'peak < 14GiB' --baseline baseline.json
//	autoshard check train.shardmap
package check

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
)

// flags are those that only this command has.
type flags struct{ fix, write bool }

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "check MODEL|PLAN...",
		Short: "Read, verify and lint models, and hold plans to limits",
		Long: `Read and verify models, StableHLO text or model.json, and warn about what is legal but probably not meant; read
shard_map programs, as emit --format shardmap writes them, and check the types of all values, or find them where the
text has none. Of shard_map programs, and shard_maps in models, it also says what they send although they need not, and what a
step on --hardware saves without that. --fix makes these rewrites in the file, a text, when a run of both on random inputs has
given the same outputs.
A plan.json is held to the limits of --limit and of check.limit in autoshard.yaml, such as 'peak < 14GiB' or 'no-gather > 64MiB'.
What --baseline has is known and left out; --write-baseline makes it what is found now.
docs/check.md describes the warnings. The report goes to standard output or --output: text with source lines, one json
document, a sarif log (2.1.0), or github workflow commands. The exit code is 0 if nothing is found, 1 for warnings and
limits, and 2 for errors, or 4 where all of them are about what is not supported.`,
		Example: `  autoshard check model.mlir
  autoshard check train.shardmap --fix
  autoshard check plan.json --limit 'no-gather > 64MiB' --format github
  autoshard check *.json --mesh data=4,model=2 --disable unused-axis --format github`,
		Args: cmdline.AtLeast("MODEL"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return run(ctx, s, c, args, &f)
		}),
	}
	cmd.Flags().BoolVar(&f.write, "write-baseline", false, "accept what is found: write it to the file of --baseline")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "rewrite shard_map programs so that they send less")
	config.AddFlags(cmd.Flags(), "mesh", "hardware", "rule", "check.disable", "check.limit", "check.baseline", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.SARIF, config.GitHub)
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, files []string, f *flags) error {
	report := &diag.Report{Files: len(files), Tool: cmdline.Tool(append(autoshard.LintRules(), autoshard.LimitRules()...))}
	if err := autoshard.CheckLintRules(c.Disabled); err != nil {
		return err
	}
	var class error
	for _, file := range files {
		warnings, err := checkOne(ctx, s, c, file, f.fix)
		report.Findings = append(report.Findings, warnings...)
		if err == nil {
			continue
		}
		found := diag.Diagnostics(err)
		if len(found) == 0 || errors.Is(err, diag.ErrInternal) {
			return err
		}
		for _, d := range found {
			d.Pos.File = cmp.Or(d.Pos.File, cmdline.Name(file))
			report.Findings = append(report.Findings, d)
		}
		class = worse(class, err)
	}
	if class == nil {
		if err := accept(ctx, s, c, report, f.write); err != nil {
			return err
		}
	}
	if class == nil && len(report.Findings) > 0 {
		class = diag.ErrFinding
	}
	if err := s.WriteReport(c, report); err != nil || class == nil {
		return err
	}
	return &diag.Error{Class: class, Diagnostics: []diag.Diagnostic{{Code: diag.CheckFailed, Message: report.Summary()}}}
}

// checkOne returns the warnings about a model, or what keeps it from being read.
func checkOne(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, fix bool) ([]diag.Diagnostic, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	if filekind.Is(text, filekind.Plan) {
		return checkPlan(ctx, s, c, file)
	}
	if autoshard.IsShardMap(text) {
		return checkProgram(ctx, s, c, file, text, fix)
	}
	model, err := autoshard.ReadModel(ctx, name, text)
	if err == nil && len(c.Rules) > 0 {
		model, err = model.WithRules(c.Rules)
	}
	if err != nil {
		return nil, err
	}
	found, err := model.Lint(ctx, autoshard.LintOptions{Mesh: c.Mesh, Disabled: c.Disabled})
	if err != nil || !autoshard.IsManualComputation(text) {
		return found, err
	}
	advice, err := checkManual(ctx, s, c, file, text, fix)
	return append(found, advice...), err
}

// worse returns the class of the errors so far and another one: invalid input is worse than what is not supported.
func worse(class, err error) error {
	if errors.Is(err, diag.ErrUnsupported) && (class == nil || errors.Is(class, diag.ErrUnsupported)) {
		return diag.ErrUnsupported
	}
	return diag.ErrInvalid
}
