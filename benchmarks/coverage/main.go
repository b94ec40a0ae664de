// Command coverage runs everything that a user does first on programs that JAX, flax, equinox and optax write, in every form in which they
// are kept, and writes a table of what works.
//
//	python3 benchmarks/coverage/programs/export.py DIR
//	go run ./benchmarks/coverage -dir DIR -o docs/coverage.md
//
// Each form of each program is checked, propagated, planned and verified on one axis and on two, against the results that JAX recorded;
// its plan is emitted in all formats, and those that run here are run. Python is run on JAX, where AUTOSHARD_PYTHON names one with it.
package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"autoshard/benchmarks/site"
	"autoshard/internal/cli"
)

// options are the flags.
type options struct {
	dir      string
	only     string
	out      string
	limit    time.Duration
	parallel int
	jax      bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "autoshard" { // a step, started by this command itself
		os.Exit(cli.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder that programs/export.py wrote")
	flag.StringVar(&o.only, "only", "", "regular expression of programs and forms, such as 'linen_vit/text.mlir'")
	flag.StringVar(&o.out, "o", "", "file for the table; standard output alone if empty")
	flag.DurationVar(&o.limit, "limit", 2*time.Minute, "time of one command")
	flag.IntVar(&o.parallel, "parallel", 2, "forms at a time")
	flag.BoolVar(&o.jax, "jax", false, "run emitted Python on JAX too, for the text form of each program")
	flag.Parse()
	site.Exit("coverage", run(o))
}

// program is an entry of programs.json.
type program struct {
	Name       string            `json:"name"`
	About      string            `json:"about"`
	Forms      []string          `json:"forms"`
	Impossible map[string]string `json:"impossible"` // forms that JAX itself does not write, with its reason
}

// result is what became of one form of one program.
type result struct {
	program, form string
	steps         int
	failures      []failure
}

// failure is a step that did not succeed.
type failure struct {
	step    string
	code    int    // exit code, -1 where the time was up
	message string // the first line of standard error
}

func run(o options) error {
	text, err := os.ReadFile(filepath.Join(o.dir, "programs.json"))
	if err != nil {
		return err
	}
	var programs []program
	if err := json.Unmarshal(text, &programs); err != nil {
		return err
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	results := map[string]*result{}
	var order []*result
	for _, p := range programs {
		for _, form := range p.Forms {
			if name := p.Name + "/" + form; only.MatchString(name) {
				r := &result{program: p.Name, form: form}
				results[name] = r
				order = append(order, r)
			}
		}
	}
	work := make(chan *result)
	var workers sync.WaitGroup
	for range max(1, o.parallel) {
		workers.Go(func() {
			for r := range work {
				runForm(o, r)
			}
		})
	}
	for _, r := range order {
		work <- r
	}
	close(work)
	workers.Wait()
	return site.Publish(table(programs, results), o.out)
}
