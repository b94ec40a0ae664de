package jobs

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// attempt is one go at a job.
type attempt struct {
	*Runner
	ctx     context.Context
	id      string
	request *autoshardv1.StartJobRequest
	counted time.Time // up to which work is in the job
}

// do works on a job once, and writes down what that came to.
func (r *Runner) do(ctx context.Context, t ticket) {
	id := t.id
	job, err := r.store.Change(id, nil, func(job *autoshardv1.Job) {
		job.State, job.Started = autoshardv1.JobState_JOB_STATE_RUNNING, timestamppb.Now()
		job.Attempts++
	})
	if err == nil && Ended(job) {
		return // it was canceled while it waited
	}
	var request *autoshardv1.StartJobRequest
	if err == nil {
		request, err = r.store.Request(id)
	}
	if err != nil {
		r.options.Logger.Error("a job cannot begin", "job", id, "error", err)
		r.later(ctx, t)
		return
	}
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.mu.Lock()
	r.running[id] = cancel
	r.mu.Unlock()
	r.announce()
	a := &attempt{r, working, id, request, time.Now()}
	result, failure := a.work(job)
	a.finish(ctx, result, failure)
	r.mu.Lock()
	delete(r.running, id)
	delete(r.progress, id)
	r.mu.Unlock()
	r.announce()
}

// later puts a job back that could not begin, because the disk refuses.
func (r *Runner) later(ctx context.Context, t ticket) {
	select {
	case <-time.After(retryEvery):
	case <-ctx.Done():
	}
	r.enqueue(t)
}

// work does the work, as far as there is time for it.
func (a *attempt) work(job *autoshardv1.Job) (*autoshardv1.PlanResponse, error) {
	if job.Attempts > maxAttempts {
		return nil, errors.New("the server ended each time that it worked on this job, which it does not any more")
	}
	earlier, err := a.store.Result(a.id)
	if err != nil {
		return nil, err
	}
	ctx := a.ctx
	if budget := a.request.GetSeconds(); budget > 0 {
		left := budget - job.GetWorkedSeconds()
		if left <= 0 && job.GetHasResult() {
			return nil, context.DeadlineExceeded
		}
		limited, cancel := context.WithTimeout(ctx, duration(max(left, budget/maxAttempts)))
		defer cancel()
		ctx = limited
	}
	counting, stop := context.WithCancel(ctx)
	counted := make(chan struct{})
	go func() { a.count(counting); close(counted) }()
	defer func() { stop(); <-counted }()
	return a.Runner.work(ctx, &Task{Client: job.Client, Request: a.request.GetPlan(), Earlier: earlier, Report: a.report, Keep: a.keep})
}

// duration returns seconds, as far as a clock counts.
func duration(seconds float64) time.Duration {
	const most = 100 * 365 * 24 * time.Hour
	return time.Duration(min(seconds, most.Seconds()) * float64(time.Second))
}

// count writes down now and then how long work has taken, so that it counts after a crash.
func (a *attempt) count(ctx context.Context) {
	for {
		select {
		case <-time.After(countEvery):
		case <-ctx.Done():
			return
		}
		a.note(nil)
	}
}

// note writes down the time of work, with a result or without. A disk that refuses is tried again when there is more to write.
func (a *attempt) note(result *autoshardv1.PlanResponse) {
	if _, err := a.store.Change(a.id, result, a.add); err != nil {
		a.options.Logger.Warn("a job is not written down", "job", a.id, "error", err)
	}
}

// add adds the time of work since it was added last.
func (a *attempt) add(job *autoshardv1.Job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	job.WorkedSeconds += now.Sub(a.counted).Seconds()
	a.counted = now
}

func (a *attempt) report(p *autoshardv1.Progress) {
	a.mu.Lock()
	a.progress[a.id] = p
	a.mu.Unlock()
	a.announce()
}

func (a *attempt) keep(result *autoshardv1.PlanResponse) {
	a.note(result)
	a.announce()
}

// finish writes down what an attempt came to. Where the server ends, the job goes on in the next process. Where the disk refuses, it does
// not give up before the server ends.
func (a *attempt) finish(ctx context.Context, result *autoshardv1.PlanResponse, failure error) {
	for {
		_, err := a.store.Change(a.id, result, func(job *autoshardv1.Job) {
			a.add(job)
			switch {
			case failure == nil:
				end(job, autoshardv1.JobState_JOB_STATE_DONE)
			case ctx.Err() != nil: // the server ends, which is no fault of the job
				job.State, job.Attempts = autoshardv1.JobState_JOB_STATE_QUEUED, job.Attempts-1
			case job.HasResult && errors.Is(failure, context.DeadlineExceeded):
				end(job, autoshardv1.JobState_JOB_STATE_DONE)
			default:
				a.options.Failure(job, failure)
				end(job, autoshardv1.JobState_JOB_STATE_FAILED)
			}
		})
		if err == nil {
			return
		}
		a.options.Logger.Error("the end of a job is not written down", "job", a.id, "error", err)
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
			return
		}
	}
}
