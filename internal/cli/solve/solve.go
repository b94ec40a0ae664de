// Package solve is the subcommand that solves selection problems in the contest's format, and checks solutions and certificates:
//
//	autoshard solve problem.json.gz --timeout 60s --certificate proof.json.gz > solution.txt
//	autoshard solve check problem.json.gz solution.txt
//	autoshard solve verify problem.json.gz proof.json.gz
package solve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/search"
	"autoshard/search/iopddl"
)

// defaultTimeout ends the search if neither a time nor a step budget is given.
const defaultTimeout = time.Minute

// flags are those that only this command has.
type flags struct {
	certificate string
	workers     int
}

// Command returns the subcommand.
func Command(s *cmdline.Streams) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "solve FILE",
		Short: "Solve a selection problem of the contest's format",
		Long: `Choose a strategy for every node of a selection problem so that the cost is least and the usage stays within the limit.
FILE has the JSON format of the ASPLOS/EuroSys 2025 contest, gzip or not; - is standard input.

Better solutions are reported on standard error as time, cost, proven bound and gap. The last line of standard output is the
solution, a JSON list with a strategy for each node, [] if none is known. The time of --timeout includes reading; without
--timeout and --steps it is one minute. An interrupt ends the search with the best solution so far. docs/solve.md has more.`,
		Example: `  autoshard solve problem.json.gz --timeout 60s > solution.txt
  autoshard solve problem.json --steps 1000000000 --seed 7 --certificate proof.json.gz --format json`,
		Args: cmdline.Args("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			start := time.Now()
			c, err := config.Load(cmd.Flags())
			if err != nil {
				return err
			}
			return run(cmd.Context(), s, c, &f, start, args[0])
		},
	}
	config.AddFlags(cmd.Flags(), "steps", "seed", "timeout", "progress", "format", "output")
	config.AllowFormats(cmd.Flags(), config.Text, config.JSON)
	cmd.Flags().StringVar(&f.certificate, "certificate", "", "write a proof of the bound to this `file`, packed if it ends in .gz")
	cmd.Flags().IntVar(&f.workers, "workers", 0, "use at most this many processors; the result does not depend on it (0: all)")
	cmd.AddCommand(checkCommand(s), verifyCommand(s))
	return cmd
}

func run(ctx context.Context, s *cmdline.Streams, c *config.Config, f *flags, start time.Time, file string) error {
	if f.workers < 0 {
		return diag.Invalid(diag.BadOption, diag.Position{File: "--workers"}, "must be at least 0, not %d", f.workers)
	}
	if f.workers > 0 {
		runtime.GOMAXPROCS(f.workers)
	}
	limited, cancel := context.WithDeadline(ctx, deadline(c, start))
	defer cancel()
	out := newReport(s, c, start)
	inst, err := readInstance(limited, s, file, f.certificate != "")
	if err != nil {
		return out.fail(err)
	}
	out.inst = inst
	r, err := search.Solve(limited, inst.Problem, search.Options{Steps: steps(c), Seed: c.Seed, Certify: f.certificate != "",
		Progress: out.event})
	out.done()
	if err != nil {
		return out.fail(explained(err, file))
	}
	if cmdline.Interrupted(ctx) {
		s.Note("interrupted: this is the best solution so far")
	}
	if err := out.write(r); err != nil || f.certificate == "" {
		return err
	}
	return writeCertificate(s, f.certificate, inst, r)
}

// steps returns the step budget: without one, time alone ends the search.
func steps(c *config.Config) int64 {
	if c.Steps == 0 {
		return math.MaxInt64
	}
	return c.Steps
}

// deadline returns when the search has to end so that the answer is out in time (solver.md section 4.10): 2 % and half a second before the
// time is over, but not after less than three quarters of it.
func deadline(c *config.Config, start time.Time) time.Time {
	timeout := c.Timeout
	switch {
	case timeout == 0 && c.Steps == 0:
		timeout = defaultTimeout
	case timeout == 0:
		return start.Add(100 * 365 * 24 * time.Hour)
	}
	return start.Add(timeout - min(timeout/50+time.Second/2, timeout/4))
}

// firstBytes of a file say what it is.
const firstBytes = 64 << 10

// readInstance reads a problem from a file or standard input, until ctx ends.
func readInstance(ctx context.Context, s *cmdline.Streams, file string, digest bool) (*iopddl.Instance, error) {
	r, name, err := open(s, file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	type result struct {
		inst *iopddl.Instance
		err  error
	}
	done := make(chan result, 1)
	go func() {
		buffered := bufio.NewReaderSize(&stoppable{ctx, r}, firstBytes)
		first, _ := buffered.Peek(firstBytes) // a short file is no error here
		if err := filekind.Check(name, first, filekind.Problem); err != nil {
			done <- result{nil, err}
			return
		}
		inst, err := iopddl.Options{Digest: digest}.Read(buffered, name)
		done <- result{inst, err}
	}()
	select {
	case r := <-done:
		return r.inst, r.err
	case <-ctx.Done(): // standard input may never go on
		return nil, ctx.Err()
	}
}

// open opens a file, or standard input for "-", and returns its name for errors.
func open(s *cmdline.Streams, file string) (io.ReadCloser, string, error) {
	if file == "-" {
		return io.NopCloser(s.In), cmdline.Stdin, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, "", diag.Invalid(diag.BadFile, diag.Position{}, "%v", err)
	}
	return f, file, nil
}

// stoppable is a stream that fails once its context has ended.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

// Read reads from the stream.
func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// maxNamed bounds the nodes that an error names.
const maxNamed = 10

// explained turns the solver's error that there is no solution into a diagnostic.
func explained(err error, file string) error {
	var e *search.InfeasibleError
	if !errors.As(err, &e) {
		return err
	}
	code := diag.NoPlan
	if e.Memory {
		code = diag.MemoryLimit
	}
	out := diag.Infeasible(code, diag.Position{File: file}, "%s", e.Error())
	if e.Memory && len(e.Nodes) > 0 {
		named, more := e.Nodes, ""
		if len(named) > maxNamed {
			named, more = named[:maxNamed], ", …"
		}
		out = out.WithNote(diag.Position{}, "%s live at time %d and cannot do without memory, largest first: %s%s",
			diag.Count(len(e.Nodes), "node is", "nodes are"), e.Time, joined(named), more)
	}
	if !e.Proven {
		out = out.WithNote(diag.Position{}, "this is not proven: more --steps or a longer --timeout may find a solution")
	}
	return out
}
