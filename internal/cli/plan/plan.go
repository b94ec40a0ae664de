// Package plan is the subcommand that chooses shardings:
//
//	autoshard plan model.mlir --mesh data=4,model=2 -o plan.json --verify
package plan

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/arrays"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/report"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan MODEL",
		Short: "Choose shardings for a model by cost",
		Long: `Choose shardings for a model: those that the user wrote are kept, the rest is chosen by cost under a memory limit.
MODEL is StableHLO text or model.json, gzip or not; - is standard input.

With --output the plan goes to a file, and the text report to standard output: at most a page, or with --all every
collective and value. --format sarif and github write what the plan does not keep or does not know (docs/check.md).
With --verify the plan runs on virtual devices with the arrays of --inputs, or those recorded beside MODEL
(manifest.json, or NAME.in.npz and NAME.out.npz), or random ones.`,
		Example: `  autoshard plan examples/transformer_train.mlir --mesh data=4,model=2 --verify
  autoshard plan model.json --mesh data=8 --hardware h100 --memory 80GB -o plan.json`,
		Args: cmdline.Args("MODEL"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return run(ctx, s, c, args[0])
		}),
	}
	config.AddFlags(cmd.Flags(), "mesh", "hardware", "topology", "memory", "rule", "dim", "platform", "format", "output", "verify", "inputs",
		"expect", "rtol", "atol", "tolerance", "steps", "search-memory", "seed", "collective-matmul", "merge-collectives", "no-sub-axes",
		"trip-count", "timeout", "progress", "all")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.MLIR, config.SARIF, config.GitHub)
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file string) error {
	progress, done := s.Progress(c.Progress)
	defer done()
	plan, err := search(ctx, s, c, file, progress)
	if err != nil {
		return err
	}
	if cmdline.Interrupted(ctx) {
		s.Note("interrupted: this is the best plan so far")
	}
	if err := write(context.WithoutCancel(ctx), s, c, plan); err != nil {
		return err
	}
	if !c.Verify || cmdline.Interrupted(ctx) {
		done()
		return show(s, c, report.Plan(plan, report.Options{All: c.All}))
	}
	progress(autoshard.Progress{Stage: "verify", Seconds: plan.Estimate.Seconds, Bound: float64(plan.Certificate.Bound) / 1e12})
	return verify(ctx, s, c, plan, file, done)
}

// search reads the model and plans, within the time of --timeout. An interrupt asks for the best plan so far.
func search(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, progress func(autoshard.Progress)) (*autoshard.Plan,
	error) {
	planning, enough := context.WithCancelCause(context.WithoutCancel(ctx))
	defer enough(nil)
	defer context.AfterFunc(ctx, func() { enough(autoshard.ErrEnough) })()
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		planning, cancel = context.WithTimeout(planning, c.Timeout)
		defer cancel()
	}
	progress(autoshard.Progress{Stage: "read"})
	model, err := s.Specialized(ctx, file, c)
	if err != nil {
		return nil, err
	}
	o := autoshard.PlanOptions{Mesh: c.Mesh, Hardware: c.Hardware, Memory: c.Memory, Steps: c.Steps, SearchMemory: c.Search, Seed: c.Seed,
		SerialMatmul: !c.Rings, Separate: !c.Merges, WholeAxes: c.WholeAxes, Progress: progress, Now: time.Now}
	for _, t := range c.Trips {
		o.TripCounts = append(o.TripCounts, autoshard.TripCount(t))
	}
	return autoshard.MakePlan(planning, model, o)
}

// write writes the plan as --format says; text is a report, which comes later.
func write(ctx context.Context, s *cmdline.Streams, c *config.Config, plan *autoshard.Plan) error {
	switch cmdline.OutputFormat(c) {
	case config.JSON:
		return s.Write(c.Output, plan.JSON())
	case config.MLIR:
		text, err := plan.Annotated(ctx)
		if err != nil {
			return err
		}
		return s.Write(c.Output, []byte(text))
	case config.SARIF, config.GitHub:
		return s.WriteFindings(c, plan.Findings)
	}
	return nil
}

// show writes the report where --format text wants it, otherwise to standard output unless the plan itself is there.
func show(s *cmdline.Streams, c *config.Config, text string) error {
	switch {
	case cmdline.OutputFormat(c) == config.Text:
		return s.Write(c.Output, []byte(text))
	case toStdout(c):
		return nil
	}
	return s.Write("", []byte(text))
}

func toStdout(c *config.Config) bool { return c.Output == "" || c.Output == "-" }

// verify runs the plan and shows the report with what the run proves. Where the plan itself is on standard output, only
// the result of the run is said, on standard error.
func verify(ctx context.Context, s *cmdline.Streams, c *config.Config, plan *autoshard.Plan, file string, done func()) error {
	p, data, err := runnable(ctx, s, c, plan, file)
	if err != nil {
		done()
		return errors.Join(show(s, c, report.Plan(plan, report.Options{All: c.All})), err)
	}
	check, failure := p.Verify(ctx, data.Inputs, data.Expected, data.Tolerance)
	done()
	text := report.Plan(plan, report.Options{All: c.All, Check: check})
	if check != nil {
		ran := "\ninputs: " + data.Source + "\n" + report.Check(check)
		if toStdout(c) && cmdline.OutputFormat(c) != config.Text {
			s.Note("%s", ran)
			return failure
		}
		text += ran
	}
	return errors.Join(show(s, c, text), failure)
}

// runnable returns the plan's program, and what to run it with.
func runnable(ctx context.Context, s *cmdline.Streams, c *config.Config, plan *autoshard.Plan, file string) (*autoshard.Program,
	*arrays.Data, error) {
	p, err := plan.Lowered(ctx)
	if err != nil {
		return nil, nil, err
	}
	data, err := arrays.Find(ctx, s, c, p, file)
	return p, data, err
}
