package api

import (
	"cmp"
	"context"
	"time"

	"connectrpc.com/connect"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/jobs"
	"autoshard/api/plancache"
)

// service implements AutoshardService over the façade.
type service struct {
	limiter   *limiter
	jobs      *jobs.Runner     // nil where the server keeps none
	cache     *plancache.Cache // nil where the server has none
	makePlan  func(context.Context, *autoshard.Model, autoshard.PlanOptions) (*autoshard.Plan, error)
	maxMemory int64 // of a run
	propagate func(context.Context, *autoshard.Model, autoshard.PropagateOptions) (*autoshard.Propagation, error)
}

// Plan chooses shardings.
func (s *service) Plan(ctx context.Context, r *autoshardv1.PlanRequest) (*autoshardv1.PlanResponse, error) {
	return s.plan(ctx, r, nil)
}

// StreamPlan chooses shardings, and says meanwhile how far it is.
func (s *service) StreamPlan(ctx context.Context, r *autoshardv1.StreamPlanRequest,
	out *connect.ServerStream[autoshardv1.StreamPlanResponse]) error {
	return s.limiter.stream(ctx, r, func(ctx context.Context) error {
		reporter := newReporter(func(p *autoshardv1.Progress) error {
			return out.Send(&autoshardv1.StreamPlanResponse{Event: &autoshardv1.StreamPlanResponse_Progress{Progress: p}})
		})
		result, err := s.plan(ctx, r.GetPlan(), reporter.report)
		if err := cmp.Or(err, reporter.close()); err != nil {
			return err
		}
		return out.Send(&autoshardv1.StreamPlanResponse{Event: &autoshardv1.StreamPlanResponse_Result{Result: result}})
	})
}

// plan chooses shardings. Its search ends a little before the deadline, so that an early plan still arrives in time; at
// the deadline itself, and when the client goes away, everything ends.
func (s *service) plan(ctx context.Context, r *autoshardv1.PlanRequest, progress func(autoshard.Progress)) (*autoshardv1.PlanResponse,
	error) {
	asked, err := s.ask(r)
	if err != nil {
		return nil, err
	}
	if known := s.answer(asked); known != nil {
		return known, nil
	}
	start := time.Now()
	model, err := sizedModel(ctx, r)
	if err != nil {
		return nil, err
	}
	reading := time.Since(start)
	options, err := planOptions(ctx, r)
	if err != nil {
		return nil, err
	}
	if asked.cache != nil {
		if err := cmp.Or(asked.liken(ctx, r, model, &options.Hardware), s.begin(ctx, asked, r, &options)); err != nil {
			return nil, err
		}
	}
	options.Progress = staged(ctx, progress)
	planning, cancel := due(ctx, answering(ctx, reading, r.GetAnnotated()))
	defer cancel()
	plan, err := s.makePlan(planning, model, options)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.PlanResponse{}
	if r.GetAnnotated() {
		if out.Annotated, err = plan.Annotated(ctx); err != nil {
			return nil, err
		}
	}
	if out.Plan, err = planMessage(ctx, plan); err != nil {
		return nil, err
	}
	s.keep(asked, r, out)
	return out, nil
}

// answering returns the time to keep for making a plan an answer, by the time that reading the model took: the program of
// the plan, a few times as long as the model, goes into the reply, and is read, propagated some times and printed where it is annotated. A
// part of the time left is for what happens on a busy machine.
func answering(ctx context.Context, reading time.Duration, annotated bool) time.Duration {
	const sending, margin = 20 * time.Millisecond, 20 // of that many parts, one
	out := sending + 4*reading
	if annotated {
		out += 30 * reading
	}
	if deadline, ok := ctx.Deadline(); ok {
		out += time.Until(deadline) / margin
	}
	return out
}

// due returns a context that tells a deadline somewhat before the one of ctx: what searches ends by that. It ends itself
// as canceled with ctx, for whatever reason: then nobody waits any more.
func due(ctx context.Context, before time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	end := func() { stop(); cancel() }
	if deadline, ok := ctx.Deadline(); ok {
		return early{out, deadline.Add(-before)}, end
	}
	return out, end
}

// early is a context with a deadline that it tells, and leaves to others to keep.
type early struct {
	context.Context
	deadline time.Time
}

// Deadline implements context.Context.
func (e early) Deadline() (time.Time, bool) { return e.deadline, true }

// Propagate propagates the user's shardings.
func (s *service) Propagate(ctx context.Context, r *autoshardv1.PropagateRequest) (*autoshardv1.PropagateResponse, error) {
	model, err := sizedModel(ctx, r)
	if err != nil {
		return nil, err
	}
	wanted, err := pageOf(r)
	if err != nil {
		return nil, err
	}
	options := autoshard.PropagateOptions{Mesh: meshOf(r.GetMesh())}
	if r.MaxPriority != nil {
		options.MaxPriority = new(int(r.GetMaxPriority()))
	}
	result, err := s.propagate(ctx, model, options)
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.PropagateResponse{}
	if wanted.from == 0 {
		if out, err = propagationMessage(ctx, result); err != nil {
			return nil, err
		}
	}
	if r.GetTrace() {
		out.Trace, out.NextPageToken, err = wanted.of(ctx, &result.Trace)
	}
	return out, err
}
