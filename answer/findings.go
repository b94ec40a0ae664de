package answer

import (
	"cmp"
	"fmt"
	"slices"

	"autoshard/diag"
	"autoshard/internal/lint"
	"autoshard/ir"
	"autoshard/ir/names"
)

// Finding is something that a user should know about an answer: what the model asks for and the answer does not keep,
// what stays whole on every device, what makes a price uncertain.
type Finding struct {
	Code     string `json:"code"`             // name of the rule that fired, such as uneven-sharding
	Severity string `json:"severity"`         // warning or note
	Message  string `json:"message"`          // for people
	File     string `json:"file,omitempty"`   // of the model's text
	Line     int    `json:"line,omitempty"`   // from 1; 0: not known
	Column   int    `json:"column,omitempty"` // from 1
	Source   string `json:"source,omitempty"` // line of the program that the model was exported from, such as train.py:12
	Value    string `json:"value,omitempty"`  // that it is about, such as arg0, if it is one
}

// Position returns the place in the model's text.
func (f *Finding) Position() diag.Position {
	return diag.Position{File: f.File, Line: f.Line, Col: f.Column}
}

// Diagnostic returns the finding as check reports it.
func (f *Finding) Diagnostic() diag.Diagnostic {
	d := diag.Diagnostic{Severity: diag.SeverityWarning, Code: diag.Code(f.Code), Pos: f.Position(), Message: f.Message}
	if f.Source != "" {
		d.Notes = []diag.Note{{Message: "it comes from " + f.Source}}
	}
	return d
}

// Findings collects what is to be said about one module.
type Findings struct {
	Module  *ir.Module
	list    []Finding
	values  []string    // names as the module prints them; nil until the first is needed
	args    names.Ports // of the main function, and results; empty until the first is needed
	results names.Ports
}

// Add notes a finding at an operation, and the value that it is about, "" for none.
func (f *Findings) Add(rule diag.Code, op ir.OpID, value, format string, args ...any) {
	pos := f.Module.OpPos(op)
	x := Finding{Code: string(rule), Severity: diag.SeverityWarning.String(), Message: fmt.Sprintf(format, args...), File: pos.File,
		Line: pos.Line, Column: pos.Col, Value: value}
	if op != 0 {
		if l := f.Module.FileLoc(f.Module.OpLoc(op)); l.Kind == ir.LocFile && l.File != pos.File {
			x.Source = fmt.Sprintf("%s:%d", l.File, l.Line)
		}
	}
	f.list = append(f.list, x)
}

// Adopt takes over what lint found.
func (f *Findings) Adopt(found []diag.Diagnostic) {
	for _, d := range found {
		x := Finding{Code: string(d.Code), Severity: d.Severity.String(), Message: d.Message,
			File: d.Pos.File, Line: d.Pos.Line, Column: d.Pos.Col}
		for _, n := range d.Notes {
			x.Source = fmt.Sprintf("%s:%d", n.Pos.File, n.Pos.Line)
		}
		f.list = append(f.list, x)
	}
}

// Platform notes that the model is for several platforms and the user chose none.
func (f *Findings) Platform(s *Source) {
	if s.Platform != "" {
		f.Add(lint.PlatformChoice, 0, "", "the model is for several platforms, this is for %s: the option platform chooses another", s.Platform)
	}
}

// Unnamed notes what [Source.Shardy] says of a mesh without names, if it does.
func (f *Findings) Unnamed(said string) {
	if said != "" {
		f.Add(lint.UnnamedMesh, 0, "", "%s", said)
	}
}

// Clone returns findings that go on apart from these.
func (f *Findings) Clone() Findings {
	out := *f
	out.list = slices.Clip(f.list)
	return out
}

// Join takes over the findings about another form of the program.
func (f *Findings) Join(other *Findings) { f.list = append(f.list, other.list...) }

// Sorted returns the findings in the order of the text, each once. It is never nil.
func (f *Findings) Sorted() []Finding {
	out, seen := []Finding{}, map[Finding]bool{}
	for _, x := range f.list {
		if !seen[x] {
			out = append(out, x)
		}
		seen[x] = true
	}
	slices.SortStableFunc(out, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return out
}
