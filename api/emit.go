package api

import (
	"context"
	"slices"
	"strings"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/internal/diag"
	"autoshard/report"
	"autoshard/report/chart"
	"autoshard/web"
)

// Forms of plans beside those of their programs.
const (
	formJSON      = "json"       // plan.json
	formReport    = "report"     // for people
	formMemorySVG = "memory-svg" // the curve of a device's memory
	formReview    = "review"     // the page that shows it, as one file
	formAnnotated = "annotated"  // the model with the plan's shardings as constraints, for another partitioner
)

// Emit writes a plan, its report, or its program for other systems.
func (s *service) Emit(ctx context.Context, r *autoshardv1.EmitRequest) (*autoshardv1.EmitResponse, error) {
	plan, err := planOf(ctx, "plan", r.GetPlan())
	if err != nil {
		return nil, err
	}
	text, err := emit(ctx, plan, r.GetForm())
	if err != nil {
		return nil, err
	}
	return &autoshardv1.EmitResponse{Text: string(text)}, nil
}

func emit(ctx context.Context, plan *autoshard.Plan, form string) ([]byte, error) {
	switch form {
	case formJSON:
		return plan.JSON(), nil
	case formReport:
		return []byte(report.Plan(plan, report.Options{Read: true})), nil
	case formAnnotated:
		text, err := plan.Annotated(ctx)
		return []byte(text), err
	case formReview:
		return reviewPage(ctx, plan)
	}
	known := slices.Concat(autoshard.EmitForms(), autoshard.Stages(), []string{formJSON, formReport, formMemorySVG,
		formReview, formAnnotated})
	if !slices.Contains(known, form) {
		return nil, invalid("`form` must be one of %s, not %q%s", strings.Join(known, ", "), form, diag.DidYouMean(form, known))
	}
	program, err := plan.Lowered(ctx)
	switch {
	case err != nil:
		return nil, err
	case form == formMemorySVG:
		return memoryCurve(ctx, plan, program)
	case slices.Contains(autoshard.Stages(), form):
		return program.Stage(ctx, form)
	}
	return program.Emit(ctx, form)
}

// reviewPage returns the page of a plan, with all that it shows.
func reviewPage(ctx context.Context, plan *autoshard.Plan) ([]byte, error) {
	d, err := planDocument(ctx, plan)
	if err != nil {
		return nil, err
	}
	return web.Report([]web.Part{{Name: plan.Model, Document: d}})
}

// memoryCurve draws what a device holds while a step of a plan runs.
func memoryCurve(ctx context.Context, plan *autoshard.Plan, program *autoshard.Program) ([]byte, error) {
	hw, err := hardwareOf(plan, "")
	if err != nil {
		return nil, err
	}
	memory, err := program.Memory(ctx, hw)
	if err != nil {
		return nil, err
	}
	return chart.Memory(memory)
}
