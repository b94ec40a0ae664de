package client

import (
	"context"
	"errors"

	"connectrpc.com/connect"

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
	class := classOf(e.Code())
	if class == nil {
		return err
	}
	out := &diag.Error{Class: class}
	for _, detail := range e.Details() {
		value, err := detail.Value()
		if d, ok := value.(*autoshardv1.Diagnostic); err == nil && ok {
			out.Diagnostics = append(out.Diagnostics, diagnosticOf(d))
		}
	}
	if len(out.Diagnostics) == 0 {
		return errors.Join(class, err)
	}
	return out
}

// classOf returns the class of a code, nil where it has none.
func classOf(code connect.Code) error {
	switch code {
	case connect.CodeInvalidArgument:
		return diag.ErrInvalid
	case connect.CodeFailedPrecondition:
		return diag.ErrInfeasible
	case connect.CodeUnimplemented:
		return diag.ErrUnsupported
	case connect.CodeResourceExhausted:
		return diag.ErrTooLarge
	case connect.CodeCanceled:
		return context.Canceled
	case connect.CodeDeadlineExceeded:
		return context.DeadlineExceeded
	}
	return nil
}

func diagnosticOf(d *autoshardv1.Diagnostic) diag.Diagnostic {
	out := diag.Diagnostic{Code: diag.Code(d.GetCode()), Pos: positionOf(d.GetPosition()), Message: d.GetMessage(), Source: d.GetSource()}
	for _, n := range d.GetNotes() {
		out.Notes = append(out.Notes, diag.Note{Pos: positionOf(n.GetPosition()), Message: n.GetMessage()})
	}
	return out
}

func positionOf(p *autoshardv1.Diagnostic_Position) diag.Position {
	return diag.Position{File: p.GetFile(), Line: int(p.GetLine()), Col: int(p.GetColumn()), Binary: p != nil && p.Byte != nil,
		Offset: p.GetByte()}
}
