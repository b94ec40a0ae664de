// Command plans compares the plans of this repository with those that experts wrote for the shared models, by one estimate, and
// writes a table.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/plans -o benchmarks/results/plans.md
//
// Each model is planned on each mesh of its experts, without a memory limit and under limits of 1, 1.2 and 2 times the smallest
// peak among the experts' plans. An expert's plan counts with its annotations propagated, and as pins that the planner completes
// under the same limit. Where an expert fits a limit, "no plan fits" is a false answer.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/plans -verify -o benchmarks/results/planruns.md
//
// runs the same plans, of the models whose inputs are recorded, on as many virtual devices, and compares them with the unsharded run.
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
	"autoshard/subaxis"
)

// options are the flags.
type options struct {
	models   string
	hardware string
	budget   time.Duration
	run      bool
	out      string
}

func main() {
	var o options
	flag.StringVar(&o.models, "models", ".*", "regular expression that names of models match; those without expert plans have no rows")
	flag.StringVar(&o.hardware, "hardware", "tpu-v5p", "hardware profile")
	flag.DurationVar(&o.budget, "budget", time.Minute, "time for each plan")
	flag.BoolVar(&o.run, "verify", false, "run plans on virtual devices, of models with recorded inputs, instead of comparing with experts")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("plans", run(context.Background(), o))
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
	p := planner{hardware: hw, budget: o.budget}
	var rows []row
	var runs []planRun
	for i := range models {
		m := &models[i]
		if o.run && m.Inputs == "" {
			continue
		}
		for _, mesh := range m.ExpertMeshes() {
			if o.run {
				err = p.runAll(ctx, m, mesh, &runs)
			} else {
				err = p.compareAll(ctx, m, mesh, &rows)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", m.Name, err)
			}
		}
	}
	if o.run {
		return site.Publish(reportRuns(runs, o), o.out)
	}
	return site.Publish(report(rows, o), o.out)
}

// compareAll appends the rows of a model on a mesh, and shows them on standard error.
func (p *planner) compareAll(ctx context.Context, m *experts.Model, mesh []subaxis.Axis, rows *[]row) error {
	more, err := p.compare(ctx, m, mesh)
	for _, r := range more {
		fmt.Fprint(os.Stderr, r.line())
	}
	*rows = append(*rows, more...)
	return err
}

// runAll appends the runs of a model on a mesh likewise.
func (p *planner) runAll(ctx context.Context, m *experts.Model, mesh []subaxis.Axis, runs *[]planRun) error {
	more, err := p.runs(ctx, m, mesh)
	for _, r := range more {
		fmt.Fprint(os.Stderr, r.line())
	}
	*runs = append(*runs, more...)
	return err
}
