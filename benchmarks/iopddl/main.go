// Command iopddl runs `autoshard solve` on instances of the ASPLOS/EuroSys 2025 contest under the contest's time limits, and writes a table
// of costs and bounds beside the published ones, and a plot of the gap over time.
//
//	AUTOSHARD_SHARED=shared go run ./benchmarks/iopddl -seeds 3 -certify -o benchmarks/results/iopddl.md
//
// The instances are all .json and .json.gz files of a folder. Each run is a process of its own; published costs are for comparison alone,
// no run sees them.
package main

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"autoshard/benchmarks/site"
	"autoshard/internal/cli"
)

// options are the flags.
type options struct {
	dir      string
	limits   string
	only     string
	seeds    int
	parallel int
	certify  bool
	out      string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "solve" { // a run, started by this command itself
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	var o options
	flag.StringVar(&o.dir, "dir", "", "folder with instances (default: iopddl in the folder that AUTOSHARD_SHARED names)")
	flag.StringVar(&o.limits, "limits", "",
		"time limits such as A=60s,G=120s; others have the contest's, 60 s to 300 s by the letter of the instance")
	flag.StringVar(&o.only, "only", "", "instances to run, such as A,G (default: all)")
	flag.IntVar(&o.seeds, "seeds", 3, "seeds, from 0, of which the worst counts")
	flag.IntVar(&o.parallel, "parallel", 1, "runs at a time; needs two processors for each")
	flag.BoolVar(&o.certify, "certify", false, "write certificates of the bounds and verify them")
	flag.StringVar(&o.out, "o", "", "file for the table, with the plot beside it as .svg; standard output alone if empty")
	flag.Parse()
	site.Exit("iopddl", run(o))
}

func run(o options) error {
	all, err := instances(o)
	if err != nil {
		return err
	}
	if o.seeds < 1 || o.parallel < 1 || o.parallel > 1 && o.parallel > runtime.NumCPU()/coresPerRun {
		return fmt.Errorf("-seeds must be positive, and -parallel at most %d here", max(runtime.NumCPU()/coresPerRun, 1))
	}
	dir, err := os.MkdirTemp("", "iopddl")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, in := range all {
		if err := in.run(o, dir); err != nil {
			return err
		}
	}
	plot := strings.TrimSuffix(o.out, filepath.Ext(o.out)) + ".svg"
	if err := site.Publish(table(all, o, filepath.Base(plot)), o.out); err != nil || o.out == "" {
		return err
	}
	return chart(all, plot)
}

// instance is a file with what is published about it, 0 where nothing is, and its runs by seed.
type instance struct {
	name, file  string
	limit       time.Duration
	best, first int64
	runs        []result
}

//go:embed published.json
var published []byte

// instances returns the instances to run, in the order of their names.
func instances(o options) ([]*instance, error) {
	if o.dir == "" {
		root := os.Getenv("AUTOSHARD_SHARED")
		if root == "" {
			return nil, fmt.Errorf("neither -dir is given nor AUTOSHARD_SHARED set: they name the folder with the instances")
		}
		o.dir = filepath.Join(root, "iopddl")
	}
	limits, err := parseLimits(o.limits)
	if err != nil {
		return nil, err
	}
	var known struct {
		Instances map[string]struct{ Best, First int64 }
	}
	if err := json.Unmarshal(published, &known); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(o.dir, "*.json*"))
	if err != nil {
		return nil, err
	}
	var all []*instance
	for _, file := range files {
		in := &instance{name: label(file), file: file}
		if o.only != "" && !strings.Contains(","+o.only+",", ","+in.name+",") {
			continue
		}
		in.best, in.first = known.Instances[in.name].Best, known.Instances[in.name].First
		if in.limit = limits[in.name]; in.limit == 0 {
			in.limit = contestLimit(in.name)
		}
		all = append(all, in)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no instances in %s", o.dir)
	}
	return all, nil
}

// label returns the letter at the end of a contest file's name, or the name of another file.
func label(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".json")
	return name[strings.LastIndexByte(name, '-')+1:]
}

// contestLimit returns 60 s for the letters A to E, 120 s for F to J, and so on to 300 s (solver.md section 1.4); 60 s for other names.
func contestLimit(name string) time.Duration {
	if len(name) != 1 || name[0] < 'A' || name[0] > 'Y' {
		return time.Minute
	}
	return time.Duration(1+(name[0]-'A')/5) * time.Minute
}

func parseLimits(text string) (map[string]time.Duration, error) {
	limits := map[string]time.Duration{}
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		limit, err := time.ParseDuration(value)
		if err != nil || limit <= 0 {
			return nil, fmt.Errorf("-limits: %q is no time limit such as A=60s", part)
		}
		limits[name] = limit
	}
	return limits, nil
}
