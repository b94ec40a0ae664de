package solve

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/config"
	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/search"
	"autoshard/search/iopddl"
)

// report writes progress to standard error, and solutions to standard output or a file.
type report struct {
	s        *cmdline.Streams
	c        *config.Config
	start    time.Time
	inst     *iopddl.Instance
	terminal bool      // standard error can show a line in place
	stream   bool      // standard output gets solutions as they come
	printed  int64     // cost of the latest solution there
	shown    time.Time // when the latest line that stays was written
	pending  string    // the latest line if it was not written or does not stay
}

func newReport(s *cmdline.Streams, c *config.Config, start time.Time) *report {
	out, isFile := s.Out.(*os.File)
	return &report{s: s, c: c, start: start, terminal: s.Terminal(), printed: search.Inf,
		stream: c.Format == config.Text && (c.Output == "" || c.Output == "-") && !(isFile && term.IsTerminal(int(out.Fd())))}
}

const clearLine = "\r\x1b[K"

// event reports an event of the solver. Lines for better solutions stay. Those for better bounds show in place on a terminal; elsewhere one
// a second stays where progress is asked for. The last line stays always.
func (r *report) event(e search.Event) {
	if e.Solution != nil {
		r.answer(e)
	}
	if r.c.Progress == config.Never {
		return
	}
	line := r.line(e)
	if e.Solution != nil || !r.terminal && r.c.Progress == config.Always && time.Since(r.shown) >= time.Second {
		r.stay(line)
	} else if e.Source != "phase" {
		r.pending = line
	}
	if r.terminal {
		fmt.Fprintf(r.s.Err, "%s%s  %s", clearLine, line, e.Phase)
	}
}

// stay writes a line that stays.
func (r *report) stay(line string) {
	if r.terminal {
		line = clearLine + line
	}
	fmt.Fprintln(r.s.Err, line)
	r.shown, r.pending = time.Now(), ""
}

// done writes the last line.
func (r *report) done() {
	switch {
	case r.pending != "":
		r.stay(r.pending)
	case r.terminal && r.c.Progress != config.Never:
		fmt.Fprint(r.s.Err, clearLine)
	}
}

// line returns time in seconds, cost, bound and gap in percent. A dash stands for what is not known.
func (r *report) line(e search.Event) string {
	cost, bound, gap := "-", "-", "-"
	if e.Cost < search.Inf {
		cost = fmt.Sprint(e.Cost)
	}
	if e.Bound > -search.Inf {
		bound = fmt.Sprint(e.Bound)
	}
	if cost != "-" && bound != "-" {
		gap = fmt.Sprintf("%.4f%%", 100*search.Result{Cost: e.Cost, Bound: e.Bound}.Gap())
	}
	return fmt.Sprintf("%9.3f %20s %20s %9s", time.Since(r.start).Seconds(), cost, bound, gap)
}

// answer writes a solution to standard output if it is better by a thousandth than the one there, so that a process that is killed leaves
// an answer. Which solutions these are does not depend on time.
func (r *report) answer(e search.Event) {
	if !r.stream || r.printed < search.Inf && r.printed-e.Cost <= r.printed/1000 {
		return
	}
	r.printed = e.Cost
	_, _ = r.s.Out.Write(r.list(e.Solution)) // the last answer reports errors
}

// list returns a solution as a line.
func (r *report) list(x []int32) []byte {
	return append(iopddl.AppendSolution(nil, r.inst.Solution(x)), '\n')
}

// fail reports that no solution is known, and returns the error.
func (r *report) fail(err error) error {
	var out []byte
	switch {
	case diag.ExitCode(err) == diag.ExitInvalid:
		return err
	case r.c.Format == config.JSON:
		out = r.json(document{Status: map[int]string{diag.ExitInfeasible: "infeasible"}[diag.ExitCode(err)]})
	default:
		out = []byte("[]\n")
	}
	if writeErr := r.s.Write(r.c.Output, out); writeErr != nil {
		return writeErr
	}
	return err
}

// document is the output of --format json. Numbers that are not known are missing.
type document struct {
	Schema   string   `json:"schema"`
	Status   string   `json:"status"` // optimal, feasible, early, infeasible, unknown
	Name     string   `json:"name,omitempty"`
	Cost     *int64   `json:"cost,omitempty"`
	Bound    *int64   `json:"bound,omitempty"`
	Gap      *float64 `json:"gap,omitempty"` // (cost - bound) / |cost|
	Peak     *int64   `json:"peak,omitempty"`
	Limit    *int64   `json:"limit,omitempty"`
	Steps    int64    `json:"steps,omitempty"`
	Seed     uint64   `json:"seed"`
	Solution []int32  `json:"solution"`
}

func (r *report) json(d document) []byte {
	d.Schema, d.Seed = "autoshard.solve/v1", r.c.Seed
	d.Status = cmp.Or(d.Status, "unknown")
	if d.Solution == nil {
		d.Solution = []int32{}
	}
	return encode(&d)
}

// encode writes a document, whose fields are numbers and strings, as a line of JSON.
func encode(document any) []byte {
	out, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return append(out, '\n')
}

// write writes the result: a line of comment and the solution, or JSON.
func (r *report) write(result search.Result) error {
	p := r.inst.Problem
	gap := result.Gap()
	if r.c.Format == config.JSON {
		d := document{Status: result.Status.String(), Name: r.inst.Name, Cost: &result.Cost, Bound: &result.Bound, Gap: &gap, Peak: &result.Peak,
			Steps: result.Steps, Solution: r.inst.Solution(result.Solution)}
		if p.HasLimit {
			d.Limit = &p.Limit
		}
		return r.s.Write(r.c.Output, r.json(d))
	}
	limit := ""
	if p.HasLimit {
		limit = fmt.Sprintf(" of %d", p.Limit)
	}
	head := fmt.Sprintf("# cost %d, bound %d, gap %.4f%%, peak %d%s, %s\n", result.Cost, result.Bound, 100*gap, result.Peak, limit,
		result.Status)
	return r.s.Write(r.c.Output, append([]byte(head), r.list(result.Solution)...))
}

// writeCertificate writes the proof of the bound, packed if the file's name ends in .gz.
func writeCertificate(s *cmdline.Streams, file string, inst *iopddl.Instance, r search.Result) error {
	r.Certificate.SHA256 = inst.SHA256
	data := r.Certificate.AppendJSON(nil)
	if strings.HasSuffix(file, ".gz") {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(data); err != nil {
			return diag.Internal(diag.Bug, diag.Position{}, "pack the certificate: %v", err)
		}
		if err := w.Close(); err != nil {
			return diag.Internal(diag.Bug, diag.Position{}, "pack the certificate: %v", err)
		}
		data = packed.Bytes()
	}
	return s.Write(file, data)
}

func joined(nodes []int32) string {
	return lists.Joined(nodes, func(n int32) string { return fmt.Sprint(n) })
}
