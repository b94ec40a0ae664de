package autoshard

import (
	"context"
	"slices"

	"autoshard/answer"
	"autoshard/internal/diag"
	"autoshard/internal/lint"
	"autoshard/subaxis"
)

// LintOptions are the options of Lint.
type LintOptions struct {
	Mesh     []subaxis.Axis // that the model will be used with; nil: not said
	Disabled []string       // names of rules
}

// Lint returns warnings about what is legal in a model but probably not meant, in the order of its text. The error is of
// class diag.ErrInvalid: a mesh that the model cannot be used with, or a name that no rule has; or the context's.
func (m *Model) Lint(ctx context.Context, o LintOptions) (warnings []Diagnostic, err error) {
	defer diag.Recover("lint", &err)
	module, _, err := m.source().Shardy(ctx, o.Mesh)
	if err != nil {
		return nil, err
	}
	if len(o.Mesh) > 0 {
		if _, _, err := answer.CommonMesh(module.Clone(), o.Mesh); err != nil {
			return nil, err
		}
	}
	return lint.Run(ctx, module, lint.Options{Mesh: o.Mesh, Disabled: o.Disabled})
}

// CheckLintRules returns an error of class diag.ErrInvalid for the first name that no rule of Lint has.
func CheckLintRules(names []string) error { return lint.CheckNames(names) }

// FindingRules describes all kinds of findings: those of Lint, and those that only plans and propagations have.
func FindingRules() []Rule { return append(LintRules(), lint.Answers()...) }

// LintRules describes the rules of Lint, and those of shard_map programs.
func LintRules() []Rule {
	var out []Rule
	for _, r := range slices.Concat(lint.Rules(), lint.Programs()) {
		out = append(out, Rule{ID: diag.Code(r.Name), Severity: diag.SeverityWarning, Name: r.Summary, Text: r.Text})
	}
	return out
}
