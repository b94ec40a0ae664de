package diag

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Report is what a check of several files found, in the order in which it is shown.
type Report struct {
	Tool     Tool
	Files    int
	Findings []Diagnostic
}

// Tool describes the program that made a report and the rules that it knows.
type Tool struct {
	Name, Version string
	Rules         []Rule
}

// Count returns the number of findings of a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Severity == s {
			n++
		}
	}
	return n
}

// Summary returns a line such as "2 errors and 1 warning in 3 files", of what there is.
func (r *Report) Summary() string {
	errors, warnings := r.Count(SeverityError), r.Count(SeverityWarning)
	found := Count(errors, "error", "errors")
	switch {
	case errors > 0 && warnings > 0:
		found += " and " + Count(warnings, "warning", "warnings")
	case warnings > 0:
		found = Count(warnings, "warning", "warnings")
	}
	return found + " in " + Count(r.Files, "file", "files")
}

// WriteText writes the findings as Render does, all of them.
func (r *Report) WriteText(w io.Writer, source func(file string) []byte) {
	for i := range r.Findings {
		renderOne(w, &r.Findings[i], source)
	}
}

// WriteGitHub writes the findings as workflow commands, which GitHub shows beside the lines of a change:
//
//	::error file=m.mlir,line=3,col=5,title=AS1101::what is wrong
func (r *Report) WriteGitHub(w io.Writer) {
	for i := range r.Findings {
		d := &r.Findings[i]
		properties := []string{}
		if d.Pos.File != "" {
			properties = append(properties, "file="+property(d.Pos.File))
		}
		if d.Pos.Line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d,col=%d", d.Pos.Line, d.Pos.Col))
		}
		properties = append(properties, "title="+property(string(d.Code)))
		message := d.Message
		for _, n := range d.Notes {
			message += "\n" + prefix(n.Pos) + "note: " + n.Message
		}
		fmt.Fprintf(w, "::%s %s::%s\n", d.Severity, strings.Join(properties, ","), commandData(message))
	}
}

// commandData escapes the message of a workflow command, property the value of a property.
func commandData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(commandData(s))
}

// Names of the formats of reports, for readers of the documents.
const reportSchema = "autoshard.check/v1"

type jsonReport struct {
	Schema   string        `json:"schema"`
	Files    int           `json:"files"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Findings []jsonFinding `json:"findings"`
}

type jsonFinding struct {
	Severity string     `json:"severity"`
	Code     Code       `json:"code"`
	Message  string     `json:"message"`
	File     string     `json:"file,omitempty"`
	Line     int        `json:"line,omitempty"`
	Column   int        `json:"column,omitempty"` // in bytes, from 1
	Byte     *int64     `json:"byte,omitempty"`   // of a binary file, from 0
	Source   string     `json:"source,omitempty"`
	Notes    []jsonNote `json:"notes,omitempty"`
}

type jsonNote struct {
	Message string `json:"message"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// WriteJSON writes one document of the schema autoshard.check/v1: the counts, then the findings in order.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{Schema: reportSchema, Files: r.Files, Errors: r.Count(SeverityError), Warnings: r.Count(SeverityWarning),
		Findings: []jsonFinding{}}
	for _, d := range r.Findings {
		f := jsonFinding{Severity: d.Severity.String(), Code: d.Code, Message: d.Message, File: d.Pos.File, Line: d.Pos.Line,
			Column: d.Pos.Col, Byte: byteOffset(d.Pos), Source: d.Source}
		for _, n := range d.Notes {
			f.Notes = append(f.Notes, jsonNote{n.Message, n.Pos.File, n.Pos.Line, n.Pos.Col})
		}
		out.Findings = append(out.Findings, f)
	}
	return writeIndented(w, out)
}

func writeIndented(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(document)
}

// runeColumn turns a column in bytes into one in characters, where the line is known.
func runeColumn(line string, col int) int {
	if line == "" || col-1 > len(line) || col < 1 {
		return col
	}
	return utf8.RuneCountInString(line[:col-1]) + 1
}

// byteOffset returns the offset in a binary file, nil for other places.
func byteOffset(p Position) *int64 {
	if !p.Binary {
		return nil
	}
	return &p.Offset
}
