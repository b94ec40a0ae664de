package api

import (
	"context"
	"time"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// service implements AutoshardService over the façade.
type service struct {
	makePlan  func(context.Context, *autoshard.Model, autoshard.PlanOptions) (*autoshard.Plan, error)
	propagate func(context.Context, *autoshard.Model, autoshard.PropagateOptions) (*autoshard.Propagation, error)
}

// Plan chooses shardings. Its search ends a little before the deadline, so that an early plan still arrives in time.
func (s *service) Plan(ctx context.Context, r *autoshardv1.PlanRequest) (*autoshardv1.PlanResponse, error) {
	model, err := sizedModel(r, r.GetSource() != nil)
	if err != nil {
		return nil, err
	}
	options, err := planOptions(r)
	if err != nil {
		return nil, err
	}
	searching, cancel := reserve(ctx)
	defer cancel()
	plan, err := s.makePlan(searching, model, options)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := &autoshardv1.PlanResponse{}
	if r.GetAnnotated() {
		if out.Annotated, err = plan.Annotated(); err != nil {
			return nil, err
		}
	}
	out.Plan, err = planMessage(plan)
	return out, err
}

// Of the time that is left, this share and at most this much is kept for lowering the plan and sending it.
const (
	reservedShare = 10
	mostReserved  = time.Second
)

func reserve(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-min(time.Until(deadline)/reservedShare, mostReserved)))
}

// Propagate propagates the user's shardings.
func (s *service) Propagate(ctx context.Context, r *autoshardv1.PropagateRequest) (*autoshardv1.PropagateResponse, error) {
	model, err := sizedModel(r, r.GetSource() != nil)
	if err != nil {
		return nil, err
	}
	mesh, err := meshOf(r)
	if err != nil {
		return nil, err
	}
	options := autoshard.PropagateOptions{Mesh: mesh, MaxPriority: -1}
	if r.MaxPriority != nil {
		options.MaxPriority = int(r.GetMaxPriority())
	}
	result, err := s.propagate(ctx, model, options)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out, err := propagationMessage(result)
	if err == nil && !r.GetTrace() {
		out.Trace = nil
	}
	return out, err
}
