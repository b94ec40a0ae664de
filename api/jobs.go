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

// quickSteps is the budget of the first plan of a job, which is kept while a better one is searched.
const quickSteps = 10_000_000

// defaultPage is how many jobs are on a page where the request does not say.
const defaultPage = 100

// background makes plans of jobs: a quick one, which is kept, and then the one that was asked for.
func (s *service) background(ctx context.Context, r *autoshardv1.PlanRequest, resumed bool, report func(*autoshardv1.Progress),
	keep func(*autoshardv1.PlanResponse)) (result *autoshardv1.PlanResponse, err error) {
	err = s.limiter.background(ctx, r, func(ctx context.Context) (err error) {
		reporter := newReporter(func(p *autoshardv1.Progress) error { report(p); return nil })
		defer func() { err = cmp.Or(err, reporter.close()) }()
		if steps := r.GetSteps(); !resumed && (steps == 0 || steps > quickSteps) {
			quick := proto.CloneOf(r)
			quick.Steps = quickSteps
			first, err := s.plan(ctx, quick, reporter.report)
			if err == nil {
				keep(first)
			} else if !errors.Is(err, autoshard.ErrInfeasible) {
				return err
			}
		}
		result, err = s.plan(ctx, r, reporter.report)
		return err
	})
	return result, err
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
	job, err := runner.Start(r)
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
