// Package plan is the subcommand that chooses shardings:
//
//	autoshard plan model.mlir --mesh data=4,model=2 -o plan.json --verify
package plan

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/arrays"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/report"
)

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use:   "plan [MODEL]",
		Short: "Choose shardings for a model by cost",
		Long: `Choose shardings for a model: those that the user wrote are kept, the rest is chosen by cost under a memory limit.
MODEL is StableHLO text or model.json, gzip or not; - is standard input.

With --output the plan goes to a file, and the text report to standard output: at most a page, or with --all every
collective and value. --format sarif and github write what the plan does not keep or does not know (docs/check.md).
--devices N, without --mesh, chooses the mesh, too: meshes of N devices with up to three axes, which the network has a place for, are
searched quickly, and the best of them to the end; the report lists them. Of meshes within 0.1 % of each other that of the fewest axes counts.

--pin gives inputs and outputs a sharding, --forbid keeps axes away from them, on top of what the model says; --budget bounds what
collectives send. With --from PLAN the
options are those of an earlier plan.json, with what other flags change, MODEL is the one that it names, and the report ends with what is
otherwise than in that plan.

With --verify the plan runs on virtual devices with the arrays of --inputs, or those recorded beside MODEL
(manifest.json, or NAME.in.npz and NAME.out.npz), or random ones.`,
		Example: `  autoshard plan examples/transformer_train.mlir --mesh data=4,model=2 --verify
  autoshard plan llama.mlir --devices 64 --hardware tpu-v5p
  autoshard plan model.json --mesh data=8 --hardware h100 --memory 80GB -o plan.json
  autoshard plan --from plan.json --pin "params[*]['w1']=P(None, 'model')" --forbid 'params[embed]: data'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && from != "" {
				return nil
			}
			return cmdline.Args("MODEL")(cmd, args)
		},
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return run(ctx, s, c, strings.Join(args, ""), from)
		}),
	}
	cmd.Flags().StringVar(&from, "from", "", "plan.json whose model and options count where no argument and no flag says otherwise")
	config.AddFlags(cmd.Flags(), "mesh", "plan.devices", "hardware", "topology", "memory", "rule", "dim", "platform", "format",
		"output", "verify", "inputs", "expect", "rtol", "atol", "tolerance", "steps", "search-memory", "seed", "collective-matmul",
		"merge-collectives", "without", "no-sub-axes", "taste", "pin", "forbid", "budget", "pins", "trip-count", "timeout", "progress", "all")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON, config.MLIR, config.SARIF, config.GitHub)
	cmd.AddCommand(showCommand(s), diffCommand(s), checkCommand(s))
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, file, from string) error {
	if c.MeshDevices > 0 && c.Given("mesh") {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--devices"}, "a mesh is given, too: leave out that, or the number of devices")
	}
	var before earlier
	if from != "" {
		var err error
		before.file = from
		if before.plan, file, err = s.From(ctx, c, from, file); err != nil {
			return err
		}
	}
	if c.MeshDevices > 0 {
		c.Mesh = nil
	}
	progress, done := s.Progress(c.Progress)
	defer done()
	plan, data, err := search(ctx, s, c, file, before.plan, progress)
	if err != nil {
		return err
	}
	if cmdline.Interrupted(ctx) {
		s.Note("interrupted: this is the best plan so far")
	}
	if err := write(context.WithoutCancel(ctx), s, c, plan); err != nil {
		return err
	}
	beside := before.beside(plan, c.All)
	if !c.Verify || cmdline.Interrupted(ctx) {
		done()
		return show(s, c, report.Plan(plan, report.Options{All: c.All})+beside)
	}
	progress(autoshard.Progress{Stage: "verify", Seconds: plan.Estimate.Seconds, Bound: float64(plan.Certificate.Bound) / 1e12})
	return verify(ctx, s, c, plan, data, beside, done)
}

// search reads the model and plans, within the time of --timeout, from an earlier plan on unless that is nil. An interrupt asks for the
// best plan so far. What --verify is to run the plan with is looked for before: what is wrong with it is not said after a long search.
func search(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, from *autoshard.Plan,
	progress func(autoshard.Progress)) (*autoshard.Plan, *arrays.Data, error) {
	planning, cancel := cmdline.Planning(ctx, c)
	defer cancel()
	progress(autoshard.Progress{Stage: "read"})
	model, err := s.Specialized(ctx, file, c)
	if err != nil {
		return nil, nil, err
	}
	o, err := cmdline.PlanOptions(c, progress)
	if err != nil {
		return nil, nil, err
	}
	o.From = from
	var data *arrays.Data
	if c.Verify {
		if data, err = arraysOf(ctx, s, c, model, file); err != nil {
			return nil, nil, err
		}
	}
	plan, err := autoshard.MakePlan(planning, model, o)
	return plan, data, err
}

// arraysOf returns what a model is run with.
func arraysOf(ctx context.Context, s *cmdline.Streams, c *config.Config, model *autoshard.Model, file string) (*arrays.Data, error) {
	in, err := model.Interpreter()
	if err != nil {
		return nil, err
	}
	return arrays.Find(ctx, s, c, arrays.Ports{Inputs: in.Inputs, Outputs: in.Outputs}, file)
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
func verify(ctx context.Context, s *cmdline.Streams, c *config.Config, plan *autoshard.Plan, data *arrays.Data, beside string,
	done func()) error {
	p, err := plan.Lowered(ctx)
	if err != nil {
		done()
		return errors.Join(show(s, c, report.Plan(plan, report.Options{All: c.All})+beside), err)
	}
	check, failure := p.Verify(ctx, data.Inputs, data.Expected, data.Tolerance)
	done()
	text := report.Plan(plan, report.Options{All: c.All, Check: check}) + beside
	if check != nil {
		for _, note := range check.Result.Notes {
			s.Note("%s", note)
		}
		ran := "\ninputs: " + data.Source + "\n" + report.Check(check)
		if toStdout(c) && cmdline.OutputFormat(c) != config.Text {
			s.Note("%s", ran)
			return failure
		}
		text += ran
	}
	return errors.Join(show(s, c, text), failure)
}
