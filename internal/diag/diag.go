// Package diag holds located, coded diagnostics and the classes of errors that the whole program shares.
//
// An [Error] belongs to one class, which errors.Is finds and which fixes the exit code and the Connect code,
// and carries the diagnostics that a person reads:
//
//	err := diag.Invalid(diag.UnknownAxis, pos, "unknown axis %q", name)
//	errors.Is(err, diag.ErrInvalid) // true
package diag

import (
	"errors"
	"fmt"
	"strings"
)

// The classes of errors (specification: design.md section 5).
var (
	ErrInvalid     = errors.New("invalid input")
	ErrInfeasible  = errors.New("infeasible")
	ErrUnsupported = errors.New("unsupported")
	ErrFinding     = errors.New("finding")
	ErrTooLarge    = errors.New("too large")
	ErrInternal    = errors.New("internal error")
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

// byteOffset returns the offset in a binary file, nil for other places.
func (p Position) byteOffset() *int64 {
	if !p.Binary {
		return nil
	}
	return &p.Offset
}

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

// Invalid returns an ErrInvalid with one diagnostic.
func Invalid(code Code, pos Position, format string, args ...any) *Error {
	return newError(ErrInvalid, code, pos, format, args)
}

// Unsupported returns an ErrUnsupported with one diagnostic.
func Unsupported(code Code, pos Position, format string, args ...any) *Error {
	return newError(ErrUnsupported, code, pos, format, args)
}

// Infeasible returns an ErrInfeasible with one diagnostic.
func Infeasible(code Code, pos Position, format string, args ...any) *Error {
	return newError(ErrInfeasible, code, pos, format, args)
}

// TooLarge returns an ErrTooLarge with one diagnostic.
func TooLarge(code Code, pos Position, format string, args ...any) *Error {
	return newError(ErrTooLarge, code, pos, format, args)
}

// Finding returns an ErrFinding with one diagnostic.
func Finding(code Code, pos Position, format string, args ...any) *Error {
	return newError(ErrFinding, code, pos, format, args)
}

// Internal returns an ErrInternal with one diagnostic: a bug of this program.
func Internal(code Code, pos Position, format string, args ...any) *Error {
	return newError(ErrInternal, code, pos, format, args)
}

func newError(class error, code Code, pos Position, format string, args []any) *Error {
	return &Error{Class: class, Diagnostics: []Diagnostic{{Code: code, Pos: pos, Message: fmt.Sprintf(format, args...)}}}
}

// WithNote appends a note to the last diagnostic and returns the error.
func (e *Error) WithNote(pos Position, format string, args ...any) *Error {
	last := &e.Diagnostics[len(e.Diagnostics)-1]
	last.Notes = append(last.Notes, Note{pos, fmt.Sprintf(format, args...)})
	return e
}
