// Command fuzz fuzzes all functions of a package, guided by coverage, each for as long as is wanted, and says in a table what came of it.
//
//	go run -C tools ./fuzz -package ./api -time 10m -parallel 3
//
// A finding is kept where `go test` finds it, in testdata/fuzz of the package, and the exit code is 1.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// options of a run.
type options struct {
	pkg, functions string
	each           time.Duration
	parallel       int
	dir            string // of the built test and its corpus
}

func main() {
	var o options
	flag.StringVar(&o.pkg, "package", "./api", "the package, from the root of the repository")
	flag.StringVar(&o.functions, "run", "Fuzz", "regular expression of the functions")
	flag.DurationVar(&o.each, "time", 10*time.Minute, "how long each is fuzzed")
	flag.IntVar(&o.parallel, "parallel", 2, "functions at a time, with one process each")
	flag.StringVar(&o.dir, "dir", "", "folder of the built test, the inputs that reach new code, and logs; a new one if empty")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(o *options) (err error) {
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "fuzz"); err != nil {
			return err
		}
	} else if o.dir, err = filepath.Abs(o.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	o.pkg = filepath.Join("..", o.pkg)
	binary := filepath.Join(o.dir, "fuzz.test")
	// With -fuzz, what is built counts which code is reached.
	build := exec.Command("go", "test", "-c", "-fuzz", "Fuzz", "-o", binary, ".")
	build.Dir, build.Stderr = o.pkg, os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	list := exec.Command(binary, "-test.list", o.functions)
	list.Dir = o.pkg
	out, err := list.Output()
	if err != nil {
		return err
	}
	fmt.Println("| function | inputs | that reach new code | seconds | |\n|---|---|---|---|---|")
	return o.all(binary, regexp.MustCompile(`(?m)^Fuzz\w*$`).FindAllString(string(out), -1))
}

// all fuzzes functions, some at a time, and prints a line each.
func (o *options) all(binary string, names []string) error {
	var wait sync.WaitGroup
	slots := make(chan struct{}, o.parallel)
	failures := make([]error, len(names))
	for i, name := range names {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			failures[i] = o.one(binary, name)
		})
	}
	wait.Wait()
	return errors.Join(failures...)
}

// count is the line with which the fuzzer says how far it is.
var count = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+)`)

// timeOver is all that Go's fuzzer says where its time ends while a process runs an input: it fails then, but found nothing.
var timeOver = regexp.MustCompile(`--- FAIL: \w+ \([\d.]+s\)\n    context deadline exceeded\nFAIL\n$`)

// one fuzzes a function. Inputs whose coverage is new are made smaller for some rounds only: that coverage differs from run to run.
func (o *options) one(binary, name string) error {
	cmd := exec.Command(binary, "-test.run", "^$", "-test.fuzz", "^"+name+"$", "-test.fuzztime", o.each.String(), "-test.parallel", "1",
		"-test.fuzzminimizetime", "20x", "-test.fuzzcachedir", filepath.Join(o.dir, "corpus"), "-test.timeout", "0")
	var log bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.pkg, &log, &log
	start := time.Now()
	err := cmd.Run()
	text := strings.ReplaceAll(log.String(), "\r", "\n")
	inputs, fresh, verdict := "0", "0", "no finding"
	for _, m := range count.FindAllStringSubmatch(text, -1) {
		inputs, fresh = m[1], m[2]
	}
	switch {
	case timeOver.MatchString(text):
		err = nil
	case err != nil:
		verdict, err = "FAILED", fmt.Errorf("%s: %w: %s", name, err, filepath.Join(o.dir, name+".log"))
	}
	fmt.Printf("| %s | %s | %s | %.0f | %s |\n", name, inputs, fresh, time.Since(start).Seconds(), verdict)
	return errors.Join(err, os.WriteFile(filepath.Join(o.dir, name+".log"), log.Bytes(), 0o600))
}
