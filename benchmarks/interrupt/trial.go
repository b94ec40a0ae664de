package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"autoshard"
)

// job is a model on a mesh, and what is known of it without a search.
type job struct {
	file, mesh string
	steps      int64         // most of a trial
	quick      time.Duration // from the start to the end of a plan without search
	peaks      []int64       // bytes of the baselines, the smallest first
}

func (j *job) name() string {
	base, _, _ := strings.Cut(filepath.Base(j.file), ".")
	return base + " on " + j.mesh
}

// kind is what cuts a trial short.
type kind string

const (
	steps    kind = "steps"
	timeout  kind = "timeout"
	signal   kind = "interrupt"
	deadline kind = "deadline of a request"
)

var kinds = []kind{steps, timeout, signal, deadline}

// unlimited is more memory than any plan needs.
const unlimited = int64(1) << 50

// trial is one interruption.
type trial struct {
	number int
	job    *job
	kind   kind
	steps  int64
	after  time.Duration // the timeout, deadline or interrupt
	memory int64
	search int64 // memory to search with
}

// runner runs trials.
type runner struct {
	options
	dir, self string
	jobs      []job
	service   *service
	results   []result
}

// trial returns a trial, which depends on nothing but the seed and its number.
func (r *runner) trial(number int) trial {
	rng := rand.New(rand.NewPCG(r.seed, uint64(number)))
	t := trial{number: number, job: &r.jobs[rng.IntN(len(r.jobs))], kind: kinds[rng.IntN(len(kinds))], memory: unlimited,
		search: autoshard.DefaultSearchMemory}
	t.steps = between(rng, 1, t.job.steps)
	earliest, latest := time.Millisecond, 3*time.Second
	if t.kind == signal {
		earliest = starting
	}
	t.after = time.Duration(between(rng, int64(earliest), int64(latest)))
	if p := t.job.peaks; rng.IntN(2) == 0 && len(p) > 0 {
		t.memory = between(rng, p[0]/2, p[len(p)-1]+p[len(p)-1]/8)
	}
	if rng.IntN(4) == 0 {
		t.search = between(rng, 1<<20, autoshard.DefaultSearchMemory)
	}
	return t
}

// between returns a number from lo to hi whose logarithm is even.
func between(rng *rand.Rand, lo, hi int64) int64 {
	return int64(float64(lo) * math.Exp(rng.Float64()*math.Log(float64(hi)/float64(lo))))
}

// args are those of the command, but for what cuts it short.
func (t *trial) args(out string) []string {
	return []string{"plan", t.job.file, "--mesh", t.job.mesh, "--hardware", "tpu-v5p", "--progress=never", "-o", out,
		"--memory", fmt.Sprint(t.memory), "--search-memory", fmt.Sprint(t.search)}
}

// prepare finds out what is known of a job without a search, and how long that takes: the slowest of some runs counts.
func (r *runner) prepare(ctx context.Context, j *job) error {
	const runs = 3
	for range runs {
		t := trial{job: j, memory: unlimited, search: autoshard.DefaultSearchMemory}
		out := filepath.Join(r.dir, "known.json")
		ran := r.command(ctx, append(t.args(out), "--timeout", "1ms"), 0)
		if ran.code != 0 {
			return fmt.Errorf("exit code %d: %s", ran.code, ran.said)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			return err
		}
		p, err := autoshard.ReadPlan(ctx, out, text)
		if err != nil {
			return err
		}
		j.quick, j.peaks = max(j.quick, ran.took), nil
		for _, b := range p.Baselines {
			if b.Estimate.PeakBytes > 0 {
				j.peaks = append(j.peaks, b.Estimate.PeakBytes)
			}
		}
		slices.Sort(j.peaks)
	}
	return nil
}

// one runs a trial and notes what came of it.
func (r *runner) one(ctx context.Context, number int) {
	t := r.trial(number)
	var a result
	switch t.kind {
	case steps:
		a = r.steps(ctx, &t)
	case timeout:
		ran := r.command(ctx, append(t.args(r.out("plan")), "--timeout", t.after.String()), 0)
		a = r.check(ctx, &t, ran, r.out("plan"))
		a.late = ran.took - max(t.after, t.job.quick)
	case signal:
		ran := r.command(ctx, t.args(r.out("plan")), t.after)
		a = r.check(ctx, &t, ran, r.out("plan"))
		a.late = ran.took - max(t.after, t.job.quick)
	case deadline:
		a = r.service.plan(ctx, &t)
	}
	a.trial = t
	if a.late > r.most && a.err == nil {
		a.err = fmt.Errorf("the answer comes %v late", a.late)
	}
	r.results = append(r.results, a)
	if a.err != nil {
		fmt.Fprintf(os.Stderr, "trial %d (%s, %s, %d steps, after %v, %d bytes, %d to search with): %v\n", number, t.job.name(), t.kind,
			t.steps, t.after, t.memory, t.search, a.err)
	}
}

func (r *runner) out(name string) string { return filepath.Join(r.dir, name+".json") }
