package pass_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/pass"
)

// Values lists what an option takes, its default first.
func TestValues(t *testing.T) {
	for want, o := range map[string]pass.Option{
		"bool false|true":  pass.Bool("x", false, "h"),
		"bool true|false":  pass.Bool("x", true, "h"),
		"int 3|...":        pass.Int("x", 3, "h"),
		"enum small|large": pass.Enum("x", "h", "small", "large"),
		"list left,right":  pass.List("x", "h", "left", "right"),
	} {
		if got := o.Kind.String() + " " + o.Values(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Settings hold the defaults, say which options there are, and panic where a program asks for another one.
func TestDefaultSettings(t *testing.T) {
	s := table().Lookup("beta").DefaultSettings()
	if s.Bool("fast") || s.Int("count") != 3 || s.Enum("kind") != "small" || s.List("only") != nil || s.String() != "" {
		t.Errorf("defaults %v %v %v %v", s.Bool("fast"), s.Int("count"), s.Enum("kind"), s.List("only"))
	}
	if !s.Has("fast") || s.Has("slow") {
		t.Error("Has does not know the options")
	}
	if recovered(func() { s.Bool("slow") }) == nil {
		t.Error("an unknown option has a value")
	}
}

// A table keeps its groups in order, finds passes by name, and knows which names stand for pipelines.
func TestTable(t *testing.T) {
	var names []string
	for _, g := range table().Groups() {
		for _, p := range g.Passes {
			names = append(names, p.Name)
			if table().Lookup(p.Name).Name != p.Name || p.IsPipeline() != (p.Name == "all") {
				t.Errorf("row %s", p.Name)
			}
		}
	}
	if want := []string{"alpha", "beta", "refuse", "panic", "break", "all"}; !slices.Equal(names, want) {
		t.Errorf("passes %v", names)
	}
	if table().Lookup("gamma") != nil {
		t.Error("there is no gamma")
	}
}

func Example() {
	rename := pass.Pass{Name: "rename", Summary: "give the module a name", Why: "anywhere",
		Options: []pass.Option{pass.Enum("name", "the name", "first", "second")},
		Run: func(_ context.Context, m *ir.Module, s pass.Settings) error {
			m.Name = s.Enum("name")
			return nil
		}}
	table := pass.NewTable(pass.Group{Title: "Names", Passes: []pass.Pass{rename}})
	pipeline, err := table.Parse("rename,rename{name=second}", "pipeline")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	m, err := mlir.Parse(ctx, []byte("func.func @main() {\n  return\n}\n"), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = pipeline.Run(ctx, m, pass.Hooks{After: func(i int, s pass.Step, m *ir.Module) error {
		fmt.Printf("%d %s: %s\n", i, s, m.Name)
		return nil
	}})
	_, wrong := table.Parse("renam", "pipeline")
	fmt.Println(err, wrong)
	// Output:
	// 0 rename: first
	// 1 rename{name=second}: second
	// <nil> pipeline:1:1: unknown pass `renam`, did you mean `rename`?
}
