package review

import (
	"context"
	"encoding/json"
	"path/filepath"

	"autoshard"
	"autoshard/api"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/filekind"
)

// subjectsOf returns what is shown of a file: a document as it is, the propagation of a model, or a plan with the propagation of its model.
func subjectsOf(ctx context.Context, s *cmdline.Streams, c *config.Config, file string) ([]api.Subject, error) {
	name, text, err := s.Read(ctx, file)
	if err != nil {
		return nil, err
	}
	title := filepath.Base(name)
	switch {
	case autoshard.IsReview(text):
		return []api.Subject{{Name: title, Document: text}}, nil
	case filekind.Is(text, filekind.Plan):
		return planSubjects(ctx, s, c, file, title)
	}
	request, err := api.RequestFor(c.Mesh, c.Hardware, c.Memory, autoshard.ModelRequest{File: name, Sizes: c.Sizes, Platform: c.Platform,
		Rules: c.Rules}, text)
	if err != nil {
		return nil, err
	}
	subject, err := propagated(ctx, c, name, title, text)
	subject.Plan = request
	return []api.Subject{subject}, err
}

// propagated returns the propagation of a model.
func propagated(ctx context.Context, c *config.Config, name, title string, text []byte) (api.Subject, error) {
	model, err := cmdline.Specialize(ctx, name, text, c)
	if err != nil {
		return api.Subject{}, err
	}
	d, err := autoshard.ReviewPropagation(ctx, model, autoshard.PropagateOptions{Mesh: c.Mesh})
	return subjectOf(title, d, err)
}

func subjectOf(title string, d *autoshard.ReviewDocument, err error) (api.Subject, error) {
	if err != nil {
		return api.Subject{}, err
	}
	text, err := json.Marshal(d)
	return api.Subject{Name: title, Document: text}, err
}

// planSubjects returns a plan and, where its model is there, how that propagates.
func planSubjects(ctx context.Context, s *cmdline.Streams, c *config.Config, file, title string) ([]api.Subject, error) {
	plan, err := s.Plan(ctx, file)
	if err != nil {
		return nil, err
	}
	hw, err := cmdline.ProfileOf(plan, c, file)
	if err != nil {
		return nil, err
	}
	d, err := autoshard.ReviewPlan(ctx, plan, hw)
	subject, err := subjectOf(title, d, err)
	if err != nil {
		return nil, err
	}
	given := plan.Options.Model
	name, text, err := s.Read(ctx, given.File)
	if err != nil {
		s.Note("%s is not here: how it propagates is not shown, and it cannot be planned again", given.File)
		return []api.Subject{subject}, nil
	}
	if hash := autoshard.HashText(text); hash != plan.Hashes.Model {
		s.Note("%s is not the program that %s was made from any more", name, cmdline.Name(file))
	}
	if subject.Plan, err = api.RequestAgain(plan, text); err != nil {
		return nil, err
	}
	of := *c
	of.Mesh, of.Sizes, of.Platform, of.Rules = plan.Mesh, given.Sizes, given.Platform, given.Rules
	other, err := propagated(ctx, &of, name, filepath.Base(name)+", propagated", text)
	if err != nil {
		return nil, err
	}
	other.Plan = subject.Plan
	return []api.Subject{subject, other}, nil
}
