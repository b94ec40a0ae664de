package api

import (
	"cmp"
	"context"
	"errors"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"autoshard"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/jobs"
)

// checkpoints are the budgets of plans of a job that are kept while a better one is searched: the first one always, the others where a job
// has its time and therefore no one answer anyway.
var checkpoints = []int64{10_000_000, 100_000_000, 1_000_000_000}

// defaultPage is how many jobs are on a page where the request does not say.
const defaultPage = 100

// background makes plans of jobs: a quick one, which is kept, and then the one that was asked for. Where the job has its time, each search
// begins with the best plan so far, also where an earlier process found that, and plans in between are kept, too.
func (s *service) background(ctx context.Context, t *jobs.Task) (result *autoshardv1.PlanResponse, err error) {
	r := t.Request
	err = s.limiter.background(ctx, t.Client, r, func(ctx context.Context) (err error) {
		reporter := newReporter(func(p *autoshardv1.Progress) error { t.Report(p); return nil })
		defer func() { err = cmp.Or(err, reporter.close()) }()
		stages := checkpoints[:1]
		_, timed := ctx.Deadline()
		if timed {
			stages = checkpoints
		}
		best := t.Earlier
		for _, steps := range stages {
			if wanted := r.GetSteps(); wanted != 0 && wanted <= steps || best != nil && (!timed || reached(best) >= steps) {
				continue
			}
			found, err := s.plan(ctx, checkpoint(r, best, steps, timed), reporter.report)
			switch {
			case err == nil:
				best = found
				t.Keep(found)
			case !errors.Is(err, autoshard.ErrInfeasible):
				return err
			}
		}
		result, err = s.plan(ctx, checkpoint(r, best, r.GetSteps(), timed), reporter.report)
		return err
	})
	return result, err
}

// reached returns the budget with which a plan was searched.
func reached(r *autoshardv1.PlanResponse) int64 { return r.GetPlan().GetOptions().GetSteps() }

// checkpoint returns a request with a budget, whose search begins with the best plan so far where it may.
func checkpoint(r *autoshardv1.PlanRequest, best *autoshardv1.PlanResponse, steps int64, timed bool) *autoshardv1.PlanRequest {
	out := proto.CloneOf(r)
	out.Steps = steps
	if timed && best.GetPlan() != nil {
		out.From = best.GetPlan()
	}
	return out
}

// recordFailure writes an error into a job.
func recordFailure(job *autoshardv1.Job, err error) {
	failed := connectError(err)
	job.Code, job.Message = connect.CodeOf(failed).String(), failed.Error()
	var e *connect.Error
	if !errors.As(failed, &e) {
		return
	}
	job.Message = e.Message()
	for _, detail := range e.Details() {
		if value, err := detail.Value(); err == nil {
			if d, ok := value.(*autoshardv1.Diagnostic); ok {
				job.Diagnostics = append(job.Diagnostics, d)
			}
		}
	}
}

// withJobs returns the runner, or an error where the server keeps no jobs.
func (s *service) withJobs() (*jobs.Runner, error) {
	if s.jobs == nil {
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("this server keeps no jobs: start it with --jobs FILE"))
	}
	return s.jobs, nil
}

// jobError gives errors of jobs their codes.
func jobError(err error) error {
	switch {
	case errors.Is(err, jobs.ErrUnknown):
		return connect.NewError(connect.CodeNotFound, err)
	case errors.Is(err, jobs.ErrReused):
		return connect.NewError(connect.CodeAlreadyExists, err)
	case errors.Is(err, jobs.ErrFull):
		return connect.NewError(connect.CodeResourceExhausted, err)
	case errors.Is(err, jobs.ErrStore), errors.Is(err, jobs.ErrStopped):
		return connect.NewError(connect.CodeUnavailable, err)
	}
	return err
}

// StartJob plans in the background.
func (s *service) StartJob(ctx context.Context, r *autoshardv1.StartJobRequest) (*autoshardv1.StartJobResponse, error) {
	runner, err := s.withJobs()
	if err != nil {
		return nil, err
	}
	if _, err := planOptions(ctx, r.GetPlan()); err != nil {
		return nil, err
	}
	job, err := runner.Start(clientOf(ctx, callOf(ctx, r).peer), r)
	if err != nil {
		return nil, jobError(err)
	}
	return &autoshardv1.StartJobResponse{Job: job}, nil
}

// GetJob returns a job.
func (s *service) GetJob(_ context.Context, r *autoshardv1.GetJobRequest) (*autoshardv1.GetJobResponse, error) {
	runner, err := s.withJobs()
	if err != nil {
		return nil, err
	}
	out := &autoshardv1.GetJobResponse{}
	if out.Job, err = runner.Job(r.GetId()); err == nil && r.GetResult() {
		out.Result, err = runner.Result(r.GetId())
	}
	if err != nil {
		return nil, jobError(err)
	}
	return out, nil
}

// WatchJob returns a job each time it changes.
func (s *service) WatchJob(ctx context.Context, r *autoshardv1.WatchJobRequest,
	out *connect.ServerStream[autoshardv1.WatchJobResponse]) error {
	runner, err := s.withJobs()
	if err != nil {
		return err
	}
	return connectError(jobError(runner.Watch(ctx, r.GetId(), func(job *autoshardv1.Job) error {
		return out.Send(&autoshardv1.WatchJobResponse{Job: job})
	})))
}

// CancelJob ends a job.
func (s *service) CancelJob(_ context.Context, r *autoshardv1.CancelJobRequest) (*autoshardv1.CancelJobResponse, error) {
	runner, err := s.withJobs()
	if err != nil {
		return nil, err
	}
	job, err := runner.Cancel(r.GetId())
	if err != nil {
		return nil, jobError(err)
	}
	return &autoshardv1.CancelJobResponse{Job: job}, nil
}

// ListJobs returns a page of jobs.
func (s *service) ListJobs(_ context.Context, r *autoshardv1.ListJobsRequest) (*autoshardv1.ListJobsResponse, error) {
	runner, err := s.withJobs()
	if err != nil {
		return nil, err
	}
	size := int(cmp.Or(r.GetPageSize(), defaultPage))
	list, err := runner.List(r.GetPageToken(), size)
	if err != nil {
		return nil, jobError(err)
	}
	out := &autoshardv1.ListJobsResponse{Jobs: list}
	if len(list) == size {
		out.NextPageToken = list[size-1].Id
	}
	return out, nil
}
