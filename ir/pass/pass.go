// Package pass is the mechanism of passes over a module: tables of passes with typed options, pipelines written as
// MLIR writes them, and a runner that verifies the module after every pass.
//
// What passes there are is no matter of this package: a table is a value, made of rows.
//
//	table := pass.NewTable(pass.Group{Title: "Dialect", Passes: []pass.Pass{{
//		Name:    "sdy-close-shardings",
//		Summary: "close all dimensions",
//		After:   []string{"sdy-user-priority-propagate"},
//		Why:     "only open dimensions take part in propagation",
//		Run:     pass.Infallible(propagate.CloseShardings),
//	}}})
//	pipeline, err := table.Parse("sdy-close-shardings", "--pass-pipeline")
//	if err == nil {
//		err = pipeline.Run(ctx, m, pass.Hooks{})
//	}
package pass

import (
	"context"
	"fmt"
	"slices"

	"autoshard/ir"
)

// Pass is a row of a table: a change of a module under a name. Exactly one of Run and Expand is there.
type Pass struct {
	Name    string
	Summary string // what it does, one line without a full stop
	// After names the passes of the table that come before this one. Where a pipeline has both, its last run of this pass
	// follows its last run of theirs. What those come after comes before this pass, too.
	After   []string
	Why     string // the reason for its place in pipelines, one line without a full stop; pipelines have none
	Func    bool   // may stand inside func.func(...) too; it still gets the whole module
	Options []Option
	// Run changes the module. It returns an error of a class of package diag where the module is not one that the
	// pass can take, or the context's, and may leave it half changed then.
	Run func(context.Context, *ir.Module, Settings) error
	// Expand returns the text of the pipeline that the name stands for.
	Expand func(Settings) string
}

// IsPipeline says whether the name stands for a pipeline.
func (p *Pass) IsPipeline() bool { return p.Expand != nil }

// Infallible makes a Run of a pass that has no options and cannot fail.
func Infallible(f func(*ir.Module)) func(context.Context, *ir.Module, Settings) error {
	return func(_ context.Context, m *ir.Module, _ Settings) error {
		f(m)
		return nil
	}
}

// Plain makes a Run of a pass that has no options.
func Plain(f func(*ir.Module) error) func(context.Context, *ir.Module, Settings) error {
	return func(_ context.Context, m *ir.Module, _ Settings) error { return f(m) }
}

// Group is a part of a table: passes of one stage, in the order in which pipelines run them.
type Group struct {
	Title  string
	Text   string // one paragraph: what the stage is for
	Passes []Pass
}

// Table is a set of passes with distinct names.
type Table struct {
	groups []Group
	byName map[string]*Pass
	names  []string
	later  map[string][]string // by name of a pass: those that come after it, sorted
}

// NewTable returns the table of the groups. It panics where a name or option is there twice, a row is incomplete, or passes come
// after each other or after one that is not there.
func NewTable(groups ...Group) *Table {
	t := &Table{groups: groups, byName: map[string]*Pass{}}
	for g := range groups {
		for i := range groups[g].Passes {
			p := &groups[g].Passes[i]
			if t.byName[p.Name] != nil || (p.Run == nil) == (p.Expand == nil) || p.Summary == "" || (p.Why == "") != p.IsPipeline() {
				panic(fmt.Sprintf("pass: row %q is there twice or incomplete", p.Name))
			}
			checkOptions(p)
			t.byName[p.Name] = p
			t.names = append(t.names, p.Name)
		}
	}
	t.later = t.successors()
	return t
}

func checkOptions(p *Pass) {
	for i, o := range p.Options {
		twice := slices.ContainsFunc(p.Options[:i], func(other Option) bool { return other.Name == o.Name })
		if _, err := o.read(o.Default); err != nil || twice {
			panic(fmt.Sprintf("pass: option %q of %q is there twice or its default %q is no value of it", o.Name, p.Name, o.Default))
		}
	}
}

// Groups returns the groups in order. They must not be changed.
func (t *Table) Groups() []Group { return t.groups }

// Lookup returns the pass of that name, nil if there is none.
func (t *Table) Lookup(name string) *Pass { return t.byName[name] }
