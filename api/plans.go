package api

import (
	"context"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/cost"
)

// DiffPlans says in what two plans differ.
func (s *service) DiffPlans(ctx context.Context, r *autoshardv1.DiffPlansRequest) (*autoshardv1.DiffPlansResponse, error) {
	before, err := planOf(ctx, "before", r.GetBefore())
	if err != nil {
		return nil, err
	}
	after, err := planOf(ctx, "after", r.GetAfter())
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.DiffPlansResponse{Difference: &autoshardv1.Difference{}}
	return out, convert(autoshard.DiffPlans(before, after), out.Difference)
}

// CheckPlan works out again what a plan says, with the built-in hardware profile that it names.
func (s *service) CheckPlan(ctx context.Context, r *autoshardv1.CheckPlanRequest) (*autoshardv1.CheckPlanResponse, error) {
	plan, err := planOf(ctx, "plan", r.GetPlan())
	if err != nil {
		return nil, err
	}
	evidence := autoshard.PlanEvidence{Model: r.GetModelHash()}
	hw, unknown := cost.Lookup(plan.Hardware)
	if unknown == nil && plan.Options.Topology != "" {
		hw, unknown = hw.On(plan.Options.Topology)
	}
	if unknown == nil {
		evidence.Hardware = &hw
	}
	audit, err := plan.Check(ctx, evidence)
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.CheckPlanResponse{Audit: &autoshardv1.PlanAudit{}}
	return out, convert(audit, out.Audit)
}

// planOf returns the plan of a message, which is called by its field in errors.
func planOf(ctx context.Context, field string, message *autoshardv1.Plan) (*autoshard.Plan, error) {
	if message == nil {
		return nil, invalid("`%s` is required", field)
	}
	w := &jsonWriter{ctx: ctx, zeros: true, indent: true}
	text, err := w.message(nil, message.ProtoReflect())
	if err != nil {
		return nil, err
	}
	return autoshard.ReadPlan(ctx, field, text)
}
