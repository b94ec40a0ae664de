// Command xla judges the annotated programs of plans (autoshard plan --format mlir) by what XLA makes of them, beside the plans that
// experts wrote, and writes a table.
//
//	AUTOSHARD_SHARED=shared AUTOSHARD_PYTHON=python go run ./benchmarks/xla -o benchmarks/results/xla.md
//
// Each model with recorded inputs is planned for eight devices on each mesh of its experts, without a memory limit and under 1.2 times the
// smallest peak of the experts' plans. XLA compiles the annotated program for CPU and runs it; what it sends and holds is compared with
// what the plan predicts, and with XLA's program of that expert's plan that sends the least among those that fit the limit.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/cost"
)

// options are the flags.
type options struct {
	models   string
	hardware string
	budget   time.Duration
	dir      string
	out      string
}

func main() {
	var o options
	flag.StringVar(&o.models, "models", ".*", "regular expression that names of models match; those without recorded inputs have no rows")
	flag.StringVar(&o.hardware, "hardware", "tpu-v5p", "hardware profile")
	flag.DurationVar(&o.budget, "budget", time.Minute, "time for each plan")
	flag.StringVar(&o.dir, "dir", "",
		"folder for plans and annotated programs, a temporary one if empty: a plan that is there is not made again")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("xla", run(context.Background(), o))
}

func run(ctx context.Context, o options) error {
	hw, err := cost.Lookup(o.hardware)
	if err != nil {
		return err
	}
	models, err := experts.Matching(o.models)
	if err != nil {
		return err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "autoshard-xla-*"); err != nil {
			return err
		}
		defer os.RemoveAll(o.dir)
	} else if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	j, err := newJudge(ctx)
	if err != nil {
		return err
	}
	defer j.close()
	p := planner{hardware: hw, budget: o.budget, dir: o.dir}
	var rows []row
	for i := range models {
		more, err := p.rows(ctx, &models[i], j)
		if err != nil {
			return fmt.Errorf("%s: %w", models[i].Name, err)
		}
		rows = append(rows, more...)
	}
	return site.Publish(report(rows, o), o.out)
}
