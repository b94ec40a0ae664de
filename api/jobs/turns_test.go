package jobs

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
)

// inTurn works on one job at a time, when the test lets it, and says which.
type inTurn struct{ began, ends chan string }

func newInTurn() *inTurn { return &inTurn{make(chan string), make(chan string)} }

func (w *inTurn) work(ctx context.Context, task *Task) (*autoshardv1.PlanResponse, error) {
	select {
	case w.began <- task.Client + task.Request.GetText():
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case text := <-w.ends:
		return answer(text), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// order ends the job that is worked on, and those after it until so many have begun, and returns these.
func (w *inTurn) order(n int) (names []string) {
	for range n {
		w.ends <- ""
		names = append(names, <-w.began)
	}
	return names
}

// Clients take turns, whoever came first with however many jobs, and also when another process goes on. What was canceled takes none.
func TestClientsTakeTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs")
	store, work := open(t, path), newInTurn()
	r, stop := runs(t, store, work.work, Options{})
	begin := func(client, text string) string {
		job, err := r.Start(client, request(text))
		if err != nil || job.Client != client {
			t.Fatalf("job is %v, error %v", job, err)
		}
		return job.Id
	}
	begin("a", "0")
	if got := <-work.began; got != "a0" {
		t.Fatalf("at first %s", got)
	}
	canceled := begin("a", "canceled")
	for _, text := range []string{"1", "2", "3", "4", "5"} {
		begin("a", text)
	}
	for _, text := range []string{"1", "2", "3"} {
		begin("b", text)
	}
	begin("c", "1")
	if _, err := r.Cancel(canceled); err != nil {
		t.Fatal(err)
	}
	if got, want := work.order(4), []string{"a1", "b1", "c1", "a2"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	stop()
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	work = newInTurn()
	runs(t, open(t, path), work.work, Options{})
	if got, want := append([]string{<-work.began}, work.order(5)...), []string{"a2", "b2", "a3", "b3", "a4", "a5"}; !slices.Equal(got, want) {
		t.Errorf("the order in the next process is %v, want %v", got, want)
	}
}

// Jobs of files from before clients were kept are those of one client.
func TestJobsOfNobody(t *testing.T) {
	store, work := open(t, filepath.Join(t.TempDir(), "jobs")), newInTurn()
	for _, job := range [][2]string{{"", "1"}, {"", "2"}, {"", "3"}, {"a", "1"}, {"a", "2"}} {
		if _, _, err := store.Add(job[0], request(job[1]), time.Now(), 100); err != nil {
			t.Fatal(err)
		}
	}
	runs(t, store, work.work, Options{})
	if got, want := append([]string{<-work.began}, work.order(4)...), []string{"1", "a1", "2", "a2", "3"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}

// A request that is sent again is the job of who sent it first.
func TestClientOfRequestSentAgain(t *testing.T) {
	r := NewRunner(open(t, filepath.Join(t.TempDir(), "jobs")), nil, Options{})
	first := request("a")
	first.RequestId = "mine"
	job, err := r.Start("a", first)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := r.Start("b", first); err != nil || again.Id != job.Id || again.Client != "a" {
		t.Errorf("again: %v, %v", again, err)
	}
}
