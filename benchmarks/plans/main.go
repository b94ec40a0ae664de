// Command plans compares the plans of this repository with those that experts wrote for the shared models, by one estimate, and
// writes a table.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/plans -o benchmarks/results/plans.md
//
// Each model is planned on each mesh of its experts, without a memory limit and under limits of 1, 1.2 and 2 times the smallest
// peak among the experts' plans. An expert's plan counts with its annotations propagated, and as pins that the planner completes
// under the same limit. Where an expert fits a limit, "no plan fits" is a false answer.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
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
	out      string
}

func main() {
	var o options
	flag.StringVar(&o.models, "models", ".*", "regular expression that names of models match; those without expert plans have no rows")
	flag.StringVar(&o.hardware, "hardware", "tpu-v5p", "hardware profile")
	flag.DurationVar(&o.budget, "budget", time.Minute, "time for each plan")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("plans", run(context.Background(), o))
}

func run(ctx context.Context, o options) error {
	wanted, err := regexp.Compile("^(" + o.models + ")$")
	if err != nil {
		return fmt.Errorf("-models: %w", err)
	}
	hw, err := cost.Lookup(o.hardware)
	if err != nil {
		return err
	}
	models, err := experts.Shared()
	if err != nil {
		return err
	}
	var rows []row
	p := planner{hardware: hw, budget: o.budget}
	for i := range models {
		m := &models[i]
		if !wanted.MatchString(m.Name) {
			continue
		}
		for _, mesh := range m.ExpertMeshes() {
			more, err := p.compare(ctx, m, mesh)
			if err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
			for _, r := range more {
				fmt.Fprint(os.Stderr, r.line())
			}
			rows = append(rows, more...)
		}
	}
	return site.Publish(report(rows, o), o.out)
}
