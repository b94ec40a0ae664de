// Command phases times the plans of recorded models from the file to the plan, phase by phase, and writes tables that show how time
// and memory grow with the axes of the mesh, with devices and with ops.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/phases -o benchmarks/results/phases.md
//
// Every plan is made by a process of its own, which is the command line: it reads the model's file and writes plan.json. A phase begins
// where the command reports its stage on standard error. Times count from the start of the process, memory is the most that was resident.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"autoshard/benchmarks/experts"
	"autoshard/benchmarks/site"
	"autoshard/internal/cli"
)

// options are the flags.
type options struct {
	models   string
	meshes   string
	hardware string
	rounds   int
	most     time.Duration
	out      string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "plan" { // a plan, asked for by this command itself
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	var o options
	flag.StringVar(&o.models, "models", ".*", "regular expression that names of models match")
	flag.StringVar(&o.meshes, "meshes", ".*", "regular expression that meshes such as 16x8x4 match")
	flag.StringVar(&o.hardware, "hardware", "tpu-v5p", "hardware profile")
	flag.IntVar(&o.rounds, "rounds", 1, "plans of each, of which the fastest counts")
	flag.DurationVar(&o.most, "most", 2*time.Minute, "time after which a plan is given up")
	flag.StringVar(&o.out, "o", "", "file for the tables; standard output alone if empty")
	flag.Parse()
	site.Exit("phases", run(o))
}

func run(o options) error {
	wanted, err := filters(o.models, o.meshes)
	if err != nil {
		return err
	}
	models, err := experts.Shared()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "phases")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := timer{options: o, out: filepath.Join(dir, "plan.json")}
	for i := range models {
		m := &models[i]
		for _, mesh := range meshes(m.Name) {
			if wanted(m.Name, mesh) {
				if err := t.time(m, mesh); err != nil {
					return fmt.Errorf("%s on %s: %w", m.Name, mesh, err)
				}
			}
		}
	}
	return site.Publish(t.report(), o.out)
}

// filters returns the function that says whether a model on a mesh is asked for.
func filters(models, meshes string) (func(model, mesh string) bool, error) {
	var list []*regexp.Regexp
	for _, text := range []string{models, meshes} {
		r, err := regexp.Compile("^(" + text + ")$")
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return func(model, mesh string) bool { return list[0].MatchString(model) && list[1].MatchString(mesh) }, nil
}
