package limits

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"autoshard/internal/diag"
)

// Known is a set of findings that are known and accepted: those that were there when it was written. What is found beyond them is new.
type Known struct {
	Schema   string     `json:"schema"`
	Accepted []Accepted `json:"accepted"`
}

// Accepted is a finding as a baseline knows it. Its line does not count, so that it may move.
type Accepted struct {
	Rule    string `json:"rule"`
	File    string `json:"file,omitempty"`
	Message string `json:"message"`
}

// baselineSchema names the format.
const baselineSchema = "autoshard.baseline/v1"

func accepted(d *diag.Diagnostic) Accepted {
	return Accepted{Rule: string(d.Code), File: d.Pos.File, Message: d.Message}
}

// NewKnown accepts findings.
func NewKnown(found []diag.Diagnostic) *Known {
	b := &Known{Schema: baselineSchema, Accepted: []Accepted{}}
	for i := range found {
		b.Accepted = append(b.Accepted, accepted(&found[i]))
	}
	return b
}

// ReadKnown reads what NewKnown made, as JSON. Errors are of class diag.ErrInvalid.
func ReadKnown(file string, text []byte) (*Known, error) {
	var b Known
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&b)
	if err == nil && b.Schema != baselineSchema {
		err = fmt.Errorf("its schema is %q, not %q", b.Schema, baselineSchema)
	}
	if err != nil {
		return nil, diag.Invalid(diag.BadFile, diag.Position{File: file}, "this is no baseline: %v", err)
	}
	return &b, nil
}

// New returns the findings that are not accepted. One that is accepted once counts once.
func (b *Known) New(found []diag.Diagnostic) (fresh []diag.Diagnostic) {
	left := slices.Clone(b.Accepted)
	for i := range found {
		if at := slices.Index(left, accepted(&found[i])); at >= 0 {
			left = slices.Delete(left, at, at+1)
			continue
		}
		fresh = append(fresh, found[i])
	}
	return fresh
}
