// Package diag makes errors of the classes that the whole program shares, and shows them to people and machines. What an error
// is, the public package diag says; this one has its types under its own name.
//
//	err := diag.Invalid(diag.UnknownAxis, pos, "unknown axis %q", name)
//	errors.Is(err, diag.ErrInvalid) // true
package diag

import (
	"fmt"

	"autoshard/diag"
)

// The classes of errors (specification: design.md section 5).
var (
	ErrInvalid     = diag.ErrInvalid
	ErrInfeasible  = diag.ErrInfeasible
	ErrUnsupported = diag.ErrUnsupported
	ErrFinding     = diag.ErrFinding
	ErrTooLarge    = diag.ErrTooLarge
	ErrInternal    = diag.ErrInternal
)

// What an error holds.
type (
	// Error is an error of one class with the diagnostics that explain it.
	Error = diag.Error
	// Diagnostic is one finding about the input.
	Diagnostic = diag.Diagnostic
	// Position is a place in a source text or binary file.
	Position = diag.Position
	// Note adds a second place or a hint to a diagnostic.
	Note = diag.Note
	// Code identifies a kind of diagnostic.
	Code = diag.Code
	// Severity says how bad a finding is.
	Severity = diag.Severity
	// Rule is a kind of finding.
	Rule = diag.Rule
)

// The severities.
const (
	SeverityError   = diag.SeverityError
	SeverityWarning = diag.SeverityWarning
)

// Diagnostics returns those of the Error that err is or wraps, nil if there is none.
func Diagnostics(err error) []Diagnostic { return diag.Diagnostics(err) }

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

// About puts what they are about in front of the messages of an error, and returns the error.
func About(err error, what string) error {
	for i := range Diagnostics(err) {
		d := &Diagnostics(err)[i]
		d.Message = what + ": " + d.Message
	}
	return err
}

// InFile names a file in the diagnostics of an error that name no place yet, and returns the error.
func InFile(err error, file string) error {
	for i := range Diagnostics(err) {
		if d := &Diagnostics(err)[i]; d.Pos == (Position{}) {
			d.Pos.File = file
		}
	}
	return err
}

func newError(class error, code Code, pos Position, format string, args []any) *Error {
	return &Error{Class: class, Diagnostics: []Diagnostic{{Code: code, Pos: pos, Message: fmt.Sprintf(format, args...)}}}
}
