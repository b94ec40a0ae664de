package plan

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/report"
)

func checkCommand(s *cmdline.Streams) *cobra.Command {
	var model string
	cmd := &cobra.Command{
		Use:   "check PLAN",
		Short: "Work out again what a plan.json says",
		Long: `Work out again what a plan.json says, from its program: that the program is legal and has the listed inputs, outputs and shardings,
the price of every collective and of a step, the certificate; and compare the hashes of the plan, its options, the hardware profile and
the file of the model, where that is where it was. The exit code is 1 where anything is otherwise.

Whether the program computes what the model computes is what --verify of plan and run prove.`,
		Example: `  autoshard plan check plan.json
  autoshard plan check plan.json --model train.mlir --hardware cluster.yaml`,
		Args: cmdline.Args("PLAN"),
		RunE: cmdline.WithConfig(func(ctx context.Context, c *config.Config, args []string) error {
			return check(ctx, s, c, args[0], model)
		}),
	}
	config.AddFlags(cmd.Flags(), "hardware", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	cmd.Flags().StringVar(&model, "model", "", "`file` of the model (default: the one that the plan names, if it is there)")
	return cmd
}

func check(ctx context.Context, s *cmdline.Streams, c *config.Config, file, model string) error {
	p, err := s.Plan(ctx, file)
	if err != nil {
		return err
	}
	e, err := evidence(ctx, s, c, p, model)
	if err != nil {
		return err
	}
	audit, err := p.Check(ctx, e)
	if err != nil {
		return err
	}
	if cmdline.OutputFormat(c) == config.JSON {
		err = s.WriteJSON(c.Output, "audit", audit)
	} else {
		err = s.Write(c.Output, []byte(report.Audit(audit)))
	}
	if err != nil || audit.Passed {
		return err
	}
	return diag.Finding(diag.PlanChanged, diag.Position{File: cmdline.Name(file)}, "the plan is not what it says")
}

// evidence finds what a plan was made from: the hardware profile of --hardware or of its name, and the file of the model.
func evidence(ctx context.Context, s *cmdline.Streams, c *config.Config, p *autoshard.Plan, model string) (e autoshard.PlanEvidence,
	err error) {
	if hw, err := cmdline.ProfileOf(p, c, ""); err == nil {
		e.Hardware = &hw
	}
	if model == "" {
		if model = p.Options.Model.File; model == "" || model == cmdline.Stdin {
			return e, nil
		}
		if _, err := os.Stat(model); errors.Is(err, fs.ErrNotExist) {
			return e, nil
		}
	}
	_, text, err := s.Read(ctx, model)
	if err == nil {
		e.Model = autoshard.HashText(text)
	}
	return e, err
}
