package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/dominikbraun/graph"
)

const module = "autoshard"

// listed is what `go list -json` says about a package.
type listed struct {
	Dir          string
	ImportPath   string
	Name         string
	Doc          string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	Standard     bool
}

// short returns the path inside the module, "." for the root.
func (p *listed) short() string { return short(p.ImportPath) }

func short(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func (p *listed) generated() bool { return strings.HasPrefix(p.short(), "api/gen/") }

// outer says whether a package is outside the core: it may use files, flags, clocks, environment and loggers.
// backend/jax starts processes, which only files and the operating system connect with this one.
func (p *listed) outer() bool {
	s := p.short()
	return s == "api" || s == "api/boltfile" || s == "api/jobs" || s == "api/plancache" || s == "api/client" || s == "api/codec" ||
		s == "backend/jax" || s == "internal/cli" || s == "internal/config" || s == "internal/archtest" ||
		s == "internal/testkit" || s == "internal/testkit/peer" || s == "backend/conformance" || s == "web" ||
		p.generated() ||
		strings.HasPrefix(s, "internal/cli/") || strings.HasPrefix(s, "cmd/") || strings.HasPrefix(s, "benchmarks/")
}

var list = sync.OnceValues(func() ([]*listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json", "./...")
	cmd.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, errors.Join(err, errors.New(stderr.String()))
	}
	var all []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		if err := d.Decode(p); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if !p.Standard && (p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")) {
			all = append(all, p)
		}
	}
})

func packages(t *testing.T) []*listed {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readDAG returns the allowed imports of each package.
func readDAG(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("dag.txt")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, imports, found := strings.Cut(line, ":")
		if _, twice := allowed[name]; !found || twice {
			t.Fatalf("dag.txt: %q has no colon or is listed twice", name)
		}
		allowed[name] = strings.Fields(imports)
	}
	return allowed
}

func TestImports(t *testing.T) {
	allowed := readDAG(t)
	seen := map[string]bool{}
	for _, p := range packages(t) {
		name := p.short()
		seen[name] = true
		may, ok := allowed[name]
		if !ok {
			t.Errorf("package %s is not in dag.txt", name)
			continue
		}
		for _, i := range p.Imports {
			ours := i == module || strings.HasPrefix(i, module+"/")
			if ours && !slices.Contains(may, short(i)) {
				t.Errorf("%s imports %s, which dag.txt does not allow", name, short(i))
			}
		}
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("dag.txt lists %s, which does not exist", name)
		}
	}
}

// The lists must not allow a cycle that no program could have, or a core package to know an outer one.
func TestDAG(t *testing.T) {
	allowed := readDAG(t)
	names := slices.Sorted(maps.Keys(allowed))
	dag := graph.New(graph.StringHash, graph.Directed(), graph.PreventCycles())
	for _, name := range names {
		if err := dag.AddVertex(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		from := listed{ImportPath: path.Join(module, name)}
		for _, i := range allowed[name] {
			if err := dag.AddEdge(name, i); err != nil {
				t.Errorf("dag.txt lets %s import %s: %v", name, i, err)
			}
			if to := (listed{ImportPath: path.Join(module, i)}); !from.outer() && to.outer() {
				t.Errorf("dag.txt lets the core package %s import %s", name, i)
			}
		}
	}
}

// ban is what packages must not use, and why. A star at the end of a name stands for all names with that prefix.
type ban struct {
	names  []string
	reason string
}

// reasonAgainst returns why a name is banned, "" where it is not.
func reasonAgainst(name string, bans []ban) string {
	for _, b := range bans {
		for _, n := range b.names {
			if prefix, star := strings.CutSuffix(n, "*"); name == n || star && strings.HasPrefix(name, prefix) {
				return b.reason
			}
		}
	}
	return ""
}

// importBans are packages that the core must not import.
var importBans = []ban{
	{[]string{"os", "os/exec", "os/signal", "syscall"}, "a caller reads files and environment, so that the core runs in any process"},
	{[]string{"net", "net/http"}, "package api is the service; the core answers its callers"},
	{[]string{"flag", "github.com/spf13/viper", "github.com/spf13/cobra", "github.com/spf13/pflag"},
		"options come as values, with their defaults"},
	{[]string{"log", "log/slog"}, "what is to be said is returned: as an error, a finding or a trace"},
	{[]string{"math/rand"}, "its functions share one source; math/rand/v2 makes a source from the seed of an option"},
	{[]string{"testing"}, "it adds flags to every program that links it"},
}

// callBans are functions that the core must not call.
var callBans = []ban{
	{[]string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After"},
		"results must not depend on the speed of a machine; clocks and deadlines come from the caller"},
	{[]string{"fmt.Print*", "fmt.Scan*"}, "standard input and output are the caller's"},
	{[]string{"math/rand/v2.Int*", "math/rand/v2.Uint*", "math/rand/v2.Float*", "math/rand/v2.Perm", "math/rand/v2.Shuffle", "math/rand/v2.N"},
		"they draw from a source that has no seed, and the same input must give the same bytes"},
}

// owner is a library that some packages alone may import, with those below them, and why.
type owner struct {
	library string
	by      []string
	reason  string
}

var owners = []owner{
	{"github.com/spf13/viper", []string{"internal/config"}, "options are read, checked and located in one place"},
	{"github.com/go-viper/mapstructure/v2", []string{"internal/config"}, "it decodes what viper read"},
	{"github.com/spf13/cobra", []string{"internal/cli"}, "commands are thin: what they do is in the façade"},
	{"go.yaml.in/yaml/v3", []string{"cost/datasheet"}, "files of numbers are read, with their lines, in one place"},
	{"github.com/pelletier/go-toml/v2", []string{"cost/datasheet"}, "files of numbers are read, with their lines, in one place"},
	{"connectrpc.com/connect", []string{"api", "benchmarks/clients"}, "the service is one way to the façade, not its foundation"},
	{"github.com/jedib0t/go-pretty/v6/table", []string{".", "report"}, "tables for people are laid out in one place"},
}

func TestBannedImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.Imports {
			if reason := reasonAgainst(i, importBans); reason != "" && !p.outer() {
				t.Errorf("the core package %s imports %q: %s", p.short(), i, reason)
			}
			for _, o := range owners {
				mine := func(by string) bool { return p.short() == by || strings.HasPrefix(p.short(), by+"/") }
				if i == o.library && !slices.ContainsFunc(o.by, mine) {
					t.Errorf("%s imports %q, which only %v may: %s", p.short(), i, o.by, o.reason)
				}
			}
		}
	}
}

func TestBannedCalls(t *testing.T) {
	for _, p := range packages(t) {
		if p.outer() {
			continue
		}
		for _, file := range p.GoFiles {
			checkCalls(t, filepath.Join(p.Dir, file))
		}
	}
}

func checkCalls(t *testing.T, file string) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	paths := map[string]string{}
	for _, i := range parsed.Imports {
		value, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(strings.TrimSuffix(value, "/v2"))
		if i.Name != nil {
			name = i.Name.Name
		}
		paths[name] = value
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok || paths[x.Name] == "" {
				return true
			}
			if reason := reasonAgainst(paths[x.Name]+"."+n.Sel.Name, callBans); reason != "" {
				t.Errorf("%s: the core must not use %s.%s: %s", fset.Position(n.Pos()), x.Name, n.Sel.Name, reason)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				t.Errorf("%s: the core must not use %s", fset.Position(n.Pos()), f.Name)
			}
		}
		return true
	})
}

func TestPackageComments(t *testing.T) {
	for _, p := range packages(t) {
		want := "Package " + p.Name + " "
		if p.Name == "main" {
			want = "Command " + path.Base(p.ImportPath) + " "
		}
		if !p.generated() && !strings.HasPrefix(p.Doc, want) {
			t.Errorf("the comment of package %s must begin with %q, it is %q", p.short(), want, p.Doc)
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, p := range packages(t) {
		for _, part := range strings.Split(p.short(), "/") {
			switch part {
			case "util", "utils", "common", "helper", "helpers", "types", "manager", "misc", "shared", "base":
				t.Errorf("package %s: %q says nothing about its purpose", p.short(), part)
			}
		}
	}
}

// Lines of one file: above long it is reported, above tooLong the test fails.
const (
	long    = 400
	tooLong = 700
)

// eachFile calls a function with the name and text of each Go file that is not generated, tests included.
func eachFile(t *testing.T, look func(name string, text []byte)) {
	t.Helper()
	for _, p := range packages(t) {
		if p.generated() {
			continue
		}
		for _, file := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			look(path.Join(p.short(), file), text)
		}
	}
}

func TestFileLength(t *testing.T) {
	eachFile(t, func(name string, text []byte) {
		switch lines := bytes.Count(text, []byte("\n")); {
		case lines > tooLong:
			t.Errorf("%s has %d lines, more than %d", name, lines, tooLong)
		case lines > long:
			t.Logf("%s has %d lines, more than %d", name, lines, long)
		}
	})
}

// widest is how many columns a line has at most, a tab counting as one. Raw strings may be wider: they are programs of tests.
const widest = 140

func TestLineWidth(t *testing.T) {
	eachFile(t, func(name string, text []byte) {
		raw := rawStringLines(text)
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line); n > widest && !raw[i+1] {
				t.Errorf("%s:%d has %d columns, more than %d", name, i+1, n, widest)
			}
		}
	})
}

// rawStringLines returns the lines of a file on which raw strings stand.
func rawStringLines(text []byte) map[int]bool {
	lines := map[int]bool{}
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	for pos, tok, lit := s.Scan(); tok != token.EOF; pos, tok, lit = s.Scan() {
		if tok != token.STRING || lit[0] != '`' {
			continue
		}
		first := file.Line(pos)
		for i := range strings.Count(lit, "\n") + 1 {
			lines[first+i] = true
		}
	}
	return lines
}
