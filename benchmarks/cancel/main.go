// Command cancel measures how soon work ends that nobody waits for any more, and writes two tables.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/cancel -moments 200 -o benchmarks/results/cancel.md
//
// The first has, for each model and stage, the longest stretch in which the stage does not look at its context: the most
// that a cancellation at an unlucky moment waits there. The second cancels plans of a server with one slot at random
// moments, each time with a small request in the queue, and takes the time from the cancellation to the answer of that.
// It fails where the longest of these times is over -most.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"autoshard/benchmarks/site"
)

func main() {
	out := flag.String("o", "", "file to write the tables to; standard output alone if empty")
	rounds := flag.Int("rounds", 3, "rounds of which the one with the shortest stretch counts")
	moments := flag.Int("moments", 200, "cancellations of each model; 0: none")
	seed := flag.Uint64("seed", 1, "of the moments")
	most := flag.Duration("most", 100*time.Millisecond, "longest time that is good")
	flag.Parse()
	site.Exit("cancel", run(flag.Args(), *out, *rounds, *moments, *seed, *most))
}

// defaults are the models without arguments, in the shared folder.
var defaults = []string{"models/gpt2_small_train.mlir.gz", "models/resnet50_train.mlir.gz", "models/mixtral_8x7b_train_scan.mlir",
	"models/llama3_8b_train.mlir.gz", "cases/gpt12.mlir.gz"}

func run(files []string, out string, rounds, moments int, seed uint64, most time.Duration) error {
	if len(files) == 0 {
		for _, name := range defaults {
			files = append(files, filepath.Join(os.Getenv("AUTOSHARD_SHARED"), name))
		}
	}
	stretches := "| model | stage | longest stretch | of | before |\n|---|---|---|---|---|\n"
	waits := "| model | whole plan | cancellations | median | 95 % | 99 % | longest |\n|---|---|---|---|---|---|---|\n"
	var failed error
	for _, file := range files {
		text, err := site.ReadText(file)
		if err != nil {
			return err
		}
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		table, err := stages(name, text, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprint(os.Stderr, table)
		stretches += table
		if moments == 0 {
			continue
		}
		row, err := cancellations(context.Background(), name, text, moments, seed, most)
		fmt.Fprint(os.Stderr, row)
		waits += row
		failed = errors.Join(failed, err)
	}
	report := fmt.Sprintf("# Cancellation\n\n%s, commit %s. `go run ./benchmarks/cancel -moments %d -seed %d`; what is measured stands "+
		"there.\n\n%s",
		site.Machine(), site.Commit(), moments, seed, stretches)
	if moments > 0 {
		report += "\n" + waits
	}
	return errors.Join(failed, site.Publish(report, out))
}

func milliseconds(d time.Duration) string { return site.Milliseconds(d.Seconds()) }
