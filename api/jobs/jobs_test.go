package jobs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func request(text string) *autoshardv1.StartJobRequest {
	return &autoshardv1.StartJobRequest{Plan: &autoshardv1.PlanRequest{Source: &autoshardv1.PlanRequest_Text{Text: text}}}
}

func answer(text string) *autoshardv1.PlanResponse { return &autoshardv1.PlanResponse{Annotated: text} }

// runs runs the jobs of a store until the test ends, or what it returns is called.
func runs(t *testing.T, s *Store, work Work, o Options) (*Runner, func()) {
	t.Helper()
	r := NewRunner(s, work, o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	var stopped atomic.Bool
	stop := func() {
		if stopped.Swap(true) {
			return
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return r, stop
}

// ended waits for the end of a job.
func ended(t *testing.T, r *Runner, id string) (job *autoshardv1.Job) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := r.Watch(ctx, id, func(j *autoshardv1.Job) error { job = j; return nil }); err != nil {
		t.Fatalf("job %v: %v", job, err)
	}
	return job
}

func echo(_ context.Context, task *Task) (*autoshardv1.PlanResponse, error) {
	task.Report(&autoshardv1.Progress{Stage: "echo"})
	return answer(task.Request.GetText()), nil
}

// Every job gets its own answer, with several workers.
func TestAnswers(t *testing.T) {
	r, _ := runs(t, open(t, filepath.Join(t.TempDir(), "jobs")), echo, Options{Workers: 4})
	ids := map[string]string{}
	for i := range 20 {
		job, err := r.Start("", request(fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		ids[job.Id] = fmt.Sprint(i)
	}
	if len(ids) != 20 {
		t.Errorf("%d ids for 20 jobs", len(ids))
	}
	for id, text := range ids {
		job := ended(t, r, id)
		result, err := r.Result(id)
		if err != nil || job.State != autoshardv1.JobState_JOB_STATE_DONE || !job.HasResult || result.GetAnnotated() != text {
			t.Errorf("job %v: result %v, error %v", job, result, err)
		}
	}
	page, err := r.List("", 8)
	if err != nil || len(page) != 8 || page[0].Id <= page[7].Id {
		t.Errorf("first page: %v, %v", page, err)
	}
	if next, err := r.List(page[7].Id, 100); err != nil || len(next) != 12 || next[0].Id >= page[7].Id {
		t.Errorf("next page: %v, %v", next, err)
	}
}

// A request that is sent again starts nothing; its id is taken for other ones.
func TestRequestIDs(t *testing.T) {
	r, _ := runs(t, open(t, filepath.Join(t.TempDir(), "jobs")), echo, Options{})
	first := request("a")
	first.RequestId = "mine"
	job, err := r.Start("", first)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.Start("", first); err != nil || again.Id != job.Id {
		t.Errorf("again: %v, %v", again, err)
	}
	other := request("b")
	other.RequestId = "mine"
	if _, err := r.Start("", other); !errors.Is(err, ErrReused) {
		t.Errorf("another request: %v", err)
	}
	if _, err := r.Job("nothing"); !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown job: %v", err)
	}
}

// A job whose process ended goes on in the next one, with what was kept.
func TestResumption(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs")
	store := open(t, path)
	began := make(chan bool, 1)
	first, stop := runs(t, store, func(ctx context.Context, task *Task) (*autoshardv1.PlanResponse, error) {
		task.Keep(answer("kept"))
		began <- task.Earlier != nil
		<-ctx.Done()
		return nil, ctx.Err()
	}, Options{})
	job, err := first.Start("", request("a"))
	if err != nil {
		t.Fatal(err)
	}
	if <-began {
		t.Error("the first attempt goes on with something")
	}
	if kept, err := first.Result(job.Id); err != nil || kept.GetAnnotated() != "kept" {
		t.Errorf("kept is %v, %v", kept, err)
	}
	watching := make(chan error, 1)
	go func() { watching <- first.Watch(t.Context(), job.Id, func(*autoshardv1.Job) error { return nil }) }()
	stop()
	if err := <-watching; !errors.Is(err, ErrStopped) {
		t.Errorf("watching ends by %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	second, _ := runs(t, open(t, path), func(_ context.Context, task *Task) (*autoshardv1.PlanResponse, error) {
		return answer("resumed from " + task.Earlier.GetAnnotated()), nil
	}, Options{})
	if job := ended(t, second, job.Id); job.State != autoshardv1.JobState_JOB_STATE_DONE || job.Attempts != 1 {
		t.Errorf("job is %v", job)
	}
	if result, err := second.Result(job.Id); err != nil || result.GetAnnotated() != "resumed from kept" {
		t.Errorf("result is %v, %v", result, err)
	}
}

// A job that was canceled ends at once, keeps what it has, and gets no other answer.
func TestCancel(t *testing.T) {
	began, ends := make(chan bool, 1), make(chan error, 1)
	r, _ := runs(t, open(t, filepath.Join(t.TempDir(), "jobs")), func(ctx context.Context, task *Task) (*autoshardv1.PlanResponse, error) {
		task.Keep(answer("kept"))
		began <- true
		<-ctx.Done()
		ends <- context.Cause(ctx)
		return answer("late"), nil
	}, Options{})
	job, err := r.Start("", request("a"))
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := r.Start("", request("b"))
	if err != nil {
		t.Fatal(err)
	}
	<-began
	for _, id := range []string{waiting.Id, job.Id, job.Id} {
		if got, err := r.Cancel(id); err != nil || got.State != autoshardv1.JobState_JOB_STATE_CANCELED {
			t.Errorf("canceled: %v, %v", got, err)
		}
	}
	if err := <-ends; !errors.Is(err, errCanceled) {
		t.Errorf("work ended by %v", err)
	}
	if result, err := r.Result(job.Id); err != nil || result.GetAnnotated() != "kept" || ended(t, r, job.Id).State !=
		autoshardv1.JobState_JOB_STATE_CANCELED {
		t.Errorf("result is %v, %v", result, err)
	}
}

// Failures are written down; where the time is up, what is kept is the answer.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		kept  bool
		err   error
		state autoshardv1.JobState
	}{
		{false, errors.New("no"), autoshardv1.JobState_JOB_STATE_FAILED},
		{true, errors.New("no"), autoshardv1.JobState_JOB_STATE_FAILED},
		{true, context.DeadlineExceeded, autoshardv1.JobState_JOB_STATE_DONE},
		{false, context.DeadlineExceeded, autoshardv1.JobState_JOB_STATE_FAILED},
	} {
		r, _ := runs(t, open(t, filepath.Join(t.TempDir(), "jobs")), func(_ context.Context, task *Task) (*autoshardv1.PlanResponse, error) {
			if c.kept {
				task.Keep(answer("kept"))
			}
			return nil, c.err
		}, Options{})
		limited := request("a")
		limited.Seconds = 100
		job, err := r.Start("", limited)
		if err != nil {
			t.Fatal(err)
		}
		if got := ended(t, r, job.Id); got.State != c.state || got.HasResult != c.kept || (got.Message == "") != (c.state !=
			autoshardv1.JobState_JOB_STATE_FAILED) {
			t.Errorf("%+v: job is %v", c, got)
		}
	}
}

// What ended long ago, or is too much, is forgotten; what has not ended is not.
func TestPrune(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "jobs"))
	for i := range 5 {
		r := request(fmt.Sprint(i))
		r.RequestId = fmt.Sprint("r", i)
		job, _, err := s.Add("", r, time.Now(), 100)
		if err != nil {
			t.Fatal(err)
		}
		if i < 4 {
			if _, err := s.Change(job.Id, answer("x"), func(j *autoshardv1.Job) { end(j, autoshardv1.JobState_JOB_STATE_DONE) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := s.Prune(time.Now().Add(-time.Hour), 3); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List("", 10); err != nil || len(list) != 3 {
		t.Errorf("%v, %v", list, err)
	}
	if err := s.Prune(time.Now().Add(time.Hour), 3); err != nil {
		t.Fatal(err)
	}
	if list, err := s.List("", 10); err != nil || len(list) != 1 || Ended(list[0]) {
		t.Errorf("%v, %v", list, err)
	}
	if job, added, err := s.Add("", &autoshardv1.StartJobRequest{RequestId: "r0"}, time.Now(), 100); err != nil || !added {
		t.Errorf("the id of a request that is forgotten: %v, %v", job, err)
	}
}

// A store that cannot be opened says so, and one that cannot be written fails requests, not the runner.
func TestBrokenStores(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "no", "folder", "jobs")); !errors.Is(err, ErrStore) {
		t.Errorf("error is %v", err)
	}
	store := open(t, filepath.Join(t.TempDir(), "jobs"))
	r, _ := runs(t, store, echo, Options{})
	job, err := r.Start("", request("a"))
	if err != nil {
		t.Fatal(err)
	}
	ended(t, r, job.Id)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Start("", request("a")); !errors.Is(err, ErrStore) {
		t.Errorf("error is %v", err)
	}
}

func ExampleStore() {
	store, err := Open(filepath.Join("no", "such", "folder"))
	fmt.Println(store == nil, errors.Is(err, ErrStore))
	// Output: true true
}
