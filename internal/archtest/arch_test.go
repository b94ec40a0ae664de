package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
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
	return s == "api" || s == "backend/jax" || s == "internal/cli" || s == "internal/config" || s == "internal/archtest" || p.generated() ||
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
	state := map[string]int{}
	var visit func(name string)
	visit = func(name string) {
		switch state[name] {
		case 1:
			t.Errorf("dag.txt has a cycle through %s", name)
			return
		case 2:
			return
		}
		state[name] = 1
		for _, to := range allowed[name] {
			visit(to)
		}
		state[name] = 2
	}
	for name, imports := range allowed {
		visit(name)
		from := listed{ImportPath: path.Join(module, name)}
		for _, i := range imports {
			if to := (listed{ImportPath: path.Join(module, i)}); !from.outer() && to.outer() {
				t.Errorf("dag.txt lets the core package %s import %s", name, i)
			}
		}
	}
}

// What core packages must not import, and who alone may import some libraries.
var (
	coreBans = []string{"os", "os/exec", "os/signal", "net", "net/http", "flag", "log", "log/slog", "syscall", "math/rand", "testing",
		"github.com/spf13/viper", "github.com/spf13/cobra", "github.com/spf13/pflag"}
	owners = map[string][]string{
		"github.com/spf13/viper":                {"internal/config"},
		"github.com/go-viper/mapstructure/v2":   {"internal/config"},
		"github.com/spf13/cobra":                {"internal/cli"},
		"connectrpc.com/connect":                {"api"},
		"github.com/jedib0t/go-pretty/v6/table": {".", "report"},
	}
)

func TestBannedImports(t *testing.T) {
	for _, p := range packages(t) {
		for _, i := range p.Imports {
			if !p.outer() && slices.Contains(coreBans, i) {
				t.Errorf("the core package %s imports %q", p.short(), i)
			}
			if mayOnly, ok := owners[i]; ok && !slices.ContainsFunc(mayOnly, func(o string) bool {
				return p.short() == o || strings.HasPrefix(p.short(), o+"/")
			}) {
				t.Errorf("%s imports %q, which only %v may", p.short(), i, mayOnly)
			}
		}
	}
}

// What core packages must not call. A star stands for all functions with that prefix.
var callBans = []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "fmt.Print*", "fmt.Scan*",
	"math/rand/v2.Int*", "math/rand/v2.Uint*", "math/rand/v2.Float*", "math/rand/v2.Perm", "math/rand/v2.Shuffle", "math/rand/v2.N"}

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
			if x, ok := n.X.(*ast.Ident); ok && paths[x.Name] != "" && banned(paths[x.Name]+"."+n.Sel.Name) {
				t.Errorf("%s: the core must not use %s.%s", fset.Position(n.Pos()), x.Name, n.Sel.Name)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "print" || f.Name == "println") {
				t.Errorf("%s: the core must not use %s", fset.Position(n.Pos()), f.Name)
			}
		}
		return true
	})
}

func banned(name string) bool {
	return slices.ContainsFunc(callBans, func(ban string) bool {
		prefix, star := strings.CutSuffix(ban, "*")
		return name == ban || star && strings.HasPrefix(name, prefix)
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

func TestFileLength(t *testing.T) {
	for _, p := range packages(t) {
		if p.generated() {
			continue
		}
		for _, file := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			switch lines := bytes.Count(text, []byte("\n")); {
			case lines > tooLong:
				t.Errorf("%s has %d lines, more than %d", path.Join(p.short(), file), lines, tooLong)
			case lines > long:
				t.Logf("%s has %d lines, more than %d", path.Join(p.short(), file), lines, long)
			}
		}
	}
}
