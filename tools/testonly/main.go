// Command testonly lists what only tests reach: functions, methods, types, constants and variables of a module's non-test code that nothing
// reaches from its commands or from the exported names of its root package. What stays although only tests reach it yet stands in a file of
// exceptions, a line each with its reason; a line that is no longer needed is an error too.
//
//	go run -C tools ./testonly -exceptions testonly/exceptions.txt ..
//
// What a declaration names is reached with it. A method is reached when it is named, or when its type is reached and an interface has a method
// of that name; the constants of one declaration are reached together.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	file := flag.String("exceptions", "", "`file` of names that may be reached by tests alone, each with its reason after #")
	flag.Parse()
	problems, err := run(flag.Arg(0), *file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testonly:", err)
		os.Exit(2)
	}
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

func run(dir, exceptions string) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir}, "./...")
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return nil, fmt.Errorf("%s does not build", dir)
	}
	excepted, err := readExceptions(exceptions)
	if err != nil {
		return nil, err
	}
	g := &graph{declared: map[types.Object]*declaration{}, interfaces: map[string]bool{}, reached: map[types.Object]bool{}}
	packages.Visit(pkgs, nil, func(p *packages.Package) { g.addInterfaces(p.TypesInfo) })
	for _, p := range pkgs {
		g.add(p)
	}
	for _, o := range g.roots {
		g.reach(o)
	}
	var problems []string
	for o, d := range g.declared {
		if _, known := excepted[d.name]; known && !g.reached[o] {
			excepted[d.name] = true
		}
	}
	for name, used := range excepted {
		if !used {
			problems = append(problems, exceptions+": "+name+" is reached without tests, or gone: remove the line")
		}
	}
	for o, d := range g.declared { // what exceptions name needs no line of its own
		if excepted[d.name] {
			g.reach(o)
		}
	}
	for o, d := range g.declared {
		if !g.reached[o] {
			at := d.fset.Position(o.Pos())
			path, _ := filepath.Rel(dir, at.Filename)
			problems = append(problems, fmt.Sprintf("%s:%d: only tests reach %s", path, at.Line, d.name))
		}
	}
	slices.Sort(problems)
	return problems, nil
}

// readExceptions returns the names of the file. Lines are a name, # and a reason.
func readExceptions(name string) (map[string]bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names := map[string]bool{}
	for s := bufio.NewScanner(f); s.Scan(); {
		name, reason, _ := strings.Cut(s.Text(), "#")
		if name = strings.TrimSpace(name); name != "" && strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: %s has no reason", f.Name(), name)
		} else if name != "" {
			names[name] = false
		}
	}
	return names, nil
}

// graph is what the declarations of a module name.
type graph struct {
	declared   map[types.Object]*declaration
	interfaces map[string]bool // names of all methods of interfaces
	roots      []types.Object
	reached    map[types.Object]bool
}

type declaration struct {
	name    string
	fset    *token.FileSet
	uses    []types.Object
	methods []types.Object // of a type, those that an interface may call
}

// addInterfaces takes the methods of interfaces that a package writes, of type parameters too.
func (g *graph) addInterfaces(info *types.Info) {
	for e, tv := range info.Types {
		if _, ok := e.(*ast.InterfaceType); !ok {
			continue
		}
		t := tv.Type.Underlying().(*types.Interface)
		for i := range t.NumExplicitMethods() {
			g.interfaces[t.ExplicitMethod(i).Name()] = true
		}
	}
}

// add takes the declarations of a package. Generated code declares nothing that has to be reached, but reaches what it names.
func (g *graph) add(p *packages.Package) {
	public := p.PkgPath == p.Module.Path
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				o := p.TypesInfo.Defs[d.Name]
				g.declare(p, o, g.uses(p, d))
				if d.Recv == nil && (d.Name.Name == "main" && p.Name == "main" || d.Name.Name == "init") {
					g.roots = append(g.roots, o)
				}
				if ast.IsGenerated(f) || public && d.Name.IsExported() {
					g.roots = append(g.roots, o)
				}
			case *ast.GenDecl:
				g.addSpecs(p, d, ast.IsGenerated(f), public)
			}
		}
	}
}

// addSpecs takes types, variables and constants. Constants of one declaration count as one.
func (g *graph) addSpecs(p *packages.Package, d *ast.GenDecl, generated, public bool) {
	var constants []types.Object
	for _, spec := range d.Specs {
		var names []*ast.Ident
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = []*ast.Ident{spec.Name}
		case *ast.ValueSpec:
			names = spec.Names
		}
		uses := g.uses(p, spec)
		for _, n := range names {
			o := p.TypesInfo.Defs[n]
			if generated || n.Name == "_" || public && n.IsExported() {
				g.roots = append(g.roots, o)
			}
			g.declare(p, o, uses)
			if d.Tok == token.CONST && n.Name != "_" {
				constants = append(constants, o)
			}
		}
	}
	for _, o := range constants {
		g.declared[o].uses = append(slices.Clone(g.declared[o].uses), constants...)
	}
}

// declare notes an object with what its declaration names.
func (g *graph) declare(p *packages.Package, o types.Object, uses []types.Object) {
	name := strings.TrimPrefix(p.PkgPath+".", p.Module.Path+"/") + o.Name()
	d := &declaration{fset: p.Fset, uses: uses}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		t := f.Signature().Recv().Type()
		if pointer, ok := t.(*types.Pointer); ok {
			t = pointer.Elem()
		}
		receiver := t.(*types.Named).Obj()
		name = strings.TrimPrefix(p.PkgPath+".", p.Module.Path+"/") + receiver.Name() + "." + o.Name()
		if g.interfaces[o.Name()] {
			g.of(receiver).methods = append(g.of(receiver).methods, o)
		}
	}
	d.name = name
	if old := g.declared[o]; old != nil { // a type whose methods came first
		d.methods = old.methods
	}
	g.declared[o] = d
}

func (g *graph) of(o types.Object) *declaration {
	if g.declared[o] == nil {
		g.declared[o] = &declaration{}
	}
	return g.declared[o]
}

// uses returns the objects that a declaration names.
func (g *graph) uses(p *packages.Package, n ast.Node) []types.Object {
	found := map[types.Object]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			switch o := p.TypesInfo.Uses[id].(type) {
			case *types.Func:
				found[o.Origin()] = true
			case *types.TypeName, *types.Const, *types.Var:
				found[o] = true
			}
		}
		return true
	})
	return slices.Collect(maps.Keys(found))
}

// reach marks an object, and what is reached from it.
func (g *graph) reach(o types.Object) {
	d := g.declared[o]
	if d == nil || g.reached[o] {
		return
	}
	g.reached[o] = true
	for _, use := range d.uses {
		g.reach(use)
	}
	for _, m := range d.methods {
		g.reach(m)
	}
}
