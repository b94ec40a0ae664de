package review

import (
	"context"

	"autoshard"
	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
)

// nodeData writes node data of a plan, or of the propagation of a model, for Model Explorer.
func nodeData(ctx context.Context, s *cmdline.Streams, c *config.Config, files []string, f *flags) error {
	if len(files) > 1 || f.export != "" {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--format"}, "node data are of one plan or one model, and no page")
	}
	name, text, err := s.Read(ctx, files[0])
	if err != nil {
		return err
	}
	var d *autoshard.NodeData
	switch of := autoshard.NodeDataOf(f.data); {
	case autoshard.IsReview(text):
		err = diag.Invalid(diag.BadFile, diag.Position{File: name}, "a document does not have its model: give the plan or the model of it")
	case filekind.Is(text, filekind.Plan):
		d, err = planData(ctx, s, c, files[0], of)
	default:
		var model *autoshard.Model
		if model, err = cmdline.Specialize(ctx, name, text, c); err == nil {
			d, err = autoshard.PropagationNodeData(ctx, model, autoshard.PropagateOptions{Mesh: c.Mesh}, of)
		}
	}
	if err != nil {
		return err
	}
	if d.Shared > 0 {
		s.Note("%d operations have their place in the source in common with others, and show what these are together", d.Shared)
	}
	if d.Elsewhere > 0 {
		s.Note("%.3g %% is of what stands at no operation of the model", 100*d.Elsewhere)
	}
	out, err := d.JSON()
	if err != nil {
		return err
	}
	return s.Write(c.Output, out)
}

// planData returns node data of a plan. Its model has to be where the plan says: only its text says which nodes there are.
func planData(ctx context.Context, s *cmdline.Streams, c *config.Config, file string, of autoshard.NodeDataOf) (*autoshard.NodeData,
	error) {
	plan, err := s.Plan(ctx, file)
	if err != nil {
		return nil, err
	}
	hw, err := cmdline.ProfileOf(plan, c, file)
	if err != nil {
		return nil, err
	}
	model, err := s.Model(ctx, plan.Options.Model.File)
	if err != nil {
		return nil, err
	}
	return autoshard.PlanNodeData(ctx, model, plan, hw, of)
}
