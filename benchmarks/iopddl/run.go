package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// coresPerRun is the number of processors that the solver keeps busy.
const coresPerRun = 2

// point is a line of progress. Cost and bound count only if hasCost and hasBound.
type point struct {
	seconds           float64
	cost, bound       int64
	hasCost, hasBound bool
}

// gap returns (cost - bound) / |cost|.
func (p point) gap() float64 {
	if p.cost <= p.bound {
		return 0
	}
	return float64(p.cost-p.bound) / max(float64(p.cost), -float64(p.cost), 1)
}

// result is one run.
type result struct {
	points   []point // the last one is the answer
	status   string
	wall     time.Duration
	cpu      time.Duration
	memory   int64 // bytes, at the peak
	verified bool  // the certificate holds and proves the bound
	verify   time.Duration
}

func (r *result) last() point { return r.points[len(r.points)-1] }

// read returns when reading had ended: the solver reports a first bound at once.
func (r *result) read() float64 { return r.points[0].seconds }

// firstSolution returns the seconds after reading until the first solution.
func (r *result) firstSolution() float64 {
	for _, p := range r.points {
		if p.hasCost {
			return p.seconds - r.read()
		}
	}
	return r.last().seconds
}

// costAt returns the best cost known after some seconds; false if there was none.
func (r *result) costAt(seconds float64) (cost int64, known bool) {
	for _, p := range r.points {
		if p.seconds > seconds {
			break
		}
		cost, known = p.cost, p.hasCost
	}
	return cost, known
}

// run runs all seeds, as many at a time as the options say.
func (in *instance) run(o options, dir string) error {
	in.runs = make([]result, o.seeds)
	errs := make([]error, o.seeds)
	slots := make(chan struct{}, o.parallel)
	var wait sync.WaitGroup
	for seed := range o.seeds {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			in.runs[seed], errs[seed] = in.once(seed, o, dir)
		})
	}
	wait.Wait()
	for seed, err := range errs {
		if err != nil {
			return fmt.Errorf("%s, seed %d: %w", in.name, seed, err)
		}
	}
	return nil
}

// once runs one seed.
func (in *instance) once(seed int, o options, dir string) (result, error) {
	self, err := os.Executable()
	if err != nil {
		return result{}, err
	}
	args := []string{"solve", in.file, "--timeout", in.limit.String(), "--seed", strconv.Itoa(seed), "--progress=always", "--format", "json"}
	proof := filepath.Join(dir, fmt.Sprintf("%s-%d.json.gz", in.name, seed))
	if o.certify {
		args = append(args, "--certificate", proof)
	}
	cmd := exec.Command(self, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		return result{}, fmt.Errorf("%w: %s", err, stderr.String())
	}
	r := result{wall: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		points: parsePoints(stderr.String())}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss * 1024
	}
	if err := r.answer(out); err != nil {
		return r, err
	}
	if o.certify {
		err = r.check(self, in.file, proof)
	}
	p := r.last()
	fmt.Fprintf(os.Stderr, "%s seed %d: cost %d, bound %d, gap %.4f%%, %s, %.1f s\n", in.name, seed, p.cost, p.bound, 100*p.gap(), r.status,
		r.wall.Seconds())
	return r, err
}

// answer adds the final answer.
func (r *result) answer(out []byte) error {
	var d struct {
		Status      string
		Cost, Bound int64
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return err
	}
	if len(r.points) == 0 {
		return fmt.Errorf("no progress on standard error")
	}
	r.status = d.Status
	r.points = append(r.points, point{r.last().seconds, d.Cost, d.Bound, true, true})
	return nil
}

// check verifies the certificate in a process of its own, and that it proves the bound.
func (r *result) check(self, file, proof string) error {
	start := time.Now()
	out, err := exec.Command(self, "solve", "verify", file, proof, "--format", "json").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	r.verify = time.Since(start)
	var got struct{ Bound, Cost int64 }
	if err := json.Unmarshal(out, &got); err != nil {
		return err
	}
	if p := r.last(); got.Bound < p.bound || got.Cost != p.cost {
		return fmt.Errorf("the certificate proves bound %d of cost %d, not %d of %d", got.Bound, got.Cost, p.bound, p.cost)
	}
	r.verified = true
	return nil
}

// parsePoints reads the lines `time cost bound gap` of progress; other lines are skipped.
func parsePoints(text string) []point {
	var points []point
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 4 {
			continue
		}
		seconds, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			continue
		}
		p := point{seconds: seconds}
		p.cost, err = strconv.ParseInt(f[1], 10, 64)
		p.hasCost = err == nil
		p.bound, err = strconv.ParseInt(f[2], 10, 64)
		p.hasBound = err == nil
		points = append(points, p)
	}
	return points
}
