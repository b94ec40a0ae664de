// Package lint finds what is legal in a program but probably not meant: shardings that do not divide, meshes that
// nothing uses, arguments that stay whole on every device.
//
//	found, err := lint.Run(m, lint.Options{Disabled: []string{"unused-axis"}})
//
// Every rule has a name, by which it is switched off, and an example in the generated docs/check.md.
package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"autoshard/internal/diag"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/subaxis"
)

// Rule is a kind of finding, all of severity warning.
type Rule struct {
	Name    string // such as uneven-sharding
	Summary string // one line
	Text    string // why it matters and what to do
	Example string // a program in which this rule alone fires
	check   func(*linter)
}

// Options says which rules run, and for which mesh.
type Options struct {
	Mesh     []subaxis.Axis // that the program will be used with; nil: the only one that it declares
	Disabled []string       // names of rules
}

// Rules returns the rules in the order of their names.
func Rules() []Rule { return rules }

// Run applies the rules to a verified module and returns the findings in the order of the text. The error is of class
// diag.ErrInvalid, for a name in the options that no rule has, or the context's.
func Run(ctx context.Context, m *ir.Module, o Options) ([]diag.Diagnostic, error) {
	if err := CheckNames(o.Disabled); err != nil {
		return nil, err
	}
	l := &linter{ctx: ctx, m: m, axes: o.Mesh}
	l.uses = collect(m)
	if l.axes == nil {
		l.axes = onlyMesh(m)
	}
	for i := range rules {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !slices.Contains(o.Disabled, rules[i].Name) {
			l.rule = &rules[i]
			rules[i].check(l)
		}
	}
	slices.SortStableFunc(l.found, func(a, b diag.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(a.Pos.Offset, b.Pos.Offset))
	})
	return l.found, nil
}

// CheckNames returns an error of class diag.ErrInvalid for the first name that no rule has.
func CheckNames(disabled []string) error {
	known := lists.Map(slices.Concat(rules, programs), func(r Rule) string { return r.Name })
	for _, name := range disabled {
		if slices.Contains(known, name) {
			continue
		}
		return diag.Invalid(diag.BadOption, diag.Position{}, "there is no rule `%s` to disable%s", name, diag.DidYouMean(name, known))
	}
	return nil
}

// linter is one run over a module.
type linter struct {
	ctx   context.Context
	m     *ir.Module
	uses  *meshUses
	axes  []subaxis.Axis // of the mesh that counts, nil for none
	rule  *Rule
	found []diag.Diagnostic
}

// report notes a finding at an operation; 0 stands for the whole program. The source location that the program gives
// for the operation becomes a note.
func (l *linter) report(op ir.OpID, format string, args ...any) {
	pos := l.m.OpPos(op)
	d := diag.Diagnostic{Severity: diag.SeverityWarning, Code: diag.Code(l.rule.Name), Pos: pos, Message: fmt.Sprintf(format, args...),
		Source: l.m.SourceLine(pos.Line)}
	if op != 0 {
		if at := l.m.FileLoc(l.m.OpLoc(op)); at.Kind == ir.LocFile && at.File != pos.File {
			d.Notes = append(d.Notes, diag.Note{Pos: diag.Position{File: at.File, Line: at.Line, Col: at.Col}, Message: "it comes from here"})
		}
	}
	l.found = append(l.found, d)
}
