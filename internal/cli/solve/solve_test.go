package solve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/search"
	"autoshard/search/iopddl"
)

// hard writes an instance that is not solved to the end soon: random costs on a random graph, all nodes live together under a tight limit.
func hard(t *testing.T) string {
	const n, k = 300, 6
	rng := rand.New(rand.NewPCG(1, 2))
	b := search.NewBuilder()
	draw := func(n int, most int64) []int64 {
		out := make([]int64, n)
		for i := range out {
			out[i] = rng.Int64N(most)
		}
		return out
	}
	for i := range int32(n) {
		b.AddNode(draw(k, 1e6), draw(k, 1000), 0, i+1)
	}
	for range 3 * n {
		x, y := rng.Int32N(n), rng.Int32N(n)
		b.AddEdge(x, y, b.AddMatrix(k, k, draw(k*k, 1e6)))
	}
	b.SetLimit(n * 250)
	p, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "hard.json")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(iopddl.Write(f, "hard", p), f.Close()); err != nil {
		t.Fatal(err)
	}
	return file
}

// hook is standard output that calls a function at the first writing.
type hook struct {
	bytes.Buffer
	first func()
}

func (h *hook) Write(p []byte) (int, error) {
	if h.first != nil {
		h.first()
		h.first = nil
	}
	return h.Buffer.Write(p)
}

// solve runs the command.
func solve(ctx context.Context, out *hook, args ...string) (stderr string, err error) {
	var errs bytes.Buffer
	cmd := Command(cmdline.New(strings.NewReader(""), out, &errs))
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err = cmd.ExecuteContext(ctx)
	return errs.String(), err
}

// lastLine evaluates the last line of an output.
func lastLine(t *testing.T, file, out string) *iopddl.Evaluation {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	s, err := iopddl.ReadSolution(strings.NewReader(lines[len(lines)-1]), "stdout")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, err := iopddl.Options{}.Evaluate(f, file, s)
	if err != nil || !e.Feasible() {
		t.Fatalf("the last line is not feasible: %+v, %v", e, err)
	}
	return e
}

// An interrupt ends the search at once; the last line is the best solution, of the cost that the line before it says.
func TestInterrupt(t *testing.T) {
	file := hard(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var interrupted time.Time
	out := &hook{first: func() {
		interrupted = time.Now()
		cancel()
	}}
	stderr, err := solve(ctx, out, file, "--timeout", "60s")
	if took := time.Since(interrupted); err != nil || took > 5*time.Second {
		t.Fatalf("ends %v after the interrupt, %v", took, err)
	}
	if !strings.Contains(stderr, "interrupted: this is the best solution so far\n") {
		t.Errorf("standard error is %s", stderr)
	}
	e := lastLine(t, file, out.String())
	if !strings.Contains(out.String(), fmt.Sprintf("\n# cost %v, bound ", e.Cost)) || !strings.Contains(out.String(), ", early\n[") {
		t.Errorf("the output does not say cost %v", e.Cost)
	}
}

// The time of --timeout is kept; half a second is for machines that do more than this test.
func TestTimeout(t *testing.T) {
	file := hard(t)
	start := time.Now()
	out := &hook{}
	_, err := solve(t.Context(), out, file, "--timeout", "2s")
	if took := time.Since(start); err != nil || took < time.Second || took > 2500*time.Millisecond {
		t.Errorf("takes %v, %v", took, err)
	}
	lastLine(t, file, out.String())
}

// A step budget and a seed fix the output, on any number of processors; every solution in it is feasible and better than the one before.
func TestSteps(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	file := hard(t)
	var first string
	for _, workers := range []string{"1", "2"} {
		out := &hook{}
		if _, err := solve(t.Context(), out, file, "--steps", "20000000", "--seed", "5", "--workers", workers); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = out.String()
		} else if first != out.String() {
			t.Error("the output depends on the number of processors")
		}
	}
	lines := strings.SplitAfter(strings.TrimSuffix(first, "\n"), "\n")
	if len(lines) < 3 {
		t.Fatalf("%d lines", len(lines))
	}
	least := lastLine(t, file, lines[0])
	for _, line := range lines[1:] {
		if strings.HasPrefix(line, "#") {
			continue
		}
		e := lastLine(t, file, line)
		if e.Cost.Cmp(least.Cost) > 0 {
			t.Errorf("cost %v after %v", e.Cost, least.Cost)
		}
		least = e
	}
}

// Standard input that never ends does not keep the command from ending.
func TestStuckInput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	out := &hook{}
	cmd := Command(cmdline.New(r, out, &bytes.Buffer{}))
	cmd.SetArgs([]string{"-", "--timeout", "100ms"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); diag.ExitCode(err) != diag.ExitDeadline || out.String() != "[]\n" {
		t.Errorf("exit code %d, %q", diag.ExitCode(err), out.String())
	}
}

// On a terminal the latest line shows in place, with the phase; lines of better solutions and the last one stay.
func TestProgressLine(t *testing.T) {
	inst, err := iopddl.Read(strings.NewReader(`{"problem":{"nodes":{"intervals":[[0,0]],"costs":[[5,4]],"usages":[[0,0]]},"edges":{"nodes":[],"costs":[]}}}`), "p")
	if err != nil {
		t.Fatal(err)
	}
	events := []search.Event{
		{Cost: search.Inf, Bound: -search.Inf, Phase: "reduce", Source: "phase"}, {Cost: search.Inf, Bound: 3, Phase: "reduce", Source: "bound"},
		{Cost: 5, Bound: 3, Phase: "dual", Source: "walk", Solution: []int32{0}}, {Cost: 5, Bound: 4, Phase: "tree", Source: "bound"},
	}
	const (
		nothing = "        -                    -         -"
		bound   = "        -                    3         -"
		cost    = "        5                    3  40.0000%"
		last    = "        5                    4  20.0000%"
	)
	for _, test := range []struct {
		terminal bool
		when     config.Progress
		want     string
	}{
		{true, config.Auto, "<" + nothing + "  reduce<" + bound + "  reduce<" + cost + "\n<" + cost + "  dual<" + last + "  tree<" + last + "\n"},
		{true, config.Never, ""},
		{false, config.Auto, cost + "\n" + last + "\n"},
		{false, config.Always, nothing + "\n" + cost + "\n" + last + "\n"},
		{false, config.Never, ""},
	} {
		var out, errs bytes.Buffer
		r := newReport(cmdline.New(nil, &out, &errs), &config.Config{Format: config.Text, Progress: test.when}, time.Now())
		r.terminal, r.inst = test.terminal, inst
		for _, e := range events {
			r.event(e)
		}
		r.done()
		got := regexp.MustCompile(` +\d\.\d{3} {12}`).ReplaceAllString(strings.ReplaceAll(errs.String(), clearLine, "<"), "")
		if d := cmp.Diff(test.want, got); d != "" || out.String() != "[0]\n" {
			t.Errorf("terminal %t, %s: %s\noutput %q", test.terminal, test.when, d, out.String())
		}
	}
}
