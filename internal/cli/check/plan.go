package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
)

// checkPlan returns what of a plan is beyond the limits of the configuration.
func checkPlan(ctx context.Context, s *cmdline.Streams, c *config.Config, file string) ([]diag.Diagnostic, error) {
	var list []autoshard.Limit
	for _, text := range c.Limits {
		limit, err := autoshard.ParseLimit(text)
		if err != nil {
			return nil, err
		}
		list = append(list, limit)
	}
	if len(list) == 0 {
		return nil, diag.Invalid(diag.BadOption, diag.Position{File: cmdline.Name(file)}, "a plan is checked against limits, and there are none").
			WithNote(diag.Position{}, "write them as `check.limit` into autoshard.yaml, or as --limit 'peak < 14GiB'; `autoshard plan check` works "+
				"out again what a plan says")
	}
	p, err := s.Plan(ctx, file)
	if err != nil {
		return nil, err
	}
	model, err := planned(ctx, s, p)
	if err != nil {
		return nil, err
	}
	found := autoshard.CheckLimits(p, model, list)
	for i := range found {
		found[i].Pos.File = fromHere(found[i].Pos.File)
		if found[i].Pos.File == "" {
			found[i].Pos = diag.Position{File: cmdline.Name(file)}
		}
	}
	return found, nil
}

// planned returns the model of a plan, nil where it is not where it was.
func planned(ctx context.Context, s *cmdline.Streams, p *autoshard.Plan) (*autoshard.Model, error) {
	file := p.Options.Model.File
	if _, err := os.Stat(file); err != nil {
		s.Note("the model %s is not there: lines of inputs are not known", file)
		return nil, nil
	}
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	if hash := autoshard.HashText(text); hash != p.Hashes.Model {
		s.Note("%s is not the program that was planned any more: lines of inputs may be others", name)
	}
	return autoshard.ReadModel(ctx, name, text)
}

// fromHere returns a file as it is called from the working directory, where it is below that: as those call it who show findings beside
// lines of a change.
func fromHere(file string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(file) {
		return file
	}
	if rel, err := filepath.Rel(here, file); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return file
}

// accept leaves out findings that the baseline of the configuration has, or makes these the baseline.
func accept(ctx context.Context, s *cmdline.Streams, c *config.Config, report *diag.Report, write bool) error {
	if c.Baseline == "" {
		if write {
			return diag.Invalid(diag.BadOption, diag.Position{File: "--write-baseline"}, "there is no file to write: `--baseline` names it")
		}
		return nil
	}
	if write {
		if report.Count(diag.SeverityError) > 0 || report.Count(diag.SeverityWarning) > 0 {
			s.Note("%s accepts %s", c.Baseline, diag.Count(len(report.Findings), "finding", "findings"))
		}
		baseline := autoshard.NewKnown(report.Findings)
		report.Findings = nil
		return s.WriteJSON(c.Baseline, "baseline", baseline)
	}
	name, text, err := s.Read(ctx, c.Baseline)
	if err != nil {
		return err
	}
	baseline, err := autoshard.ReadKnown(name, text)
	if err == nil {
		report.Findings = baseline.New(report.Findings)
	}
	return err
}
