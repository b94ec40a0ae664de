package archtest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/rule"
	"autoshard/ir/vhlo"
)

var update = flag.Bool("update", false, "write docs/ops.md")

// capability is a column of docs/ops.md.
type capability struct {
	name, about string
	has         func(k ir.Kind) bool
}

// table is the kinds that have a row in the tables of a package.
type table map[string]bool

func (t table) has(k ir.Kind) bool { return t[identifiers[k.String()]] }

// identifiers are the names of the constants of kinds, by the full names of the ops.
var identifiers = map[string]string{}

// files parses the files of a package that are no tests.
func files(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "..", dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	parsed := map[string]*ast.File{}
	for _, p := range paths {
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		parsed[filepath.Base(p)] = f
	}
	return parsed
}

// kindOf returns the constant of a kind that an expression is.
func kindOf(e ast.Expr) (string, bool) {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	x, ok := s.X.(*ast.Ident)
	return s.Sel.Name, ok && x.Name == "ir" && strings.HasPrefix(s.Sel.Name, "Op")
}

// rows returns the kinds that are keys of maps, indices that are assigned to, and elements of lists of kinds in a package, but for
// those in the named variables.
func rows(t *testing.T, dir string, but ...string) table {
	out := table{}
	for _, f := range files(t, dir) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				return !slices.Contains(but, n.Names[0].Name)
			case *ast.AssignStmt: // formats[ir.OpReduce] = …
				if i, ok := n.Lhs[0].(*ast.IndexExpr); ok {
					if name, ok := kindOf(i.Index); ok {
						out[name] = true
					}
				}
			case *ast.CompositeLit:
				out.add(n)
			}
			return true
		})
	}
	return out
}

// add notes the kinds that are keys or elements of a literal.
func (t table) add(lit *ast.CompositeLit) {
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Key
		}
		if name, ok := kindOf(e); ok {
			t[name] = true
		}
	}
}

func readIdentifiers(t *testing.T) {
	for _, spec := range files(t, "ir")["kind.go"].Decls {
		d, ok := spec.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST {
			continue
		}
		for _, s := range d.Specs {
			if v := s.(*ast.ValueSpec); v.Comment != nil {
				name, _, _ := strings.Cut(strings.TrimSpace(v.Comment.Text()), " ")
				identifiers[name] = v.Names[0].Name
			}
		}
	}
}

func capabilities(t *testing.T) []capability {
	artifact := func(k ir.Kind) bool {
		name := strings.TrimPrefix(strings.TrimPrefix(k.String(), "stablehlo."), "func.")
		_, v1 := vhlo.Lookup(name + "_v1")
		_, v2 := vhlo.Lookup(name + "_v2")
		return v1 || v2
	}
	elements := func(k ir.Kind) bool { return k.IsUnary() || k.IsBinary() || k.IsBroadcasting() }
	collective := func(k ir.Kind) bool {
		_, ok := k.CollectiveAxes()
		return ok
	}
	python := func(k ir.Kind) bool { // JAX has no quantized types
		return (k.IsUnary() || k.IsBroadcasting()) && k != ir.OpUniformQuantize && k != ir.OpUniformDequantize
	}
	pretty, kernels := rows(t, "ir/mlir"), rows(t, "backend/interp")
	forms := rows(t, "shardmap/emit", "shortNames", "broadcasts", "exactShapes")
	return []capability{
		{"types", "the verifier checks the types", ir.Kind.HasTypeRule},
		{"infer", "`ir.Infer` says the types of the results", ir.Kind.Infers},
		{"rule", "a sharding rule (`ir/rule`)", func(k ir.Kind) bool { return rule.KindFamily(k) != nil }},
		{"text", "a pretty form (`ir/mlir`)", func(k ir.Kind) bool { return elements(k) || collective(k) || pretty.has(k) }},
		{"artifact", "part of portable artifacts (`ir/vhlo`)", artifact},
		{"kernel", "the interpreter runs it (`backend/interp`)", func(k ir.Kind) bool { return k.IsBroadcasting() || kernels.has(k) }},
		{"JAX", "has a form in Python (`shardmap/emit`)", func(k ir.Kind) bool { return python(k) || forms.has(k) }},
		{"JVP", "has a forward derivative (`shardmap/transpose`)", tableIn(t, "shardmap/transpose", "derivatives.go").has},
		{"transpose", "has a transpose (`shardmap/transpose`)", tableIn(t, "shardmap/transpose", "local.go").has},
		{"local", "the local form is more than the same op (`shardmap/lower.go`)", tableIn(t, "shardmap", "lower.go").has},
	}
}

// tableIn returns the rows of one file.
func tableIn(t *testing.T, dir, file string) table {
	out := table{}
	ast.Inspect(files(t, dir)[file], func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			out.add(lit)
		}
		return true
	})
	return out
}

// opsTable writes docs/ops.md.
func opsTable(t *testing.T) string {
	var b strings.Builder
	columns := capabilities(t)
	b.WriteString("# What every op has\n\nWritten by `go test ./internal/archtest -run TestOpsTable -update` from the tables of the " +
		"packages.\n" +
		"Every op is read and written as generic text, bytecode and `model.json`.\n\n")
	for _, c := range columns {
		fmt.Fprintf(&b, "- **%s**: %s\n", c.name, c.about)
	}
	b.WriteString("\n| op |")
	for _, c := range columns {
		b.WriteString(" " + c.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat(":-:|", len(columns)) + "\n")
	for k := ir.OpUnregistered + 1; k < ir.NumKinds; k++ {
		fmt.Fprintf(&b, "| `%s` |", k)
		for _, c := range columns {
			if c.has(k) {
				b.WriteString(" x |")
			} else {
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// TestOpsTable fails where docs/ops.md is not what the tables say.
func TestOpsTable(t *testing.T) {
	readIdentifiers(t)
	name := filepath.Join("..", "..", "docs", "ops.md")
	want := opsTable(t)
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Errorf("docs/ops.md is stale: run go test ./internal/archtest -run TestOpsTable -update")
	}
}

// places returns the files outside of the tables of ir that know a kind: it is a key or an element of a table there, a case, a
// value that another is compared with, or an argument with which a family is registered. Code that makes such an op does not count, nor
// do programs for tests, which fail by themselves where they lack one.
func places(t *testing.T, kind string) (out []string) {
	for _, p := range packages(t) {
		if p.generated() || p.short() == "ir" || strings.HasPrefix(p.short(), "internal/testkit") {
			continue
		}
		for file, f := range files(t, p.short()) {
			if knows(f, kind) {
				out = append(out, path.Join(p.short(), file))
			}
		}
	}
	slices.Sort(out)
	return out
}

func knows(f *ast.File, kind string) (found bool) {
	see := func(e ast.Expr) {
		if name, ok := kindOf(e); ok && name == kind {
			found = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			return n.Names[0].Name != "shortNames" // names of values in Python, which ops may go without
		case *ast.KeyValueExpr:
			see(n.Key)
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				see(e)
			}
		case *ast.CaseClause:
			for _, e := range n.List {
				see(e)
			}
		case *ast.BinaryExpr:
			see(n.X)
			see(n.Y)
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.Ident); ok && fn.Name == "register" {
				for _, e := range n.Args {
					see(e)
				}
			}
		}
		return true
	})
	return found
}

// placesOf returns the files that ARCHITECTURE.md names for a new op of a family.
func placesOf(t *testing.T, what string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "| "+what+" |")
		if !ok {
			continue
		}
		var out []string
		for i, part := range strings.Split(rest, "`") {
			if i%2 == 1 && strings.HasSuffix(part, ".go") && !strings.HasPrefix(part, "ir/kind") && !strings.HasPrefix(part, "ir/ops") {
				out = append(out, part)
			}
		}
		slices.Sort(out)
		return out
	}
	t.Fatalf("ARCHITECTURE.md does not say where to add %s", what)
	return nil
}

// A new op is written down in its row, and in the files that ARCHITECTURE.md names: an elementwise one in those of its kernel, a
// structural one, such as reduce_window, in at most eight.
func TestPlacesOfOps(t *testing.T) {
	for _, c := range []struct {
		what  string
		kinds []string
		most  int
	}{
		{"an elementwise op", []string{"OpTan", "OpCbrt"}, 3},
		{"a structural op", []string{"OpReduceWindow"}, 8},
	} {
		want := placesOf(t, c.what)
		if len(want) > c.most {
			t.Errorf("%s has %d places, more than %d", c.what, len(want), c.most)
		}
		for _, kind := range c.kinds {
			if have := places(t, kind); !slices.Equal(have, want) {
				t.Errorf("%s is known in\n%s\nbut ARCHITECTURE.md says of %s\n%s", kind, strings.Join(have, "\n"), c.what, strings.Join(want, "\n"))
			}
		}
	}
}
