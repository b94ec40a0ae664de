package explain

import (
	"context"
	"fmt"

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
	if cmdline.OutputFormat(c) == config.DOT {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--format"}, "the alternatives of a plan are no graph: `dot` is for models")
	}
	before, from, err := s.From(ctx, c, args[0], "")
	if err != nil {
		return err
	}
	planning, cancel := cmdline.Planning(ctx, c)
	defer cancel()
	progress, done := s.Progress(c.Progress)
	defer done()
	session, now, err := replan(planning, s, c, from, before, progress)
	if err != nil {
		return err
	}
	result, text, err := ask(planning, session, now, args[1:], whyNot)
	if done(); err != nil {
		return err
	}
	if cmdline.Interrupted(ctx) {
		s.Note("interrupted: this is what is known so far")
	}
	if !autoshard.DiffPlans(before, now).Same {
		s.Note("%s", anotherPlan(before, now, cmdline.Name(args[0])))
	}
	if cmdline.OutputFormat(c) == config.JSON {
		return s.WriteJSON(c.Output, "answer", result)
	}
	return s.Write(c.Output, []byte(text))
}

// ask returns what a session says of its plan, and that as text.
func ask(ctx context.Context, session *autoshard.Session, now *autoshard.Plan, value []string, whyNot string) (any, string, error) {
	if len(value) == 0 {
		d, err := session.Decisions(ctx, now, topDecisions)
		if err != nil {
			return nil, "", err
		}
		return d, report.Decisions(d, now, topDecisions), nil
	}
	w, err := session.Weigh(ctx, now, value[0], whyNot)
	if err != nil {
		return nil, "", err
	}
	return w, report.Weighing(w), nil
}

// anotherPlan says that the plan in a file has become another one.
func anotherPlan(before, now *autoshard.Plan, file string) string {
	was, is := diag.Seconds(before.Estimate.Seconds), diag.Seconds(now.Estimate.Seconds)
	if was == is {
		return "made again, the plan is another one than in " + file + ", and as fast"
	}
	return fmt.Sprintf("made again, the plan is another one: a step takes %s, and %s in %s", is, was, file)
}

// replan makes a plan again, beginning with it: it may have been found in limited time, or by luck.
func replan(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, before *autoshard.Plan,
	progress func(autoshard.Progress)) (*autoshard.Session, *autoshard.Plan, error) {
	model, err := s.Specialized(ctx, file, c)
	if err != nil {
		return nil, nil, err
	}
	o, err := cmdline.PlanOptions(c, progress)
	if err != nil {
		return nil, nil, err
	}
	o.From = before
	ctx, cancel := o.Beginning(ctx)
	defer cancel()
	return autoshard.NewSession(ctx, model, o)
}
