// Command testreport reads the output of `go test -json` and prints it for people: failures in full, one line a
// package, and how many tests passed, failed and were skipped. With -no-skips it is a failure too when a suite that was
// meant to run did not: a whole test was skipped, or a part of one for want of an AUTOSHARD_ variable. Other parts that
// are skipped, such as single programs for which no reference exists, are listed only.
//
//	go test -json ./... | go run ./testreport -no-skips
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// event is a line of `go test -json`.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Elapsed    float64
	Output     string
}

type report struct {
	output                  map[string][]string // by package and test
	passed, failed, skipped int
	brokenPackages          int
	skips                   []string
	missed                  int // skips of suites that were meant to run
}

func main() {
	noSkips := flag.Bool("no-skips", false, "a skipped suite is a failure")
	flag.Parse()
	r := report{output: map[string][]string{}}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<26)
	for in.Scan() {
		var e event
		if err := json.Unmarshal(in.Bytes(), &e); err != nil {
			fmt.Println(in.Text())
			continue
		}
		r.add(&e)
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
		os.Exit(1)
	}
	slices.Sort(r.skips)
	for _, s := range r.skips {
		fmt.Println("skipped:", s)
	}
	fmt.Printf("tests: %d passed, %d failed, %d skipped (%d suites that should run), %d packages failed\n",
		r.passed, r.failed, r.skipped, r.missed, r.brokenPackages)
	if r.failed > 0 || r.brokenPackages > 0 || r.passed == 0 || *noSkips && r.missed > 0 {
		os.Exit(1)
	}
}

func (r *report) add(e *event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		r.output[key] = append(r.output[key], e.Output)
		return
	case "build-output":
		fmt.Print(e.Output)
		return
	case "pass", "fail", "skip":
	default:
		return
	}
	if e.Test == "" {
		r.addPackage(e, key)
		return
	}
	switch e.Action {
	case "pass":
		r.passed++
	case "fail":
		r.failed++
		fmt.Print(strings.Join(r.output[key], ""))
	case "skip":
		r.skipped++
		why := reason(r.output[key])
		r.skips = append(r.skips, key+": "+why)
		if !strings.Contains(e.Test, "/") || strings.Contains(why, "AUTOSHARD_") {
			r.missed++
		}
	}
	delete(r.output, key)
}

// addPackage prints a package's line. Packages without tests are skipped and say nothing.
func (r *report) addPackage(e *event, key string) {
	switch e.Action {
	case "pass":
		fmt.Printf("ok    %s %.1fs\n", e.Package, e.Elapsed)
	case "fail":
		r.brokenPackages++
		fmt.Print(strings.Join(r.output[key], ""))
		fmt.Printf("FAIL  %s %.1fs\n", e.Package, e.Elapsed)
	}
	delete(r.output, key)
}

// reason returns the message of a skipped test.
func reason(output []string) string {
	for _, line := range output {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			return line
		}
	}
	return "no reason given"
}
