// Command backend times a steady step of every model with recorded inputs on the virtual devices of this process, beside XLA for CPU and
// the evaluator of StableHLO inside jaxlib, and writes a table.
//
//	AUTOSHARD_SHARED=shared AUTOSHARD_PYTHON=python go run ./benchmarks/backend -o benchmarks/results/backend.md
//
// Every side runs each model in a process of its own that has one core, one after the other, and counts the processor time that it takes
// itself: that of all its threads. The fastest of several rounds counts. The experts' plans for eight devices run on eight virtual devices.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
)

// options are the flags.
type options struct {
	models    string
	rounds    int
	evaluator bool
	plans     bool
	child     bool
	out       string
}

func main() {
	var o options
	flag.StringVar(&o.models, "models", ".*", "regular expression that names of models match; those without recorded inputs have no rows")
	flag.IntVar(&o.rounds, "rounds", 10, "rounds of which the fastest counts")
	flag.BoolVar(&o.evaluator, "evaluator", true, "run the evaluator of StableHLO too, which takes seconds for a step of some models")
	flag.BoolVar(&o.plans, "plans", true, "run the experts' plans on eight devices too")
	flag.BoolVar(&o.child, "child", false, "measure one model here and write JSON, for the command itself")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("backend", measure(context.Background(), o))
}

func measure(ctx context.Context, o options) error {
	models, err := experts.Matching(o.models)
	if err != nil {
		return err
	}
	var rows []row
	for i := range models {
		m := &models[i]
		if m.Inputs == "" || m.Manual {
			continue
		}
		if o.child {
			here, err := measureHere(ctx, m, o)
			if err != nil {
				return err
			}
			return json.NewEncoder(os.Stdout).Encode(here)
		}
		r, err := measureAll(ctx, m, o)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		rows = append(rows, r)
		fmt.Fprint(os.Stderr, r.line())
	}
	return site.Publish(report(rows, o), o.out)
}
