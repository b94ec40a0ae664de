package api

import (
	"context"

	"autoshard"
	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/report"
)

// Explain says why a value is sharded as it is after propagation.
func (s *service) Explain(ctx context.Context, r *autoshardv1.ExplainRequest) (*autoshardv1.ExplainResponse, error) {
	model, err := sizedModel(ctx, r.GetSource())
	if err != nil {
		return nil, err
	}
	x, err := autoshard.Explain(ctx, model, autoshard.ExplainOptions{Mesh: meshOf(r.GetMesh()), Value: r.GetValue(), WhyNot: r.GetWhyNot()})
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.ExplainResponse{Explanation: &autoshardv1.Explanation{}, Text: report.Explanation(x)}
	return out, convert(x, out.Explanation)
}

// Check verifies a model and returns warnings.
func (s *service) Check(ctx context.Context, r *autoshardv1.CheckRequest) (*autoshardv1.CheckResponse, error) {
	model, err := sizedModel(ctx, r.GetSource())
	if err != nil {
		return nil, err
	}
	warnings, err := model.Lint(ctx, autoshard.LintOptions{Mesh: meshOf(r.GetMesh()), Disabled: r.GetDisabled()})
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.CheckResponse{}
	for i := range warnings {
		out.Warnings = append(out.Warnings, codec.DiagnosticMessage(&warnings[i]))
	}
	return out, nil
}

// Convert writes a model in another form.
func (s *service) Convert(ctx context.Context, r *autoshardv1.ConvertRequest) (*autoshardv1.ConvertResponse, error) {
	model, err := sizedModel(ctx, r.GetSource())
	if err != nil {
		return nil, err
	}
	content, err := model.ConvertTo(ctx, autoshard.Form(r.GetForm()), r.GetTarget())
	if err != nil {
		return nil, err
	}
	return &autoshardv1.ConvertResponse{Content: content}, nil
}
