package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// publicPackages are those that a program outside of this module uses: the façade and the packages of its values.
var publicPackages = []string{".", "answer", "backend/tensor", "cost", "diag", "explain", "plan", "program", "report",
	"review", "subaxis", "trace"}

// A signature or field that others see must not name a type that they cannot import.
func TestPublicSignatures(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(publicPackages, p.short()) {
			continue
		}
		for _, file := range p.GoFiles {
			checkSignatures(t, filepath.Join(p.Dir, file))
		}
	}
}

func checkSignatures(t *testing.T, file string) {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	hidden := map[string]bool{}
	for _, i := range parsed.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if strings.Contains(path, "/internal/") && i.Name == nil {
			hidden[path[strings.LastIndexByte(path, '/')+1:]] = true
		}
	}
	check := func(what string, n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && hidden[x.Name] {
					t.Errorf("%s: %s has the internal type %s.%s", fset.Position(n.Pos()), what, x.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
				check(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
					checkType(check, s)
				}
			}
		}
	}
}

// receiver returns the name of the type that a method is of.
func receiver(t ast.Expr) string {
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	id, _ := t.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}

// checkType checks the exported fields of a struct, or all of another type.
func checkType(check func(string, ast.Node), s *ast.TypeSpec) {
	fields, ok := s.Type.(*ast.StructType)
	if !ok {
		check(s.Name.Name, s.Type)
		return
	}
	for _, f := range fields.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			check(s.Name.Name, f.Type)
		}
	}
}
