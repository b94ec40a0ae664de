package autoshard

import "autoshard/diag"

// The classes of errors. Every error of this package is of one of them or the context's:
//
//	if errors.Is(err, autoshard.ErrInfeasible) {
//		fmt.Println(autoshard.Diagnostics(err)[0].Notes) // what would help
//	}
var (
	ErrInvalid     = diag.ErrInvalid     // the input or an option is wrong
	ErrInfeasible  = diag.ErrInfeasible  // no plan meets the constraints
	ErrUnsupported = diag.ErrUnsupported // legal, but not implemented
	ErrFinding     = diag.ErrFinding     // a run differs from what it should give
	ErrTooLarge    = diag.ErrTooLarge    // over a stated limit
	ErrInternal    = diag.ErrInternal    // a bug of this module
)

// What errors and findings say.
type (
	// Diagnostic is one thing that is wrong: a code, a position, a message and notes.
	Diagnostic = diag.Diagnostic
	// Position is a place in a source text or a binary file.
	Position = diag.Position
	// Rule describes a kind of finding.
	Rule = diag.Rule
)

// Diagnostics returns those of an error of this package, nil for other errors.
func Diagnostics(err error) []Diagnostic { return diag.Diagnostics(err) }
