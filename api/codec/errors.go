package codec

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	autoshardv1 "autoshard/api/gen/autoshard/v1"
	"autoshard/internal/diag"
)

// codes are the Connect codes of classes of errors (specification: design.md section 5).
var codes = []struct {
	class error
	code  connect.Code
}{
	{diag.ErrInvalid, connect.CodeInvalidArgument},
	{diag.ErrInfeasible, connect.CodeFailedPrecondition},
	{diag.ErrUnsupported, connect.CodeUnimplemented},
	{diag.ErrTooLarge, connect.CodeResourceExhausted},
	{context.Canceled, connect.CodeCanceled},
	{context.DeadlineExceeded, connect.CodeDeadlineExceeded},
}

// CodeOf returns the code of an error by its class, internal for one of no class.
func CodeOf(err error) connect.Code {
	for _, c := range codes {
		if errors.Is(err, c.class) {
			return c.code
		}
	}
	return connect.CodeInternal
}

// ClassOf returns the class of errors that have a code, nil where none has.
func ClassOf(code connect.Code) error {
	for _, c := range codes {
		if c.code == code {
			return c.class
		}
	}
	return nil
}

// DiagnosticMessage returns the message of a diagnostic.
func DiagnosticMessage(d *diag.Diagnostic) *autoshardv1.Diagnostic {
	out := &autoshardv1.Diagnostic{Code: string(d.Code), Position: positionMessage(d.Pos), Message: d.Message, Source: d.Source}
	for _, n := range d.Notes {
		out.Notes = append(out.Notes, &autoshardv1.Diagnostic_Note{Position: positionMessage(n.Pos), Message: n.Message})
	}
	mend(out.ProtoReflect()) // details are written where no codec is
	return out
}

// Diagnostic returns the diagnostic of a message.
func Diagnostic(d *autoshardv1.Diagnostic) diag.Diagnostic {
	out := diag.Diagnostic{Code: diag.Code(d.GetCode()), Pos: positionOf(d.GetPosition()), Message: d.GetMessage(), Source: d.GetSource()}
	for _, n := range d.GetNotes() {
		out.Notes = append(out.Notes, diag.Note{Pos: positionOf(n.GetPosition()), Message: n.GetMessage()})
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

func positionOf(p *autoshardv1.Diagnostic_Position) diag.Position {
	return diag.Position{File: p.GetFile(), Line: int(p.GetLine()), Col: int(p.GetColumn()), Binary: p != nil && p.Byte != nil,
		Offset: p.GetByte()}
}
