package api

import (
	"cmp"
	"context"

	"autoshard"
	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/cost"
	"autoshard/internal/lists"
	"autoshard/program"
	"autoshard/report"
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
	difference := autoshard.DiffPlans(before, after)
	out := &autoshardv1.DiffPlansResponse{Difference: &autoshardv1.Difference{}, Text: report.Diff(difference, report.DiffOptions{})}
	return out, convert(difference, out.Difference)
}

// CheckPlan works out again what a plan says, with the built-in hardware profile that it names.
func (s *service) CheckPlan(ctx context.Context, r *autoshardv1.CheckPlanRequest) (*autoshardv1.CheckPlanResponse, error) {
	plan, err := planOf(ctx, "plan", r.GetPlan())
	if err != nil {
		return nil, err
	}
	evidence := autoshard.PlanEvidence{Model: r.GetModelHash()}
	if hw, unknown := profile(plan.Hardware, plan.Options.Topology); unknown == nil {
		evidence.Hardware = &hw
	}
	audit, err := plan.Check(ctx, evidence)
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.CheckPlanResponse{Audit: &autoshardv1.PlanAudit{}}
	return out, convert(audit, out.Audit)
}

// topDecisions are returned by WeighPlan where the request does not say how many.
const topDecisions = 3

// WeighPlan says how else a value of a plan could be cut, or which decisions matter most.
func (s *service) WeighPlan(ctx context.Context, r *autoshardv1.WeighPlanRequest) (*autoshardv1.WeighPlanResponse, error) {
	model, err := sizedModel(ctx, r.GetPlan())
	if err != nil {
		return nil, err
	}
	options, err := planOptions(ctx, r.GetPlan())
	if err != nil {
		return nil, err
	}
	beginning, cancel := options.Beginning(ctx)
	defer cancel()
	session, now, err := autoshard.NewSession(beginning, model, options)
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.WeighPlanResponse{}
	if r.GetValue() != "" {
		weighing, err := session.Weigh(ctx, now, r.GetValue(), r.GetAxis())
		if err != nil {
			return nil, err
		}
		out.Weighing, out.Text = &autoshardv1.Weighing{}, report.Weighing(weighing)
		return out, convert(weighing, out.Weighing)
	}
	most := int(cmp.Or(r.GetMost(), topDecisions))
	decisions, err := session.Decisions(ctx, now, most)
	if err != nil {
		return nil, err
	}
	text := report.Decisions(decisions, now, most)
	return out, convert(map[string]any{"decisions": decisions.List, "untried": decisions.Untried, "text": text}, out)
}

// Estimate says what a step of a plan waits for.
func (s *service) Estimate(ctx context.Context, r *autoshardv1.EstimateRequest) (*autoshardv1.EstimateResponse, error) {
	step, hw, err := deployed(ctx, r)
	if err != nil {
		return nil, err
	}
	breakdown, err := step.Breakdown(ctx, hw, int(cmp.Or(r.GetAhead(), autoshard.DefaultAhead)))
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.EstimateResponse{Breakdown: &autoshardv1.Breakdown{}, Text: report.Breakdown(breakdown, false)}
	return out, convert(breakdown, out.Breakdown)
}

// Memory says what a device holds while a step of a plan runs.
func (s *service) Memory(ctx context.Context, r *autoshardv1.MemoryRequest) (*autoshardv1.MemoryResponse, error) {
	step, hw, err := deployed(ctx, r)
	if err != nil {
		return nil, err
	}
	memory, err := step.Memory(ctx, hw)
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.MemoryResponse{Text: report.Memory(memory, cmp.Or(r.GetPlan().GetMemoryLimit(), int64(hw.HBMBytes)))}
	for i, again := range memory.Again {
		memory.Again[i] = cmp.Or(again, new(program.Recompute)) // lists of messages have no null
	}
	out.Memory = &autoshardv1.MemoryUse{}
	return out, convert(memory, out.Memory)
}

// deployed returns the program of a plan, and the hardware that it is asked about.
func deployed(ctx context.Context, r interface {
	GetPlan() *autoshardv1.Plan
	GetHardware() string
}) (*program.Program, cost.Hardware, error) {
	plan, err := planOf(ctx, "plan", r.GetPlan())
	if err != nil {
		return nil, cost.Hardware{}, err
	}
	hw, err := hardwareOf(plan, r.GetHardware())
	if err != nil {
		return nil, hw, err
	}
	lowered, err := plan.Lowered(ctx)
	return lowered, hw, err
}

// hardwareOf returns the built-in profile of a name, or the one that a plan was made for.
func hardwareOf(plan *autoshard.Plan, name string) (cost.Hardware, error) {
	if name != "" {
		return profile(name, "")
	}
	hw, err := profile(plan.Hardware, plan.Options.Topology)
	if err != nil {
		return hw, invalid("the plan is for hardware %q, which is none of the built-in: name another one in `hardware`", plan.Hardware)
	}
	return hw, nil
}

// ListHardware returns the built-in profiles.
func (s *service) ListHardware(context.Context, *autoshardv1.ListHardwareRequest) (*autoshardv1.ListHardwareResponse, error) {
	out := &autoshardv1.ListHardwareResponse{}
	return out, convert(map[string]any{"profiles": lists.Map(cost.Profiles(), report.NewProfile)}, out)
}

// planOf returns the plan of a message, which is called by its field in errors.
func planOf(ctx context.Context, field string, message *autoshardv1.Plan) (*autoshard.Plan, error) {
	text, err := codec.Text(ctx, message)
	if err != nil {
		return nil, err
	}
	return autoshard.ReadPlan(ctx, field, text)
}
