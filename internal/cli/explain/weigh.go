package explain

import (
	"context"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/report"
)

// topDecisions are shown by --top.
const topDecisions = 3

// weigh answers about a plan: how else a value could be cut or, where none is given, which decisions matter most.
func weigh(ctx context.Context, s *cmdline.Streams, c *config.Config, args []string, whyNot string) error {
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	progress, done := s.Progress(c.Progress)
	defer done()
	session, now, err := replan(ctx, s, c, args[0], progress)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		list, err := session.Decisions(ctx, now, topDecisions)
		if done(); err != nil {
			return err
		}
		if cmdline.OutputFormat(c) == config.JSON {
			return s.WriteJSON(c.Output, "decisions", list)
		}
		return s.Write(c.Output, []byte(report.Decisions(list, now, topDecisions)))
	}
	w, err := session.Weigh(ctx, now, args[1], whyNot)
	if done(); err != nil {
		return err
	}
	switch cmdline.OutputFormat(c) {
	case config.JSON:
		return s.WriteJSON(c.Output, "weighing", w)
	case config.DOT:
		return diag.Invalid(diag.BadOption, diag.Position{File: "--format"}, "the steps of a plan are no graph: `dot` is for models")
	}
	return s.Write(c.Output, []byte(report.Weighing(w)))
}

// replan makes a plan again, beginning with it, and says where it has become another one, which is faster then.
func replan(ctx context.Context, s *cmdline.Streams, c *config.Config, file string,
	progress func(autoshard.Progress)) (*autoshard.Session, *autoshard.Plan, error) {
	before, from, err := s.From(ctx, c, file, "")
	if err != nil {
		return nil, nil, err
	}
	model, err := s.Specialized(ctx, from, c)
	if err != nil {
		return nil, nil, err
	}
	o, err := cmdline.PlanOptions(c, progress)
	if err != nil {
		return nil, nil, err
	}
	o.From = before // which may have been found in limited time, or by luck
	session, now, err := autoshard.NewSession(ctx, model, o)
	if err == nil && !autoshard.DiffPlans(before, now).Same {
		s.Note("made again, the plan is another one: a step takes %s, and %s in %s", diag.Seconds(now.Estimate.Seconds),
			diag.Seconds(before.Estimate.Seconds), cmdline.Name(file))
	}
	return session, now, err
}
