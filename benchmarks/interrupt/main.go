// Command interrupt interrupts the real command line and the real service at random, checks what they answer, and writes a table.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/interrupt -trials 1000 -o benchmarks/results/interrupt.md
//
// A trial plans a recorded model in a process of its own that something cuts short: a budget of steps, a timeout, an interrupt, or the
// deadline of a request to a service with one slot; half of them have little memory per device besides, and a quarter little memory for the
// search. The answer must be a plan that is valid - it is within the limit, its program can be lowered, its figures agree, no baseline
// that fits is faster - or an error of the exit codes that say so. Timeouts, interrupts and deadlines must be answered soon after they
// come, or after the baselines are worked out, without which there is nothing to answer. Budgets of steps must give the same bytes with
// one processor and with two.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"autoshard/benchmarks/site"
	"autoshard/internal/cli"
)

// options are the flags.
type options struct {
	trials int
	seed   uint64
	only   int
	most   time.Duration
	out    string
}

func main() {
	if code, ok := asCommand(); ok {
		os.Exit(code)
	}
	var o options
	flag.IntVar(&o.trials, "trials", 1000, "interruptions")
	flag.Uint64Var(&o.seed, "seed", 1, "of the trials")
	flag.IntVar(&o.only, "only", -1, "run this trial alone, to look at it")
	flag.DurationVar(&o.most, "most", 100*time.Millisecond, "time to answer in; give more where other work runs")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("interrupt", measure(context.Background(), o))
}

// asCommand runs the command line where this process is one that a trial started.
func asCommand() (code int, ok bool) {
	if len(os.Args) < 2 || os.Args[1] != "plan" && os.Args[1] != "serve" {
		return 0, false
	}
	return cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr), true
}

// recorded are the jobs of the table, in the shared folder.
var recorded = []job{
	{file: "models/transformer_train.mlir", mesh: "data=4,model=2", steps: 300_000_000},
	{file: "models/transformer_train.mlir", mesh: "data=2,model=2,pipe=2", steps: 100_000_000},
	{file: "models/llama3_8b_train_scan.mlir", mesh: "data=16,model=8", steps: 100_000_000},
	{file: "models/mixtral_8x7b_train_scan.mlir", mesh: "data=16,expert=8,model=4", steps: 30_000_000},
	{file: "models/gpt2_small_train.mlir.gz", mesh: "data=16,model=8", steps: 30_000_000},
	{file: "models/llama3_8b_train.mlir.gz", mesh: "data=16,model=8", steps: 10_000_000},
}

func measure(ctx context.Context, o options) error {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		return errors.New("AUTOSHARD_SHARED is not set: it names the folder with recorded models")
	}
	for i := range recorded {
		recorded[i].file = filepath.Join(shared, recorded[i].file)
	}
	r, err := run(ctx, o, recorded)
	if err != nil {
		return err
	}
	return errors.Join(r.failed(), site.Publish(r.report(), o.out))
}

// run runs the trials of some jobs.
func run(ctx context.Context, o options, jobs []job) (r *runner, err error) {
	dir, err := os.MkdirTemp("", "interrupt")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	r = &runner{options: o, dir: dir, jobs: jobs}
	if r.self, err = os.Executable(); err != nil {
		return nil, err
	}
	for i := range jobs {
		if err := r.prepare(ctx, &jobs[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", jobs[i].name(), err)
		}
	}
	if err := r.serve(ctx); err != nil {
		return nil, err
	}
	for i := range o.trials {
		if o.only < 0 || o.only == i {
			r.one(ctx, i)
		}
	}
	return r, r.stop()
}
