// Package jobs keeps work in a file until it has an answer, and does it. A job that was accepted ends with one answer, however often the
// process ends meanwhile. Clients take turns.
//
//	store, err := jobs.Open("jobs.db")
//	runner := jobs.NewRunner(store, work, jobs.Options{Workers: 2})
//	go runner.Run(ctx)
//	job, err := runner.Start("ann", request)
package jobs

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/turns"
)

// Work does a job. It ends a little before the context's deadline, with the best result so far, and with the context.
type Work func(ctx context.Context, t *Task) (*autoshardv1.PlanResponse, error)

// Task is what Work does, and how it says how far it is.
type Task struct {
	Client  string
	Request *autoshardv1.PlanRequest
	Earlier *autoshardv1.PlanResponse       // what an earlier attempt kept; nil: nothing
	Report  func(*autoshardv1.Progress)     // says how far work is
	Keep    func(*autoshardv1.PlanResponse) // keeps a result that counts if nothing better is found
}

// Options of a Runner. Zero values stand for the defaults.
type Options struct {
	Workers int                                   // jobs that are worked on at a time; default 1
	Pending int                                   // jobs that have not ended; more are refused; default 1,000
	Age     time.Duration                         // after which jobs that ended are forgotten; default 7 days
	Most    int                                   // jobs that are kept, but for those that have not ended; default 10,000
	Failure func(job *autoshardv1.Job, err error) // writes an error into a job; default: its message
	Logger  *slog.Logger                          // default: none
}

// maxAttempts bounds how often work on a job begins: one that ends the process each time is given up.
const maxAttempts = 5

// Intervals.
const (
	countEvery = 2 * time.Second        // seconds of work are written down
	retryEvery = 500 * time.Millisecond // writing is tried again where the disk refuses
	pruneEvery = time.Hour
)

// Runner works on the jobs of a store.
type Runner struct {
	store   *Store
	work    Work
	options Options

	mu       sync.Mutex
	running  map[string]context.CancelCauseFunc
	progress map[string]*autoshardv1.Progress
	changed  chan struct{} // closed when any job changes, and replaced
	queue    turns.Turns[ticket]
	wake     chan struct{} // of one: there is something in the queue
	stopped  chan struct{} // closed when Run ends
}

// ticket is the place of a job in the queue.
type ticket struct{ client, id string }

// errCanceled is why the context of a job ends that somebody canceled.
var errCanceled = errors.New("the job was canceled")

// NewRunner returns a runner of the jobs of a store. Its method Run does the work.
func NewRunner(store *Store, work Work, o Options) *Runner {
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.Pending == 0 {
		o.Pending = 1000
	}
	if o.Age == 0 {
		o.Age = 7 * 24 * time.Hour
	}
	if o.Most == 0 {
		o.Most = 10_000
	}
	if o.Failure == nil {
		o.Failure = func(job *autoshardv1.Job, err error) { job.Message = err.Error() }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Runner{store: store, work: work, options: o, running: map[string]context.CancelCauseFunc{},
		progress: map[string]*autoshardv1.Progress{}, changed: make(chan struct{}), wake: make(chan struct{}, 1),
		stopped: make(chan struct{})}
}

// Run works on jobs, those of earlier processes first, until the context ends. Jobs that it is working on then go on in the next process.
// It is called once.
func (r *Runner) Run(ctx context.Context) error {
	defer close(r.stopped)
	if r.store.ReadOnly() { // no answer could be kept
		r.options.Logger.Warn("the disk of the jobs is read-only: they wait for a server that can write it")
		<-ctx.Done()
		return nil
	}
	waiting, err := r.store.Pending()
	if err != nil {
		return err
	}
	for _, job := range waiting {
		r.enqueue(ticket{job.Client, job.Id})
	}
	var workers sync.WaitGroup
	for range r.options.Workers {
		workers.Go(func() {
			for next, ok := r.next(ctx); ok; next, ok = r.next(ctx) {
				r.do(ctx, next)
			}
		})
	}
	workers.Go(func() { r.prune(ctx) })
	workers.Wait()
	return nil
}

func (r *Runner) enqueue(t ticket) {
	r.mu.Lock()
	r.queue.Add(t.client, t)
	r.mu.Unlock()
	r.rouse()
}

func (r *Runner) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// next waits for the job whose turn it is; ok is false in the end.
func (r *Runner) next(ctx context.Context) (next ticket, ok bool) {
	for ctx.Err() == nil {
		r.mu.Lock()
		next, ok = r.queue.Take()
		more := !r.queue.Empty()
		r.mu.Unlock()
		if more {
			r.rouse() // another worker
		}
		if ok {
			return next, true
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
		}
	}
	return ticket{}, false
}

func (r *Runner) prune(ctx context.Context) {
	for {
		if err := r.store.Prune(time.Now().Add(-r.options.Age), r.options.Most); err != nil {
			r.options.Logger.Warn("old jobs are not forgotten", "error", err)
		}
		select {
		case <-time.After(pruneEvery):
		case <-ctx.Done():
			return
		}
	}
}

// Start keeps a request of a client as a job.
func (r *Runner) Start(client string, request *autoshardv1.StartJobRequest) (*autoshardv1.Job, error) {
	job, added, err := r.store.Add(client, request, time.Now(), r.options.Pending)
	if err != nil {
		return nil, err
	}
	if added {
		r.enqueue(ticket{client, job.Id})
	}
	return job, nil
}

// Job returns a job with its latest progress.
func (r *Runner) Job(id string) (*autoshardv1.Job, error) {
	job, err := r.store.Job(id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.progress[id]; p != nil {
		job.Progress = p
	}
	return job, nil
}

// Result returns the best plan that is kept of a job, nil where there is none.
func (r *Runner) Result(id string) (*autoshardv1.PlanResponse, error) { return r.store.Result(id) }

// List returns jobs, the latest first, from the one before an id on; "" is the latest.
func (r *Runner) List(before string, most int) ([]*autoshardv1.Job, error) {
	return r.store.List(before, most)
}

// Cancel ends a job. What is kept of it is its result. A job that has ended stays as it is.
func (r *Runner) Cancel(id string) (*autoshardv1.Job, error) {
	job, err := r.store.Change(id, nil, func(job *autoshardv1.Job) { end(job, autoshardv1.JobState_JOB_STATE_CANCELED) })
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	r.queue.Remove(job.Client, ticket{job.Client, id}) // it needs no turn
	if cancel := r.running[id]; cancel != nil {
		cancel(errCanceled)
	}
	r.mu.Unlock()
	r.announce()
	return job, nil
}

// Watch sends a job as it is, and each time it changes, until it has ended. The error is [ErrStopped] where Run ends before that.
func (r *Runner) Watch(ctx context.Context, id string, send func(*autoshardv1.Job) error) error {
	var last *autoshardv1.Job
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		job, err := r.Job(id)
		if err != nil {
			return err
		}
		if !proto.Equal(job, last) {
			if err := send(job); err != nil {
				return err
			}
		}
		if last = job; Ended(job) {
			return nil
		}
		select {
		case <-changed:
		case <-r.stopped:
			return ErrStopped
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// announce tells those who watch that something has changed.
func (r *Runner) announce() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.changed)
	r.changed = make(chan struct{})
}

// end ends a job.
func end(job *autoshardv1.Job, state autoshardv1.JobState) {
	job.State, job.Ended, job.Progress = state, timestamppb.Now(), nil
}
