package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPoints(t *testing.T) {
	r := result{points: parsePoints(`    0.500                    -                   -         -
    1.250                    -                  80         -
    3.000                  110                  80  27.2727%
note: interrupted
    8.000                  100                 100   0.0000%
`)}
	if err := r.answer([]byte(`{"status":"optimal","cost":100,"bound":100}`)); err != nil {
		t.Fatal(err)
	}
	want := []point{{0.5, 0, 0, false, false}, {1.25, 0, 80, false, true}, {3, 110, 80, true, true}, {8, 100, 100, true, true},
		{8, 100, 100, true, true}}
	if d := cmp.Diff(want, r.points, cmp.AllowUnexported(point{})); d != "" {
		t.Error(d)
	}
	if r.firstSolution() != 2.5 || r.last().gap() != 0 || r.points[2].gap() != 30.0/110 {
		t.Errorf("first solution after %v s, gaps %v, %v", r.firstSolution(), r.points[2].gap(), r.last().gap())
	}
	for seconds, want := range map[float64]int64{1: 0, 3: 110, 7.9: 110, 100: 100} {
		if cost, known := r.costAt(seconds); cost != want || known != (want != 0) {
			t.Errorf("cost %d, %t after %v s, want %d", cost, known, seconds, want)
		}
	}
}

func TestLimits(t *testing.T) {
	for name, want := range map[string]time.Duration{"A": time.Minute, "E": time.Minute, "F": 2 * time.Minute, "M": 3 * time.Minute,
		"Y": 5 * time.Minute, "example": time.Minute} {
		if got := contestLimit(name); got != want {
			t.Errorf("limit of %s is %v, want %v", name, got, want)
		}
	}
	if _, err := parseLimits("A=60s,G"); err == nil {
		t.Error("a limit without time is accepted")
	}
	if got := label("x/asplos-2025-iopddl-Q.json.gz"); got != "Q" {
		t.Errorf("label is %q", got)
	}
}

// The worst seed counts, and published costs stand beside it.
func TestTable(t *testing.T) {
	run := func(cost, bound int64, first float64) result {
		return result{points: []point{{1, 0, 0, false, false}, {1 + first, 2 * cost, bound, true, true}, {40, cost, bound, true, true}},
			wall: 50 * time.Second,
			cpu:  90 * time.Second, memory: 3 << 20}
	}
	in := &instance{name: "Z", limit: 100 * time.Second, best: 1000, first: 1100, runs: []result{run(900, 890, 2), run(990, 880, 1)}}
	got := table([]*instance{in}, options{seeds: 2}, "")
	want := "| Z | 100 | 990 | 1000 | -1.0000% | 1100 | 880 | 11.1111% | 2.00 | 100.0000% | 10.0000% | 50.0 | 90.0 | 3 MB | - |\n"
	if !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	file := filepath.Join(t.TempDir(), "gap.svg")
	if err := chart([]*instance{in}, file); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "<svg") || len(text) > 1<<17 {
		t.Errorf("the plot has %d bytes, %v", len(text), err)
	}
}
