package jax

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"autoshard/internal/diag"
)

// portTaken says whether a process failed because another program listens on the coordinator's port.
func portTaken(m *member) bool {
	output := m.output.String()
	return strings.Contains(output, "Failed to start RPC server") || strings.Contains(output, "Address already in use")
}

// explain returns the error of a process that failed.
func (r *runner) explain(m *member) error {
	var found struct {
		Message string
		Line    int
		Import  bool
	}
	data, err := os.ReadFile(r.report(m.index))
	if err != nil || json.Unmarshal(data, &found) != nil {
		found.Message = fmt.Sprint(m.err)
	}
	found.Message = strings.TrimSpace(found.Message)
	if found.Import {
		return diag.Unsupported(diag.BackendFailed, diag.Position{},
			"`%s` cannot import JAX: install it with `%s -m pip install jax`, or name another Python with --python or AUTOSHARD_PYTHON",
			r.Python, r.Python).WithNote(diag.Position{}, "%s", found.Message)
	}
	what := "the program failed"
	if r.Processes > 1 {
		what = fmt.Sprintf("process %d of %d failed", m.index, r.Processes)
	}
	pos, text := diag.Position{File: programFile}, ""
	if found.Line > 0 {
		text = line(r.source, found.Line)
		pos.Line, pos.Col = found.Line, 1+len(text)-len(strings.TrimLeft(text, " \t"))
	}
	e := diag.Unsupported(diag.BackendFailed, pos, "%s: %s", what, found.Message)
	e.Diagnostics[0].Source = text
	if last := lastLines(m.output.String()); last != "" {
		e.WithNote(diag.Position{}, "its last output is\n%s", last)
	}
	return e
}

// line returns a line of a text, counted from 1.
func line(text []byte, number int) string {
	lines := bytes.Split(text, []byte("\n"))
	if number > len(lines) {
		return ""
	}
	return strings.TrimRight(string(lines[number-1]), "\r")
}

// lastOutput returns the last output of all processes.
func (r *runner) lastOutput(g *group) string {
	var b strings.Builder
	for _, m := range g.members {
		last := lastLines(m.output.String())
		last = cmp.Or(last, "  (none)\n")
		fmt.Fprintf(&b, "last output of process %d of %d:\n%s", m.index, r.Processes, last)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maxLines is how many lines of output an error shows.
const maxLines = 20

// lastLines returns the end of an output, indented.
func lastLines(output string) string {
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(output, "\uFFFD"), "\n"), "\n")
	lines = lines[max(0, len(lines)-maxLines):]
	if len(lines) == 1 && lines[0] == "" {
		return ""
	}
	return "  " + strings.Join(lines, "\n  ") + "\n"
}
