package opt

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"autoshard/internal/cli/cmdline"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/pass"
)

// dumpAll is the word of --dump-after for all passes.
const dumpAll = "all"

// dumper prints programs after the passes that the user wants to see.
type dumper struct {
	streams *cmdline.Streams
	flags   *flags
	files   int
}

// newDumper checks the flags of dumps.
func newDumper(s *cmdline.Streams, f *flags, pipeline *pass.Pipeline) (*dumper, error) {
	if f.dumpDir != "" {
		if len(f.dumpAfter) == 0 {
			return nil, diag.Invalid(diag.BadOption, diag.Position{File: "--dump-dir"}, "needs --dump-after, which says what to write there")
		}
		if err := os.MkdirAll(f.dumpDir, 0o777); err != nil {
			return nil, diag.Invalid(diag.BadFile, diag.Position{File: "--dump-dir"}, "%v", err)
		}
	}
	return &dumper{streams: s, flags: f}, checkDumps(f.dumpAfter, pipeline)
}

// dump writes the program after a step: to standard error, or to DIR/02_sdy-close-shardings.mlir.
func (d *dumper) dump(_ int, s pass.Step, m *ir.Module) error {
	name := s.Pass.Name
	if !slices.Contains(d.flags.dumpAfter, dumpAll) && !slices.Contains(d.flags.dumpAfter, name) {
		return nil
	}
	text := mlir.Print(m, mlir.PrintOptions{DebugInfo: d.flags.debugInfo})
	if d.flags.dumpDir == "" {
		d.streams.Note("// -----// module after %s //----- //\n%s", s, text)
		return nil
	}
	d.files++
	return d.streams.Write(filepath.Join(d.flags.dumpDir, fmt.Sprintf("%02d_%s.mlir", d.files, name)), text)
}

// times is the table of --time-passes.
func times(timings []pass.Timing) string {
	var total time.Duration
	for _, t := range timings {
		total += t.Run + t.Verify
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%10s %6s %10s  pass\n", "run", "share", "verify")
	for _, t := range timings {
		share := 100 * float64(t.Run+t.Verify) / float64(max(total, 1))
		fmt.Fprintf(&b, "%8.3fms %5.1f%% %8.3fms  %s\n", milliseconds(t.Run), share, milliseconds(t.Verify), t.Step)
	}
	fmt.Fprintf(&b, "%8.3fms in all", milliseconds(total))
	return b.String()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// listing is the text of --list-passes.
func listing(t *pass.Table) string {
	var b strings.Builder
	for i, g := range t.Groups() {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(g.Title + "\n")
		for _, p := range g.Passes {
			fmt.Fprintf(&b, "  %s\n      %s\n", p.Name, p.Summary)
			for _, o := range p.Options {
				fmt.Fprintf(&b, "      %s=%s  %s\n", o.Name, o.Values(), o.Help)
			}
		}
	}
	return b.String()
}

// drawing is the text of --list-passes --format dot: an edge from each pass to those that come after it.
func drawing(t *pass.Table) string {
	var b, edges strings.Builder
	b.WriteString("digraph passes {\n  node [shape=box]\n")
	for i, g := range t.Groups() {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%q\n", i, g.Title)
		for _, p := range g.Passes {
			fmt.Fprintf(&b, "    %q [tooltip=%q]\n", p.Name, p.Summary)
			for _, first := range p.After {
				fmt.Fprintf(&edges, "  %q -> %q [tooltip=%q]\n", first, p.Name, p.Why)
			}
		}
		b.WriteString("  }\n")
	}
	return b.String() + edges.String() + "}\n"
}
