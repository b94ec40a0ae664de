// Package diag says what an error is: it belongs to one class, which errors.Is finds, and has diagnostics, each with a code, a
// place and notes:
//
//	if errors.Is(err, diag.ErrInfeasible) {
//		for _, d := range diag.Diagnostics(err) {
//			fmt.Println(d.Pos, d.Message, d.Code) // docs/errors.md describes the codes
//		}
//	}
package diag

import (
	"errors"
	"fmt"
	"strings"
)

// The classes of errors (specification: design.md section 5).
var (
	ErrInvalid     = errors.New("invalid input")  // a text, model, flag or option is wrong
	ErrInfeasible  = errors.New("infeasible")     // no plan meets the constraints
	ErrUnsupported = errors.New("unsupported")    // legal, but not implemented
	ErrFinding     = errors.New("finding")        // a rule fired, or results differ
	ErrTooLarge    = errors.New("too large")      // over a stated limit
	ErrInternal    = errors.New("internal error") // a bug of this program
)

// Position is a place in a source text. Line and Col count from 1; a zero Line means that no place is known. In a
// binary file the place is the byte at Offset, counted from 0.
type Position struct {
	File   string
	Line   int
	Col    int
	Binary bool
	Offset int64
}

// String returns FILE:LINE:COL, leaving out what is not known, or FILE: byte OFFSET.
func (p Position) String() string {
	switch {
	case p.Binary && p.File == "":
		return fmt.Sprintf("byte %d", p.Offset)
	case p.Binary:
		return fmt.Sprintf("%s: byte %d", p.File, p.Offset)
	case p.Line == 0:
		return p.File
	case p.File == "":
		return fmt.Sprintf("%d:%d", p.Line, p.Col)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// IsKnown says whether the place is known, not only the file.
func (p Position) IsKnown() bool { return p.Line > 0 || p.Binary }

// Code is a stable identifier of a kind of diagnostic, such as AS1001. Codes never change meaning.
type Code string

// Note adds a second place or a hint to a diagnostic.
type Note struct {
	Pos     Position
	Message string
}

// Severity says how bad a finding is.
type Severity uint8

// The severities. An error is what keeps a program from being used.
const (
	SeverityError Severity = iota
	SeverityWarning
)

// String returns error or warning.
func (s Severity) String() string { return [...]string{"error", "warning"}[s] }

// Diagnostic is one finding about the input: what is wrong, where, and under which stable code.
type Diagnostic struct {
	Severity Severity
	Code     Code // of a warning, the name of the rule that fired
	Pos      Position
	Message  string
	Source   string // the source line, without newline; empty if unknown
	Notes    []Note
}

// Error is an error of one class with the diagnostics that explain it.
type Error struct {
	Class       error
	Diagnostics []Diagnostic
}

// Error joins the diagnostics' first lines.
func (e *Error) Error() string {
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = d.Message
		if pos := d.Pos.String(); pos != "" {
			lines[i] = pos + ": " + d.Message
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the class, so that errors.Is(err, ErrInvalid) holds.
func (e *Error) Unwrap() error { return e.Class }

// Diagnostics returns those of the Error that err is or wraps, nil if there is none.
func Diagnostics(err error) []Diagnostic {
	var e *Error
	if !errors.As(err, &e) {
		return nil
	}
	return e.Diagnostics
}

// WithNote appends a note to the last diagnostic and returns the error.
func (e *Error) WithNote(pos Position, format string, args ...any) *Error {
	last := &e.Diagnostics[len(e.Diagnostics)-1]
	last.Notes = append(last.Notes, Note{pos, fmt.Sprintf(format, args...)})
	return e
}

// Rule is a kind of finding.
type Rule struct {
	ID       Code
	Severity Severity
	Name     string // one line
	Text     string // a paragraph
}
