package pass_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/pass"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
)

// table has a pass of every kind. What passes did is noted in the module's name.
func table() *pass.Table {
	note := func(format string, args ...any) func(context.Context, *ir.Module, pass.Settings) error {
		return func(_ context.Context, m *ir.Module, _ pass.Settings) error {
			m.Name += fmt.Sprintf(format, args...)
			return nil
		}
	}
	return pass.NewTable(pass.Group{Title: "first", Passes: []pass.Pass{
		{Name: "alpha", Summary: "s", Why: "w", Func: true, Run: note("a")},
		{Name: "beta", Summary: "s", After: []string{"alpha"}, Why: "w", Options: []pass.Option{
			pass.Bool("fast", false, "h"), pass.Int("count", 3, "h"), pass.Enum("kind", "h", "small", "large"),
			pass.List("only", "h", "left", "right"),
		}, Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
			m.Name += fmt.Sprint(" b ", s.Bool("fast"), " ", s.Int("count"), " ", s.Enum("kind"), " ", s.List("only"))
			return nil
		}},
	}}, pass.Group{Title: "second", Passes: []pass.Pass{
		{Name: "refuse", Summary: "s", Why: "w", Run: pass.Plain(func(*ir.Module) error {
			return diag.Unsupported(diag.NotSupported, diag.Position{}, "not today")
		})},
		{Name: "panic", Summary: "s", Why: "w", Run: pass.Infallible(func(*ir.Module) { panic("oops") })},
		{Name: "break", Summary: "s", Why: "w", Run: pass.Infallible(func(m *ir.Module) {
			main, _ := m.Main()
			m.Erase(m.LastOp(m.Func(main).Body))
		})},
		{Name: "all", Summary: "s", Options: []pass.Option{pass.Bool("fast", true, "h")}, Expand: func(s pass.Settings) string {
			return fmt.Sprintf("alpha,func.func(alpha),beta{fast=%v}", s.Bool("fast"))
		}},
	}})
}

// TestParse reads pipelines: what they expand to, or their errors.
func TestParse(t *testing.T) {
	datadriven.RunTest(t, "testdata/parse", func(t *testing.T, d *datadriven.TestData) string {
		p, err := table().Parse(d.Input, "pipeline")
		if err != nil {
			var out strings.Builder
			diag.Render(&out, err, nil)
			return out.String()
		}
		m := &ir.Module{}
		if _, err := p.Run(t.Context(), m, pass.Hooks{SkipVerify: true}); err != nil {
			return err.Error()
		}
		again, err := table().Parse(p.String(), "again")
		if err != nil || again.String() != p.String() {
			t.Errorf("%s reads back as %v, %v", p, again, err)
		}
		return p.String() + "\n" + m.Name + "\n"
	})
}

const program = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n}\n"

func run(t *testing.T, pipeline string, h pass.Hooks) ([]pass.Timing, error) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(program), mlir.Options{File: "m.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := table().Parse(pipeline, "pipeline")
	if err != nil {
		t.Fatal(err)
	}
	return p.Run(t.Context(), m, h)
}

// Hooks see each pass once, in order, with its time.
func TestHooks(t *testing.T) {
	clock := time.Duration(0)
	var seen []string
	timings, err := run(t, "all,beta{count=5}", pass.Hooks{
		Now: func() time.Duration { clock++; return clock },
		After: func(i int, s pass.Step, m *ir.Module) error {
			seen = append(seen, fmt.Sprintf("%d %s: %s", i, s, m.Name))
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"0 alpha: a", "1 alpha: aa", "2 beta{fast=true}: aa b true 3 small []",
		"3 beta{count=5}: aa b true 3 small [] b false 5 small []"}
	if d := cmp.Diff(want, seen); d != "" {
		t.Error(d)
	}
	for _, s := range timings {
		if s.Run != 1 || s.Verify != 1 {
			t.Errorf("%s took %d and %d ticks", s.Step, s.Run, s.Verify)
		}
	}
	if len(timings) != 4 {
		t.Errorf("%d timings", len(timings))
	}
}

// Errors end the run: those of passes as they are, broken modules as bugs of the pass.
func TestErrors(t *testing.T) {
	if timings, err := run(t, "alpha,refuse,alpha", pass.Hooks{}); !errors.Is(err, diag.ErrUnsupported) || len(timings) != 2 {
		t.Errorf("%d steps, error %v", len(timings), err)
	}
	_, err := run(t, "break,alpha", pass.Hooks{})
	if !errors.Is(err, diag.ErrInternal) || !strings.Contains(err.Error(), "`break`") {
		t.Errorf("error %v", err)
	}
	if found := diag.Diagnostics(err); len(found) != 1 || len(found[0].Notes) == 0 {
		t.Errorf("diagnostics %v", found)
	}
	if _, err := run(t, "break", pass.Hooks{SkipVerify: true}); err != nil {
		t.Error(err)
	}
	if _, err := run(t, "alpha,panic", pass.Hooks{}); !errors.Is(err, diag.ErrInternal) ||
		!strings.Contains(err.Error(), "`panic` failed: oops") {
		t.Errorf("error %v", err)
	}
	stop := errors.New("stop")
	if _, err := run(t, "alpha", pass.Hooks{After: func(int, pass.Step, *ir.Module) error { return stop }}); err != stop {
		t.Errorf("error %v", err)
	}
}

// Mistakes in tables are found when they are made.
func TestNewTable(t *testing.T) {
	row := func(name string, after ...string) pass.Pass {
		return pass.Pass{Name: name, Summary: "s", After: after, Why: "w", Run: pass.Infallible(func(*ir.Module) {})}
	}
	twice := row("a")
	twice.Options = []pass.Option{pass.Bool("x", true, "h"), pass.Int("x", 1, "h")}
	empty := row("a")
	empty.Run = nil
	for name, rows := range map[string][]pass.Pass{
		"row twice": {row("a"), row("a")}, "option twice": {twice}, "nothing to run": {empty},
		"cycle": {row("a", "c"), row("b", "a"), row("c", "b")}, "after itself": {row("a", "a")}, "after nothing": {row("a", "b")},
	} {
		if recovered(func() { pass.NewTable(pass.Group{Passes: rows}) }) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func recovered(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// A pipeline of the table runs its passes in an order that the rows allow, whatever stands between them. Of several runs
// of a pass the last one counts. A text that a user writes may have any order.
func TestOrder(t *testing.T) {
	run := pass.Infallible(func(*ir.Module) {})
	expand := func(text string) func(pass.Settings) string { return func(pass.Settings) string { return text } }
	table := pass.NewTable(pass.Group{Passes: []pass.Pass{
		{Name: "a", Summary: "s", Why: "w", Run: run},
		{Name: "b", Summary: "s", After: []string{"a"}, Why: "w", Run: run},
		{Name: "c", Summary: "s", After: []string{"b"}, Why: "w", Run: run},
		{Name: "again", Summary: "s", Expand: expand("c,a,c")},
		{Name: "wrong", Summary: "s", Expand: expand("a,c,a")},
	}})
	for _, text := range []string{"a,b,c", "again", "c,a"} {
		if _, err := table.Parse(text, "pipeline"); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	_, err := table.Parse("wrong", "pipeline")
	if !errors.Is(err, diag.ErrInternal) || !strings.Contains(err.Error(), "pass `c` comes before pass `a`") {
		t.Errorf("error %v", err)
	}
}

// FuzzParse: whatever the text, there is a pipeline whose text reads back, or a located error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "alpha", "beta{fast count=7 kind=large only={left,right}}", "builtin.module(func.func(alpha),all)",
		"beta{count=", "any(any(alpha", "beta{only={left}", "alpha,,", "\x00", "alpha)"} {
		f.Add(seed)
	}
	t := table()
	f.Fuzz(func(tt *testing.T, text string) {
		p, err := t.Parse(text, "pipeline")
		if err != nil {
			if found := diag.Diagnostics(err); len(found) != 1 || found[0].Pos.Line == 0 && len(text) <= 1<<16 {
				tt.Errorf("error without a place: %v", err)
			}
			return
		}
		if again, err := t.Parse(p.String(), "again"); err != nil || again.String() != p.String() {
			tt.Errorf("%q reads back as %v, %v", p, again, err)
		}
	})
}
