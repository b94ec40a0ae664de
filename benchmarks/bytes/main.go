// Command bytes compares the bytes that a device sends in our program of an expert's plan with those that it sends in the program
// that XLA's partitioner makes of the same plan, and writes a table.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/bytes -o benchmarks/results/bytes.md
//
// The expert's shardings are propagated and lowered, and nothing is searched. What XLA makes of them is recorded in the shared
// folder: the collectives of the program that XLA compiled for CPU.
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
	flag.StringVar(&o.models, "models", ".*", "regular expression that names of models match")
	flag.StringVar(&o.hardware, "hardware", "tpu-v5p", "hardware profile by which the cheapest steps of reshards are chosen")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.Parse()
	site.Exit("bytes", run(context.Background(), o))
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
	peer, err := readRecords()
	if err != nil {
		return err
	}
	var rows []row
	for i := range models {
		more, err := compare(ctx, &models[i], peer, hw)
		if err != nil {
			return fmt.Errorf("%s: %w", models[i].Name, err)
		}
		for _, r := range more {
			fmt.Fprint(os.Stderr, r.line())
		}
		rows = append(rows, more...)
	}
	return site.Publish(report(rows, o), o.out)
}
