package api

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/api/gen/autoshard/v1/autoshardv1connect"
	"autoshard/api/jobs"
	"autoshard/api/plancache"
)

var kills = flag.Int("kills", 5, "how often a server with jobs is killed")

// serveJobs is the environment variable that makes this test binary a server; it names the file of its jobs.
const serveJobs = "AUTOSHARD_TEST_SERVE_JOBS"

// serveUntilKilled serves, and says where on standard output.
func serveUntilKilled(file string) int {
	store, err := jobs.Open(file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cache, err := plancache.Open(file+".plans", plancache.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if os.Getenv(fullDisk) != "" {
		fillDisk()
	}
	fmt.Println("http://" + l.Addr().String())
	_ = New(Options{Jobs: store, Cache: cache}).Serve(context.Background(), l)
	return 0
}

// withJobs is a server with jobs in a new file.
func withJobs(t *testing.T, o Options) *running {
	t.Helper()
	store, err := jobs.Open(filepath.Join(t.TempDir(), "jobs"))
	if err != nil {
		t.Fatal(err)
	}
	o.Jobs = store
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return start(t, o, nil)
}

// watched waits for the end of a job.
func watched(t *testing.T, c autoshardv1connect.AutoshardServiceClient, id string) *autoshardv1.Job {
	t.Helper()
	stream, err := c.WatchJob(t.Context(), &autoshardv1.WatchJobRequest{Id: id})
	if err != nil {
		t.Fatal(err)
	}
	var last *autoshardv1.Job
	for stream.Receive() {
		last = stream.Msg().Job
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	_ = stream.Close()
	return last
}

// A job gives the plan that a request gives, and errors have their diagnostics.
func TestJobs(t *testing.T) {
	c := client(t, withJobs(t, Options{}))
	want, err := c.Plan(t.Context(), trained(t))
	if err != nil {
		t.Fatal(err)
	}
	started, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: trained(t), RequestId: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if job := watched(t, c, started.Job.Id); job.State != autoshardv1.JobState_JOB_STATE_DONE || job.Attempts != 1 {
		t.Errorf("job is %v", job)
	}
	got, err := c.GetJob(t.Context(), &autoshardv1.GetJobRequest{Id: started.Job.Id, Result: true})
	if err != nil || got.GetResult().GetPlan().GetHashes().GetPlan() != want.Plan.Hashes.Plan {
		t.Errorf("plan of the job is %v, error %v", got.GetResult().GetPlan().GetHashes(), err)
	}
	wrong, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: textRequest("func.func")})
	if err != nil {
		t.Fatal(err)
	}
	if job := watched(t, c, wrong.Job.Id); job.State != autoshardv1.JobState_JOB_STATE_FAILED || job.Code != "invalid_argument" ||
		len(job.Diagnostics) == 0 {
		t.Errorf("job is %v", job)
	}
	listed, err := c.ListJobs(t.Context(), &autoshardv1.ListJobsRequest{PageSize: 1})
	if err != nil || len(listed.Jobs) != 1 || listed.Jobs[0].Id != wrong.Job.Id || listed.NextPageToken == "" {
		t.Errorf("jobs are %v, error %v", listed, err)
	}
	if _, err := c.GetJob(t.Context(), &autoshardv1.GetJobRequest{Id: "none"}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("unknown job: %v", err)
	}
	if _, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: textRequest(sum), RequestId: "mine"}); connect.CodeOf(err) !=
		connect.CodeAlreadyExists {
		t.Errorf("id of another request: %v", err)
	}
	if _, err := client(t, start(t, Options{}, nil)).ListJobs(t.Context(), &autoshardv1.ListJobsRequest{}); connect.CodeOf(err) !=
		connect.CodeUnimplemented {
		t.Errorf("a server without jobs: %v", err)
	}
}

// A job has the name of who started it.
func TestClientsOfJobs(t *testing.T) {
	c := client(t, withJobs(t, Options{Tokens: []Token{{Name: "ann", Secret: "one"}, {Name: "bob", Secret: "two"}}}))
	var listed *autoshardv1.ListJobsResponse
	for _, secret := range []string{"one", "two"} {
		ctx, info := connect.NewClientContext(t.Context())
		info.RequestHeader().Set("Authorization", "Bearer "+secret)
		if _, err := c.StartJob(ctx, &autoshardv1.StartJobRequest{Plan: textRequest(sum)}); err != nil {
			t.Fatal(err)
		}
		var err error
		if listed, err = c.ListJobs(ctx, &autoshardv1.ListJobsRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(listed.Jobs) != 2 || listed.Jobs[0].Client != "bob" || listed.Jobs[1].Client != "ann" {
		t.Errorf("jobs are %v", listed.Jobs)
	}
	c = client(t, withJobs(t, Options{}))
	if started, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: textRequest(sum)}); err != nil ||
		started.Job.Client != "127.0.0.1" {
		t.Errorf("without tokens: %v, %v", started.GetJob(), err)
	}
}

// As many jobs wait as may; one that is sent again is none more. Requests about jobs are logged and counted as others are.
func TestTooManyJobs(t *testing.T) {
	r := withJobs(t, Options{MaxJobs: 2})
	c := client(t, r)
	start := func(id string) (*autoshardv1.StartJobResponse, error) {
		return c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: endless(t), RequestId: id})
	}
	first, err := start("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := start("b"); err != nil {
		t.Fatal(err)
	}
	if _, err := start("c"); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("a third job: %v", err)
	}
	if again, err := start("a"); err != nil || again.Job.Id != first.Job.Id {
		t.Errorf("the first one again: %v", err)
	}
	if _, err := c.CancelJob(t.Context(), &autoshardv1.CancelJobRequest{Id: first.Job.Id}); err != nil {
		t.Fatal(err)
	}
	if _, err := start("c"); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if log := r.log.String(); !strings.Contains(log, "StartJob") || !strings.Contains(log, "code=resource_exhausted") {
		t.Errorf("log is %s", log)
	}
}

// Any number of seconds is a time that a job has, also one that no clock counts.
func TestLongJobs(t *testing.T) {
	c := client(t, withJobs(t, Options{}))
	for _, seconds := range []float64{1e12, math.MaxFloat64} {
		started, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: textRequest(sum), Seconds: seconds})
		if err != nil {
			t.Fatal(err)
		}
		if job := watched(t, c, started.Job.Id); job.State != autoshardv1.JobState_JOB_STATE_DONE {
			t.Errorf("in %g seconds: %v", seconds, job)
		}
	}
}

// A job is canceled while a long search runs, keeps its first plan, and frees its slot.
func TestCancelJob(t *testing.T) {
	r := withJobs(t, Options{})
	c := client(t, r)
	started, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: endless(t)})
	if err != nil {
		t.Fatal(err)
	}
	kept := func() bool {
		got, err := c.GetJob(t.Context(), &autoshardv1.GetJobRequest{Id: started.Job.Id})
		return err == nil && got.Job.HasResult
	}
	for deadline := time.Now().Add(30 * time.Second); !kept(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no plan is kept")
		}
	}
	if canceled, err := c.CancelJob(t.Context(), &autoshardv1.CancelJobRequest{Id: started.Job.Id}); err != nil || canceled.Job.State !=
		autoshardv1.JobState_JOB_STATE_CANCELED {
		t.Errorf("job is %v, error %v", canceled, err)
	}
	got, err := c.GetJob(t.Context(), &autoshardv1.GetJobRequest{Id: started.Job.Id, Result: true})
	if err != nil || got.Result.GetPlan() == nil {
		t.Errorf("result is %v, error %v", got.GetResult(), err)
	}
	if next, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: textRequest(sum)}); err != nil ||
		watched(t, c, next.Job.Id).State != autoshardv1.JobState_JOB_STATE_DONE {
		t.Errorf("the next job: %v", err)
	}
}

// endless is a request whose search goes on for long.
func endless(t *testing.T) *autoshardv1.PlanRequest {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "examples", "transformer_train.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	request := textRequest(string(text))
	request.Mesh = append(mesh("data", 4), mesh("model", 2)...)
	request.Memory, request.Steps = 700_000, 1<<50
	return request
}

// Servers are killed at random moments, and every job that was accepted ends with its one answer, that of a server that lives.
func TestKilledServers(t *testing.T) {
	c := client(t, start(t, Options{}, nil))
	want, err := c.Plan(t.Context(), trained(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "jobs")
	accepted := map[string]string{} // ids by request
	for i := range *kills + 1 {
		server, url := killable(t, file)
		c := autoshardv1connect.NewAutoshardServiceClient(httpClient(t, false), url)
		for j := range 2 {
			name := fmt.Sprint(i, "-", j)
			started, err := c.StartJob(t.Context(), &autoshardv1.StartJobRequest{Plan: trained(t), RequestId: name})
			if err != nil {
				t.Fatal(err)
			}
			accepted[name] = started.Job.Id
		}
		if i < *kills {
			time.Sleep(rand.N(300 * time.Millisecond))
			if err := server.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = server.Wait()
			continue
		}
		for name, id := range accepted {
			job := watched(t, c, id)
			got, err := c.GetJob(t.Context(), &autoshardv1.GetJobRequest{Id: id, Result: true})
			if err != nil {
				t.Fatal(err)
			}
			same := got.GetResult().GetPlan().GetHashes().GetPlan() == want.Plan.Hashes.Plan
			if job.State != autoshardv1.JobState_JOB_STATE_DONE && job.Attempts <= 5 || job.State == autoshardv1.JobState_JOB_STATE_DONE && !same {
				t.Errorf("job %s is %v, plan %v, want %v", name, job, got.GetResult().GetPlan().GetHashes(), want.Plan.Hashes)
			}
		}
		listed, err := c.ListJobs(t.Context(), &autoshardv1.ListJobsRequest{PageSize: 1000})
		if err != nil || len(listed.Jobs) != len(accepted) {
			t.Errorf("%d jobs for %d requests, error %v", len(listed.GetJobs()), len(accepted), err)
		}
		if err := server.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = server.Wait()
	}
}

// killable starts a server of its own process.
func killable(t *testing.T, file string, env ...string) (*exec.Cmd, string) {
	t.Helper()
	return killableBy(t, exec.Command(os.Args[0]), file, env...)
}

// killableBy starts a server by a command.
func killableBy(t *testing.T, server *exec.Cmd, file string, env ...string) (*exec.Cmd, string) {
	t.Helper()
	server.Env = append(append(os.Environ(), serveJobs+"="+file), env...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	line := bufio.NewScanner(out)
	if !line.Scan() {
		t.Fatal("the server says nothing")
	}
	return server, line.Text()
}

// A job that has its time goes on from the best plan that an earlier process kept, and gives none that is worse; one without begins anew,
// and gives the plan of a request.
func TestResumedSearches(t *testing.T) {
	s := New(Options{}).service
	earlier, err := s.Plan(t.Context(), trained(t))
	if err != nil {
		t.Fatal(err)
	}
	task := jobs.Task{Request: trained(t), Earlier: earlier, Report: func(*autoshardv1.Progress) {},
		Keep: func(*autoshardv1.PlanResponse) { t.Error("a plan is kept again") }}
	anew, err := s.background(t.Context(), &task)
	if err != nil || anew.Plan.Hashes.Plan != earlier.Plan.Hashes.Plan {
		t.Errorf("without a time: %v, error %v", anew.GetPlan().GetHashes(), err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var kept []*autoshardv1.PlanResponse
	task.Keep = func(r *autoshardv1.PlanResponse) { kept = append(kept, r) }
	timed, err := s.background(ctx, &task)
	if err != nil || len(kept) != len(checkpoints) {
		t.Fatalf("%d plans are kept, error %v", len(kept), err)
	}
	cost := earlier.Plan.Certificate.Cost
	for i, r := range append(kept, timed) {
		if r.Plan.Options.From == "" || r.Plan.Certificate.Cost > cost {
			t.Errorf("plan %d costs %d after %d, and began with %q", i, r.Plan.Certificate.Cost, cost, r.Plan.Options.From)
		}
		cost = r.Plan.Certificate.Cost
	}
}
