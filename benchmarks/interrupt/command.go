package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"autoshard"
	"autoshard/internal/diag"
)

// patience is how long a trial may take that nothing ends but its steps.
const patience = 2 * time.Minute

// ran is a command that ended.
type ran struct {
	code   int
	took   time.Duration
	said   string // on standard error
	unborn bool   // the system ended it before it listened to signals
}

// command runs the command line, with variables of the environment, and interrupts it after some time; 0: never.
func (r *runner) command(ctx context.Context, args []string, after time.Duration, env ...string) ran {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.self, args...)
	cmd.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return ran{code: -1, said: err.Error()}
	}
	if after > 0 {
		defer time.AfterFunc(after, func() { cmd.Process.Signal(os.Interrupt) }).Stop()
	}
	cmd.Wait() // how it ended is in its state
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	unborn := status.Signaled() && status.Signal() == syscall.SIGINT && after < begun
	return ran{cmd.ProcessState.ExitCode(), time.Since(start), said.String(), unborn}
}

// starting is the time after which a process listens to signals, before that the system ends it; begun that after which it does so on
// any machine that is busy with other work.
const starting, begun = 20 * time.Millisecond, 500 * time.Millisecond

// result is what came of a trial.
type result struct {
	trial   trial
	outcome string
	late    time.Duration // how long after the interruption the answer came; negative if before
	timed   bool          // late counts
	err     error         // why it is wrong
}

// check judges how a command ended.
func (r *runner) check(ctx context.Context, t *trial, ran ran, out string) result {
	a := result{timed: t.kind != steps}
	defer os.Remove(out)
	switch ran.code {
	case diag.ExitOK:
		a.outcome = "plan"
		var text []byte
		if text, a.err = os.ReadFile(out); a.err != nil {
			return a
		}
		var p *autoshard.Plan
		if p, a.err = autoshard.ReadPlan(ctx, out, text); a.err != nil {
			return a
		}
		a.outcome += ", " + p.Certificate.Status
		a.err = valid(ctx, t, p)
		return a
	case diag.ExitInfeasible:
		a.outcome = "none fits"
	case diag.ExitDeadline:
		a.outcome = "no plan in time"
	case diag.ExitCanceled:
		a.outcome = "interrupted before there was a plan"
	default:
		if a.outcome = "interrupted before it began"; !ran.unborn {
			a.err = fmt.Errorf("exit code %d: %s", ran.code, beginning(ran.said))
		}
		return a
	}
	if !strings.Contains(ran.said, "error: ") && ran.code != diag.ExitCanceled {
		a.err = fmt.Errorf("exit code %d says %q", ran.code, ran.said)
	} else if t.memory >= t.job.peaks[0] && ran.code != diag.ExitCanceled {
		a.err = fmt.Errorf("a baseline fits: %s", ran.said)
	}
	return a
}

// beginning returns the first lines of what a command says: the error, and of a stack where it broke.
func beginning(text string) string {
	const most = 20
	lines := strings.SplitAfterN(text, "\n", most+1)
	return strings.Join(lines[:min(len(lines), most)], "")
}

// valid says what is wrong with a plan.
func valid(ctx context.Context, t *trial, p *autoshard.Plan) error {
	var wrong []error
	fits := false // from the beginning; to find a plan that fits may take more steps
	for _, b := range p.Baselines {
		fits = fits || b.Fits
		if b.Fits && b.Note == "" && b.Estimate.Seconds < p.Estimate.Seconds {
			wrong = append(wrong, fmt.Errorf("baseline %s takes %g s, the plan %g s", b.Name, b.Estimate.Seconds, p.Estimate.Seconds))
		}
	}
	if p.Estimate.PeakBytes > t.memory {
		wrong = append(wrong, fmt.Errorf("the plan needs %d bytes of %d", p.Estimate.PeakBytes, t.memory))
	}
	c := p.Certificate
	if float64(c.Cost)/1e12 != p.Estimate.Seconds || c.Bound > c.Cost || c.Bound <= 0 || t.kind == steps && c.Steps > t.steps && fits {
		wrong = append(wrong, fmt.Errorf("the step time is %g s, the certificate %+v", p.Estimate.Seconds, c))
	}
	_, err := p.Lowered(ctx)
	return errors.Join(append(wrong, err)...)
}

// steps runs a trial with one processor and with two, which must end alike.
func (r *runner) steps(ctx context.Context, t *trial) result {
	var first ran
	var plan []byte
	for procs := 1; procs <= 2; procs++ {
		out := r.out("plan")
		again := r.command(ctx, append(t.args(out), "--steps", fmt.Sprint(t.steps)), 0, fmt.Sprintf("GOMAXPROCS=%d", procs))
		text, err := os.ReadFile(out)
		if err != nil && again.code == diag.ExitOK {
			return result{err: err}
		}
		if procs == 1 {
			first, plan = again, text
			continue
		}
		a := r.check(ctx, t, again, out)
		if first.code != again.code || first.said != again.said || !bytes.Equal(plan, text) {
			a.err = errors.Join(a.err, fmt.Errorf("GOMAXPROCS=2 ends differently: exit codes %d and %d, %d and %d bytes, %q and %q", first.code,
				again.code, len(plan), len(text), first.said, again.said))
		}
		return a
	}
	return result{}
}
