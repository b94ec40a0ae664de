package diag

import "runtime/debug"

// Recover turns a panic into an ErrInternal, a bug of this program and never the user's. An entry point of the façade
// defers it:
//
//	defer diag.Recover("plan", &err)
func Recover(stage string, err *error) {
	if p := recover(); p != nil {
		*err = Internal(Bug, Position{}, "%s: %v", stage, p).WithNote(Position{}, "%s", debug.Stack())
	}
}
