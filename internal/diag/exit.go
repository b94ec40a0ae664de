package diag

import (
	"context"
	"errors"
)

// Exit codes of the command line (specification: design.md section 5).
const (
	ExitOK          = 0
	ExitFinding     = 1
	ExitInvalid     = 2
	ExitInfeasible  = 3
	ExitUnsupported = 4
	ExitDeadline    = 5
	ExitInternal    = 70
	ExitCanceled    = 130
)

// ExitCode returns the exit code of an error's class. An error of no class is a bug: whoever makes errors gives them
// one.
func ExitCode(err error) int {
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrFinding):
		return ExitFinding
	case errors.Is(err, ErrInvalid), errors.Is(err, ErrTooLarge):
		return ExitInvalid
	case errors.Is(err, ErrInfeasible):
		return ExitInfeasible
	case errors.Is(err, ErrUnsupported):
		return ExitUnsupported
	case errors.Is(err, context.DeadlineExceeded):
		return ExitDeadline
	case errors.Is(err, context.Canceled):
		return ExitCanceled
	}
	return ExitInternal
}
