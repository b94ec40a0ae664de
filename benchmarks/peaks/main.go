// Command peaks compares the memory that the programs of experts' plans are said to need with what they take: on virtual devices, and
// compiled by XLA for CPU.
//
//	AUTOSHARD_SHARED=shared AUTOSHARD_PYTHON=python3 go run ./benchmarks/peaks -o benchmarks/results/peaks.md
//
// The expert's shardings are propagated and lowered, and nothing is searched. XLA compiles our per-device program.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/cost"
)

// options are the flags.
type options struct {
	models   string
	hardware string
	out      string
}

func main() {
	var o options
	flag.StringVar(&o.models, "models", ".*", "regular expression that names of models match; those without recorded inputs have no rows")
	flag.StringVar(&o.hardware, "hardware", "tpu-v5p", "hardware profile by which the cheapest steps of reshards are chosen")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("peaks", peaks(context.Background(), o))
}

func peaks(ctx context.Context, o options) error {
	hw, err := cost.Lookup(o.hardware)
	if err != nil {
		return err
	}
	models, err := experts.Matching(o.models)
	if err != nil {
		return err
	}
	peer, err := newCompiler()
	if err != nil {
		return err
	}
	defer peer.close()
	var rows []row
	err = experts.EachPlan(models, func(m *experts.Model, p *experts.Plan) error {
		r, device, err := measure(ctx, m, p, hw)
		if err != nil || device == nil {
			return err
		}
		if r.xla, err = peer.compile(ctx, device); err != nil {
			return err
		}
		fmt.Fprint(os.Stderr, r.line())
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return err
	}
	return site.Publish(report(rows, o), o.out)
}
