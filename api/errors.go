package api

import (
	"context"
	"errors"
	"slices"

	"connectrpc.com/connect"

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
		out = connect.NewError(codeOf(err), err)
	} else if hasDiagnostics(out) {
		return err
	}
	for _, d := range diag.Diagnostics(err) {
		detail, detailErr := connect.NewErrorDetail(diagnosticMessage(&d))
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

func codeOf(err error) connect.Code {
	switch {
	case errors.Is(err, diag.ErrInvalid):
		return connect.CodeInvalidArgument
	case errors.Is(err, diag.ErrInfeasible):
		return connect.CodeFailedPrecondition
	case errors.Is(err, diag.ErrUnsupported):
		return connect.CodeUnimplemented
	case errors.Is(err, diag.ErrTooLarge):
		return connect.CodeResourceExhausted
	case errors.Is(err, context.Canceled):
		return connect.CodeCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return connect.CodeDeadlineExceeded
	}
	return connect.CodeInternal
}

func diagnosticMessage(d *diag.Diagnostic) *autoshardv1.Diagnostic {
	out := &autoshardv1.Diagnostic{Code: string(d.Code), Position: positionMessage(d.Pos), Message: d.Message, Source: d.Source}
	for _, n := range d.Notes {
		out.Notes = append(out.Notes, &autoshardv1.Diagnostic_Note{Position: positionMessage(n.Pos), Message: n.Message})
	}
	return out
}

func positionMessage(p diag.Position) *autoshardv1.Diagnostic_Position {
	if p == (diag.Position{}) {
		return nil
	}
	out := &autoshardv1.Diagnostic_Position{File: p.File, Line: int32(p.Line), Column: int32(p.Col)}
	if p.Binary {
		out.Byte = &p.Offset
	}
	return out
}
