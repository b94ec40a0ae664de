package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"autoshard/benchmarks/experts"
	"autoshard/internal/diag"
)

// result is one plan, and what it took.
type result struct {
	model      *experts.Model
	mesh       string
	wall, cpu  time.Duration
	memory     int64                    // bytes, at the peak
	phases     map[string]time.Duration // by stage
	strategies int
	proof      string // the gap, or why there is no plan
}

// timer makes plans, each at most once.
type timer struct {
	options
	out  string
	done []*result
}

// time plans a model on a mesh; the fastest round counts.
func (t *timer) time(m *experts.Model, mesh string) error {
	var best *result
	for range t.rounds {
		r, err := t.plan(m, mesh)
		if err != nil {
			return err
		}
		if best == nil || r.wall < best.wall {
			best = r
		}
	}
	fmt.Fprint(os.Stderr, best.row(best))
	t.done = append(t.done, best)
	return nil
}

// plan makes one plan in a process of its own.
func (t *timer) plan(m *experts.Model, mesh string) (*result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), t.most)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "plan", m.Path(m.File), "--mesh", axes(mesh), "--hardware", t.hardware, "--progress=always",
		"-o", t.out)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &result{model: m, mesh: mesh, phases: map[string]time.Duration{}}
	said := r.listen(stderr, start)
	err = cmd.Wait()
	r.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss * 1024
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		r.proof = "given up"
		return r, nil
	}
	if cmd.ProcessState.ExitCode() == diag.ExitInfeasible {
		r.proof = "none fits"
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	return r, r.read(t.out)
}

var (
	stage      = regexp.MustCompile(`^([a-z]+) [0-9.]+ s(?:$|:)`)
	strategies = regexp.MustCompile(`: ([0-9]+) strategies`)
)

// listen takes the time of every stage that the command reports until it ends. It returns the other lines.
func (r *result) listen(stderr io.Reader, start time.Time) (said string) {
	current, since := "read", start
	enter := func(next string) {
		now := time.Now()
		r.phases[current] += now.Sub(since)
		current, since = next, now
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		found := stage.FindStringSubmatch(lines.Text())
		if found == nil {
			said += lines.Text() + "\n"
			continue
		}
		enter(found[1])
		if n := strategies.FindStringSubmatch(lines.Text()); n != nil {
			r.strategies, _ = strconv.Atoi(n[1]) // digits
		}
	}
	enter("")
	r.wall = time.Since(start)
	return said
}

// read takes the proof from plan.json.
func (r *result) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var plan struct {
		Certificate struct {
			Gap float64
		}
	}
	if err := json.Unmarshal(text, &plan); err != nil {
		return err
	}
	r.proof = fmt.Sprintf("%.2f %%", 100*plan.Certificate.Gap)
	return nil
}
