package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// proven are packages whose exported functions have tests that state what they promise, with other packages of which files count as
// their tests: those of the façade, which gives their functions other names, and the table of passes, each of which has golden programs.
var proven = map[string][]string{
	".": nil, "answer": {"."}, "explain": {"."}, "plan": {"."}, "program": {"."}, "report": {"."},
	"propagate": {"passes"}, "propagate/reshard": {"passes"}, "collectives": nil,
	"search": nil, "search/certify": nil, "search/iopddl": nil, "search/space": nil,
	"shardmap": nil, "shardmap/emit": nil, "shardmap/refine": nil, "shardmap/ring": nil, "shardmap/transpose": nil, "shardmap/typed": nil,
	"backend/conformance": nil, "backend/interp": nil, "backend/jax": nil, "backend/mesh": nil, "backend/run": nil, "backend/verify": nil,
	"backend/tensor": nil, "backend/tensor/npz": nil, "backend/tensor/zlapack": nil,
}

// spoken are methods that fmt and errors call.
var spoken = []string{"String", "Error", "Unwrap"}

// Every exported function and method of the proven packages is used by a test.
func TestExportedFunctionsHaveTests(t *testing.T) {
	byName := map[string]*listed{}
	for _, p := range packages(t) {
		byName[p.short()] = p
	}
	for name, others := range proven {
		p := byName[name]
		used := map[string]bool{}
		namesIn(t, used, p.Dir, p.TestGoFiles, p.XTestGoFiles)
		for _, other := range others {
			o := byName[other]
			namesIn(t, used, o.Dir, o.TestGoFiles, o.XTestGoFiles)
			if other == "passes" {
				namesIn(t, used, o.Dir, o.GoFiles)
			}
		}
		for _, file := range p.GoFiles {
			for _, d := range parsedFile(t, p.Dir, file).Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() || f.Recv != nil && !ast.IsExported(receiver(f.Recv.List[0].Type)) {
					continue
				}
				if !used[f.Name.Name] && !slices.Contains(spoken, f.Name.Name) {
					t.Errorf("no test of package %s calls %s", name, f.Name.Name)
				}
			}
		}
	}
}

// Every test of the proven packages says in a comment what holds where it passes.
func TestTestsSayWhatHolds(t *testing.T) {
	for _, p := range packages(t) {
		if _, ok := proven[p.short()]; !ok {
			continue
		}
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			for _, d := range parsedFile(t, p.Dir, file).Decls {
				f, ok := d.(*ast.FuncDecl)
				if ok && f.Doc == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
					t.Errorf("%s of package %s has no comment", f.Name.Name, p.short())
				}
			}
		}
	}
}

// namesIn notes all identifiers of files, but for examples, which show more than they promise.
func namesIn(t *testing.T, used map[string]bool, dir string, lists ...[]string) {
	t.Helper()
	for _, file := range slices.Concat(lists...) {
		ast.Inspect(parsedFile(t, dir, file), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return !isExample(n)
			case *ast.Ident:
				used[n.Name] = true
			}
			return true
		})
	}
}

func isExample(f *ast.FuncDecl) bool {
	return f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example")
}

func parsedFile(t *testing.T, dir, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Every package that others import has an example that runs, which godoc shows.
func TestPackagesHaveExamples(t *testing.T) {
	for _, p := range packages(t) {
		s := p.short()
		if p.Name == "main" || p.generated() || strings.HasPrefix(s, "internal/") || strings.HasPrefix(s, "benchmarks/") {
			continue
		}
		found := false
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			for _, d := range parsedFile(t, p.Dir, file).Decls {
				f, ok := d.(*ast.FuncDecl)
				found = found || ok && isExample(f)
			}
		}
		if !found {
			t.Errorf("package %s has no example", s)
		}
	}
}
