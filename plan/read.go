package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/filekind"
)

// Read reads plan.json. Errors are located and of class diag.ErrInvalid, or the context's.
func Read(ctx context.Context, file string, src []byte) (*Plan, error) {
	if err := filekind.Check(file, src, filekind.Plan); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, diag.Invalid(diag.EmptyInput, diag.Position{File: file, Line: 1, Col: 1}, "input is empty: it holds no plan")
	}
	var p Plan
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, diag.Invalid(diag.BadFile, position(file, src, d.InputOffset(), err), "not a plan: %v", err)
	}
	if p.Schema != Schema {
		return nil, diag.Invalid(diag.BadFile, diag.Position{File: file}, "schema %q is not %q", p.Schema, Schema)
	}
	return &p, ctx.Err()
}

// position returns the line and column of an error in JSON text, or of the offset where decoding stopped.
func position(file string, src []byte, offset int64, err error) diag.Position {
	var syntax *json.SyntaxError
	var mismatch *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &mismatch):
		offset = mismatch.Offset
	default:
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			offset = int64(max(0, bytes.Index(src, []byte(field))))
		}
	}
	before := src[:min(int(offset), len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return diag.Position{File: file, Line: 1 + bytes.Count(before, []byte{'\n'}), Col: max(1, len(before)-start)}
}
