package client

import (
	"errors"

	"connectrpc.com/connect"

	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/internal/diag"
)

// Error gives an error of the service the class and the diagnostics that the server found, so that errors.Is and [autoshard.Diagnostics]
// know it. Errors of codes that say nothing about the request, such as unavailable and unauthenticated, stay those of Connect.
func Error(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	class := codec.ClassOf(e.Code())
	if class == nil {
		return err
	}
	out := &diag.Error{Class: class}
	for _, detail := range e.Details() {
		value, err := detail.Value()
		if d, ok := value.(*autoshardv1.Diagnostic); err == nil && ok {
			out.Diagnostics = append(out.Diagnostics, codec.Diagnostic(d))
		}
	}
	if len(out.Diagnostics) == 0 {
		return errors.Join(class, err)
	}
	return out
}
