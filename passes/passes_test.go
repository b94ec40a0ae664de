package passes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"autoshard/internal/testkit"
	"autoshard/ir/pass"
	"autoshard/passes"

	"github.com/cockroachdb/datadriven"
)

// TestGolden runs small programs; the arguments of a command are a pipeline.
func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, d *datadriven.TestData) string {
		var names []string
		for _, arg := range d.CmdArgs {
			names = append(names, arg.String())
		}
		pipeline, err := passes.Table().Parse(strings.Join(names, ","), "pipeline")
		if err != nil {
			t.Fatal(err)
		}
		out, err := run([]byte(d.Input), pipeline)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		return out
	})
}

// Every pass runs on a small program without breaking it, and every pipeline stands for passes of the table. Names and
// texts follow the house rules.
func TestRows(t *testing.T) {
	const program = "sdy.mesh @m = <[\"x\"=2]>\nfunc.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  return %a : tensor<4xf32>\n}\n"
	for _, g := range passes.Table().Groups() {
		for _, p := range g.Passes {
			pipeline, err := passes.Table().Parse(p.Name, "pipeline")
			if err != nil {
				t.Errorf("%s: %v", p.Name, err)
				continue
			}
			if _, err := run([]byte(program), pipeline); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
			for _, text := range []string{p.Summary, p.Why} {
				if text == "" {
					continue // the reason of a pipeline
				}
				if strings.HasSuffix(text, ".") || text[0] >= 'A' && text[0] <= 'Z' {
					t.Errorf("%s: %q is a sentence", p.Name, text)
				}
			}
		}
	}
}

// Every pass has a program that shows what it does, in the golden files of its own package or of this one.
func TestEveryPassHasAProgram(t *testing.T) {
	shown := map[string]bool{}
	for _, pattern := range []string{"testdata/*", "../propagate/testdata/golden/*", "../ir/canonical/testdata/golden/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range regexp.MustCompile(`[a-z]+(-[a-z0-9]+)*`).FindAllString(string(text), -1) {
				shown[name] = true
			}
		}
	}
	for _, g := range passes.Table().Groups() {
		for _, p := range g.Passes {
			if !p.IsPipeline() && !shown[p.Name] {
				t.Errorf("no golden file has a program for %s", p.Name)
			}
		}
	}
}

// Pipelines keep the order of the rows whatever their options are: Parse refuses others.
func TestOrder(t *testing.T) {
	for _, g := range passes.Table().Groups() {
		for _, p := range g.Passes {
			if !p.IsPipeline() {
				continue
			}
			for set := range 1 << len(p.Options) {
				var options []string
				for i, o := range p.Options {
					options = append(options, fmt.Sprintf("%s=%v", o.Name, set>>i&1 == 1))
				}
				if _, err := passes.Table().Parse(p.Name+"{"+strings.Join(options, " ")+"}", "pipeline"); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// docs/passes.md and docs/passes.svg are made from the table.
func TestDocument(t *testing.T) {
	for name, want := range map[string]string{"passes.md": document(passes.Table()), "passes.svg": drawing(passes.Table())} {
		testkit.File(t, filepath.Join("..", "docs", name), want)
	}
}

const documentHead = `# Passes

Generated from package ` + "`passes`" + ` by ` + "`go test ./passes -rewrite`" + `.

` + "`autoshard opt --pass-pipeline='…' MODEL`" + ` runs passes in order, verifies the program after each, and prints it as MLIR does. A pipeline is
written as MLIR writes it, ` + "`p1,p2{option=value other=value}`" + `; passes on functions may stand inside ` + "`func.func(…)`" + `, the whole inside
` + "`builtin.module(…)`" + `. The passes of each part stand in the order in which pipelines run them.

A pipeline that has two passes of which one comes after the other, as the tables say, runs them in that order; a test checks every
pipeline with all of its options. The same as a picture, in which each arc leads down from a pass to one that comes after it
(` + "`autoshard opt --list-passes --format dot`" + ` draws it for Graphviz):

![passes from top to bottom, with arcs from each pass to those that come after it](passes.svg)
`

func document(t *pass.Table) string {
	var b strings.Builder
	b.WriteString(documentHead)
	for _, g := range t.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", g.Title, g.Text)
		if len(g.Passes) > 0 {
			b.WriteString("\n| pass | what it does | comes after | why | runs on |\n|---|---|---|---|---|\n")
		}
		var options strings.Builder
		for _, p := range g.Passes {
			on := "modules"
			if p.Func {
				on = "functions"
			}
			after := ""
			if p.After != nil {
				after = "`" + strings.Join(p.After, "`, `") + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", p.Name, p.Summary, after, p.Why, on)
			for _, o := range p.Options {
				fmt.Fprintf(&options, "| `%s` | `%s` | %s | %s | %s |\n", p.Name, o.Name, optionType(&o), optionDefault(&o), o.Help)
			}
		}
		if options.Len() > 0 {
			b.WriteString("\n| pass | option | type | default | meaning |\n|---|---|---|---|---|\n" + options.String())
		}
		for _, p := range g.Passes {
			if p.IsPipeline() {
				fmt.Fprintf(&b, "\n`%s` stands for\n\n```\n%s\n```\n", p.Name, strings.ReplaceAll(p.Expand(p.DefaultSettings()), ",", ",\n"))
			}
		}
	}
	return b.String()
}

func optionType(o *pass.Option) string {
	if len(o.Words) == 0 {
		return o.Kind.String()
	}
	return o.Kind.String() + ": `" + strings.Join(o.Words, "`, `") + "`"
}

func optionDefault(o *pass.Option) string {
	if o.Default == "" {
		return "none"
	}
	return "`" + o.Default + "`"
}
