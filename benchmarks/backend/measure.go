package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
)

// peer measures XLA and the evaluator.
//
//go:embed peer.py
var peer string

// row is one model.
type row struct {
	model     string
	here      here
	xla       theirs
	evaluator theirs
}

// theirs is what a step takes on another side.
type theirs struct {
	Seconds float64 `json:"seconds"` // of the processor
	Peer    string  `json:"peer"`    // its version
	failed  string  // why there is no time
}

// measureAll times a model on all sides.
func measureAll(ctx context.Context, m *experts.Model, o options) (row, error) {
	r := row{model: m.Name}
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	err = ask(ctx, &r.here, self, "-child", "-models", m.Name, "-rounds", strconv.Itoa(o.rounds), fmt.Sprintf("-plans=%v", o.plans))
	if err != nil {
		return r, err
	}
	return r, r.askPeers(ctx, m, o)
}

// askPeers times a model on the other sides. The evaluator does not know all ops.
func (r *row) askPeers(ctx context.Context, m *experts.Model, o options) error {
	python, err := site.Python()
	if err != nil {
		return err
	}
	arguments := []string{"-c", peer, "xla", m.Path(m.File), m.Path(m.Inputs), strconv.Itoa(o.rounds)}
	if err := ask(ctx, &r.xla, python, arguments...); err != nil {
		return err
	}
	if !o.evaluator {
		r.evaluator.failed = "not run"
		return nil
	}
	arguments[2] = "evaluator"
	if err := ask(ctx, &r.evaluator, python, arguments...); err != nil {
		r.evaluator.failed = reason(err)
	}
	return nil
}

// ask runs a command with one core that writes one answer.
func ask(ctx context.Context, answer any, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "JAX_PLATFORMS=cpu", "TF_CPP_MIN_LOG_LEVEL=3",
		"XLA_FLAGS=--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
	out, err := cmd.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(out, answer)
}

// reason returns what the evaluator said before it ended the process.
func reason(err error) string {
	for line := range strings.Lines(err.Error()) {
		if _, said, ok := strings.Cut(line, "LLVM ERROR: "); ok {
			return strings.TrimSpace(said)
		}
	}
	return "refused"
}
