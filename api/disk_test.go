package api

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
)

// fullDisk is the environment variable that makes the disk of a server full, until it gets SIGUSR1.
const fullDisk = "AUTOSHARD_TEST_FULL_DISK"

// fillDisk lets no file of the process grow beyond a bound.
func fillDisk() {
	const room = 1 << 20
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		panic(err)
	}
	before := limit.Cur
	set := func(size uint64) {
		limit.Cur = size
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			panic(err)
		}
	}
	set(room)
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGUSR1)
	go func() {
		<-again
		set(before)
	}()
}

// Where the disk is full, jobs are refused by a clear error, and all else goes on: plans are answered though the cache cannot keep them,
// and jobs that were accepted are there. When there is room again, each of them ends with its answer, and new ones are taken.
func TestFullDisk(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs")
	server, url := killable(t, file, fullDisk+"=1")
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	c := autoshardv1connect.NewAutoshardServiceClient(httpClient(t, false), url)
	large := func(i int) *autoshardv1.PlanRequest {
		r := textRequest(sum)
		r.FileName, r.Source = fmt.Sprint(i), &autoshardv1.PlanRequest_Text{Text: sum + strings.Repeat(" ", 200<<10)}
		return r
	}
	var accepted []string
	var refused error
	for i := 0; refused == nil && i < 100; i++ {
		started, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: large(i)})
		if refused = err; err == nil {
			accepted = append(accepted, started.Job.Id)
		}
	}
	if connect.CodeOf(refused) != connect.CodeUnavailable || !strings.Contains(refused.Error(), "the store of jobs cannot be") {
		t.Fatalf("after %d jobs: %v", len(accepted), refused)
	}
	for i := range 3 {
		got, err := c.Plan(t.Context(), large(i))
		if err != nil || got.GetPlan() == nil {
			t.Errorf("a plan beside a full disk: %v, %v", got.GetPlan(), err)
		}
	}
	for _, id := range accepted {
		if got, err := c.GetJob(t.Context(), &autoshardv1.GetJobRequest{Id: id}); err != nil || got.Job.Id != id {
			t.Errorf("job %s: %v, %v", id, got.GetJob(), err)
		}
	}
	if err := server.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	for _, id := range accepted {
		if job := watched(t, c, id); job.GetState() != autoshardv1.JobState_JOB_STATE_DONE {
			t.Errorf("job is %v", job)
		}
	}
	again, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: large(0)})
	for range 100 { // the signal may come later than the request
		if err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
		again, err = c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: large(0)})
	}
	if err != nil {
		t.Errorf("with room again: %v", err)
	} else if job := watched(t, c, again.Job.Id); job.GetState() != autoshardv1.JobState_JOB_STATE_DONE {
		t.Errorf("job is %v", job)
	}
}

// A server whose disk is read-only since it last ran says so where something is to be written, and does all else: plans are made, those of
// the cache are found, and jobs that ended have their answers.
func TestReadOnlyDisk(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "jobs")
	server, url := killable(t, file)
	c := autoshardv1connect.NewAutoshardServiceClient(httpClient(t, false), url)
	started, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: textRequest(sum)})
	if err != nil {
		t.Fatal(err)
	}
	watched(t, c, started.Job.Id)
	_ = server.Process.Kill()
	_ = server.Wait()

	// In a namespace of its own, where anybody may mount.
	const frozen = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"`
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", frozen, dir, "true").CombinedOutput(); err != nil {
		t.Skipf("no read-only disk can be made here: %v, %s", err, out)
	}
	server, url = killableBy(t, exec.Command("unshare", "-rm", "sh", "-c", frozen, dir, os.Args[0]), file)
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	c = autoshardv1connect.NewAutoshardServiceClient(httpClient(t, false), url)
	_, err = c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: textRequest(sum)})
	if connect.CodeOf(err) != connect.CodeUnavailable || !strings.Contains(err.Error(), "the store of jobs cannot be") {
		t.Errorf("a job: %v", err)
	}
	got, err := c.GetJob(t.Context(), &autoshardv1.GetJobRequest{Id: started.Job.Id, Result: true})
	if err != nil || got.GetResult().GetPlan() == nil {
		t.Errorf("the job of before: %v, %v", got, err)
	}
	known, err := c.Plan(t.Context(), textRequest(sum))
	if err != nil || !known.GetCached() {
		t.Errorf("the plan of before: cached is %v, error %v", known.GetCached(), err)
	}
	other := textRequest(sum)
	other.Mesh = mesh("x", 2)
	if made, err := c.Plan(t.Context(), other); err != nil || made.GetPlan() == nil {
		t.Errorf("another plan: %v", err)
	}
}
