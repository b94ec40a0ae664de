package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"autoshard/internal/diag"
	"autoshard/internal/filekind"
	"autoshard/internal/jsontext"
	"autoshard/internal/lists"
)

// Read reads plan.json. Fields that a later version of the format may have added are left out, and [Plan.Unknown] lists them; a format of
// another number is refused. Errors are located and of class diag.ErrInvalid, or the context's.
func Read(ctx context.Context, file string, src []byte) (*Plan, error) {
	if err := filekind.Check(file, src, filekind.Plan); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return nil, diag.Invalid(diag.EmptyInput, diag.Position{File: file, Line: 1, Col: 1}, "input is empty: it holds no plan")
	}
	if err := checkFormat(file, src); err != nil {
		return nil, err
	}
	var p Plan
	unknown, err := jsontext.Unmarshal(src, &p)
	if err != nil {
		return nil, unreadable(file, src, err)
	}
	p.Unknown = lists.Map(unknown, func(f jsontext.Field) string { return f.Path })
	return &p, ctx.Err()
}

// formatName is what the formats of plans begin with; their number follows.
const formatName = "autoshard.plan/v"

// checkFormat refuses what is none of our plans before it is read as one.
func checkFormat(file string, src []byte) error {
	value, offset, _ := jsontext.Member(src, "schema")
	var schema string
	if value != nil && json.Unmarshal(value, &schema) != nil || schema == Schema {
		return nil // if it is no string, reading says so
	}
	at := position(file, src, offset)
	if strings.HasPrefix(schema, formatName) {
		return diag.Invalid(diag.BadFile, at, "the plan is of format %s, and this version reads %s", schema, Schema).
			WithNote(diag.Position{}, "another version of autoshard wrote it: read it with that one, or make the plan again")
	}
	return diag.Invalid(diag.BadFile, at, "schema %q is not %q", schema, Schema)
}

// unreadable returns the error about a text that is not read, with its place.
func unreadable(file string, src []byte, err error) error {
	at := diag.Position{File: file}
	var wrong *jsontext.Error
	if errors.As(err, &wrong) {
		at = position(file, src, wrong.Offset)
	}
	return diag.Invalid(diag.BadFile, at, "not a plan: %v", err)
}

// position returns the line and column of a byte, or of the end.
func position(file string, src []byte, offset int) diag.Position {
	before := src[:min(offset, len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return diag.Position{File: file, Line: 1 + bytes.Count(before, []byte{'\n'}), Col: len(before) - start + 1}
}
