// Command propagate times sdy-propagation-pipeline here and in the Shardy inside jaxlib, on the same texts in one run,
// and writes a table of times, ratios and memory.
//
//	AUTOSHARD_PYTHON=python3 AUTOSHARD_SHARED=shared go run ./benchmarks/propagate -o benchmarks/results/propagate.md
//
// The texts are the shared models of more than 1,000 operations, as they are where they have shardings, else with
// shardings on their arguments, and generated MLPs; all over a mesh of four axes with three user priorities.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"autoshard/benchmarks/site"
)

func main() {
	out := flag.String("o", "", "file to write the table to; standard output alone if empty")
	rounds := flag.Int("rounds", 5, "rounds of which the fastest counts")
	limit := flag.Duration("peer-timeout", 5*time.Minute, "longest time for the peer on one text")
	only := flag.String("only", "", "only texts whose name contains this")
	flag.Parse()
	site.Exit("propagate", run(*out, *rounds, *limit, *only))
}

func run(out string, rounds int, limit time.Duration, only string) error {
	dir, err := os.MkdirTemp("", "propagate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs, err := allPrograms()
	if err != nil {
		return err
	}
	var rows []row
	for _, p := range programs {
		if !strings.Contains(p.name, only) {
			continue
		}
		r, err := measure(p, filepath.Join(dir, p.name), rounds, limit)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintln(os.Stderr, r.line())
		rows = append(rows, r)
	}
	return site.Publish(table(rows, rounds, limit), out)
}
