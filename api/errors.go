package api

import (
	"errors"
	"slices"

	"connectrpc.com/connect"

	"autoshard/api/codec"
	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/internal/diag"
)

// connectError gives an error its Connect code (specification: design.md section 5), if it has none, and its diagnostics as details.
func connectError(err error) error {
	if err == nil {
		return nil
	}
	var out *connect.Error
	if !errors.As(err, &out) {
		out = connect.NewError(codec.CodeOf(err), err)
	} else if hasDiagnostics(out) {
		return err
	}
	for _, d := range diag.Diagnostics(err) {
		detail, detailErr := connect.NewErrorDetail(codec.DiagnosticMessage(&d))
		if detailErr != nil {
			return connect.NewError(connect.CodeInternal, detailErr)
		}
		out.AddDetail(detail)
	}
	return out
}

// hasDiagnostics says whether an error has diagnostics as details.
func hasDiagnostics(err *connect.Error) bool {
	name := string((&autoshardv1.Diagnostic{}).ProtoReflect().Descriptor().FullName())
	return slices.ContainsFunc(err.Details(), func(d *connect.ErrorDetail) bool { return d.Type() == name })
}
