// Command steps measures how well steps are predicted on the machine that it runs on: it calibrates a hardware profile for virtual CPU
// devices of JAX, predicts a step of each expert's plan by it, and times the steps there.
//
//	AUTOSHARD_SHARED=shared AUTOSHARD_PYTHON=python3 go run ./benchmarks/steps -o benchmarks/results/steps.md
//
// Run it where nothing else runs. Calibration knows nothing of the models: it times single kernels and collectives (docs/cli.md,
// "Calibration"). What starting a program with a plan's inputs and results takes, by one that computes nothing, is measured beside each
// plan and added to the prediction, which is about what devices do.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
)

// devices are those of JAX, and of the meshes of plans that are measured.
const devices = 8

// options are the flags.
type options struct {
	models string
	size   int64
	out    string
}

func main() {
	var o options
	flag.StringVar(&o.models, "models", ".*", "regular expression that names of models match; those without recorded inputs have no rows")
	flag.Int64Var(&o.size, "size", 512, "largest size of products that are calibrated")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("steps", steps(context.Background(), o))
}

func steps(ctx context.Context, o options) error {
	models, err := experts.Matching(o.models)
	if err != nil {
		return err
	}
	python, err := site.Python()
	if err != nil {
		return err
	}
	fits, hw, err := calibrated(ctx, python, o.size)
	if err != nil {
		return err
	}
	peer, err := start(ctx, python)
	if err != nil {
		return err
	}
	defer peer.end()
	var rows []row
	err = experts.EachPlan(models, func(m *experts.Model, p *experts.Plan) error {
		r, ok, err := peer.measure(ctx, m, p, hw)
		if err != nil || !ok {
			return err
		}
		fmt.Fprint(os.Stderr, r.line())
		rows = append(rows, r)
		return nil
	})
	if err != nil {
		return err
	}
	return site.Publish(table(rows, fits), o.out)
}
