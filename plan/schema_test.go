package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"autoshard/internal/testkit"
	"autoshard/plan"
)

//go:generate go test -run "TestSchemaIsCurrent|TestFieldsAreDocumented" -rewrite .

// definition is what plan.json has of a Go type.
type definition struct {
	name   string // of the definition: meshAxis
	about  string
	fields []property
}

type property struct {
	name, typ, about string
	ref              string // the definition of the value, or of the elements of a list
	list, optional   bool
}

// definitions describes a type and those of its fields, each once, in the order in which a plan has them.
func definitions(t *testing.T, typ reflect.Type, seen map[reflect.Type]bool) []definition {
	if seen[typ] {
		return nil
	}
	seen[typ] = true
	comments := commentsOf(t, typ)
	d := definition{name: definitionName(typ), about: comments[""]}
	var inner []definition
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if comments[f.Name] == "" {
			t.Errorf("the field %s of %v has no comment", f.Name, typ)
		}
		p := property{name: name, about: comments[f.Name], optional: options == "omitempty"}
		value := f.Type
		if value.Kind() == reflect.Pointer {
			value = value.Elem()
		}
		if value.Kind() == reflect.Slice {
			p.list, value = true, value.Elem()
		}
		if value.Kind() == reflect.Struct {
			p.ref = definitionName(value)
			inner = append(inner, definitions(t, value, seen)...)
		} else {
			p.typ = jsonType(t, value)
		}
		d.fields = append(d.fields, p)
	}
	return append([]definition{d}, inner...)
}

func definitionName(typ reflect.Type) string { return strings.ToLower(typ.Name()[:1]) + typ.Name()[1:] }

func jsonType(t *testing.T, typ reflect.Type) string {
	switch typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "integer"
	case reflect.Float64:
		return "number"
	}
	t.Fatalf("plan.json has no place for a %v", typ)
	return ""
}

// commentsOf returns the comments of a struct's fields by name, and that of the type under "".
func commentsOf(t *testing.T, typ reflect.Type) map[string]string {
	t.Helper()
	out := map[string]string{}
	dir := filepath.Join("..", strings.TrimPrefix(typ.PkgPath(), "autoshard/"))
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				return true
			}
			spec := decl.Specs[0].(*ast.TypeSpec)
			if body, ok := spec.Type.(*ast.StructType); ok && spec.Name.Name == typ.Name() {
				out[""] = sentence(decl.Doc.Text())
				for _, f := range body.Fields.List {
					out[f.Names[0].Name] = sentence(f.Doc.Text() + f.Comment.Text())
				}
			}
			return true
		})
	}
	if out[""] == "" {
		t.Fatalf("no declaration of %v with a comment in %s", typ, dir)
	}
	return out
}

func sentence(comment string) string { return strings.Join(strings.Fields(comment), " ") }

// planDefinitions describes plan.json.
func planDefinitions(t *testing.T) []definition {
	return definitions(t, reflect.TypeFor[plan.Plan](), map[reflect.Type]bool{})
}

// ordered is a JSON object with its members in order.
type ordered [][2]any

// MarshalJSON writes the members.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, member := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, x := range member {
			text, err := json.Marshal(x)
			if err != nil {
				return nil, err
			}
			b.Write(text)
			if j == 0 {
				b.WriteByte(':')
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (d *definition) schema() ordered {
	var properties ordered
	required := []string{}
	for _, p := range d.fields {
		properties = append(properties, [2]any{p.name, p.schema(d)})
		if !p.optional {
			required = append(required, p.name)
		}
	}
	return ordered{{"type", "object"}, {"description", d.about}, {"properties", properties}, {"required", required}}
}

func (p *property) schema(of *definition) ordered {
	value := ordered{{"type", p.typ}}
	switch {
	case p.ref != "":
		value = ordered{{"$ref", "#/$defs/" + p.ref}}
	case of.name == "hashes":
		value = append(value, [2]any{"pattern", "^sha256:[0-9a-f]{64}$"})
	case of.name == "plan" && p.name == "schema":
		value = ordered{{"const", plan.Schema}}
	}
	if p.list {
		value = ordered{{"type", "array"}, {"items", value}}
	}
	return append(value, [2]any{"description", p.about})
}

// docs/plan.schema.json is what the Go types of a plan and their comments say.
func TestSchemaIsCurrent(t *testing.T) {
	list := planDefinitions(t)
	root := ordered{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"$id", "urn:autoshard:plan:v1"}, {"title", plan.Schema}}
	var defs ordered
	for _, d := range list[1:] {
		defs = append(defs, [2]any{d.name, d.schema()})
	}
	text, err := json.MarshalIndent(append(append(root, list[0].schema()...), [2]any{"$defs", defs}), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	testkit.File(t, filepath.Join("..", "docs", "plan.schema.json"), string(text)+"\n")
}

// The tables of docs/plan.md are those of the schema.
func TestFieldsAreDocumented(t *testing.T) {
	const begin, file = "<!-- fields, written by go generate ./plan -->\n", "../docs/plan.md"
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(text), begin)
	if !found {
		t.Fatalf("%s has no line %q", file, begin)
	}
	var b strings.Builder
	b.WriteString(before + begin)
	for _, d := range planDefinitions(t) {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", d.name, d.about)
		for _, p := range d.fields {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", p.name, p.label(), strings.ReplaceAll(p.about, "|", `\|`))
		}
	}
	testkit.File(t, path.Clean(file), b.String())
}

func (p *property) label() string {
	out := p.typ
	if p.ref != "" {
		out = fmt.Sprintf("[%s](#%s)", p.ref, strings.ToLower(p.ref))
	}
	if p.list {
		out = "list of " + out
	}
	if p.optional {
		out += ", may be absent"
	}
	return out
}

// Plans are as the schema says, and what is not is refused; fields of later versions are no matter.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../docs/plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(src []byte) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(doc)
	}
	src := recordedPlan(t).JSON()
	if err := validate(src); err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct {
		from, to string
		accepted bool
	}{
		{`"model":`, `"later": {"deep": [1]}, "model":`, true},
		{`"schema": "autoshard.plan/v1"`, `"schema": "autoshard.plan/v2"`, false},
		{`"memoryLimit": `, `"memoryLimit": "16GiB", "was": `, false},
		{`"sha256:`, `"md5:`, false},
		{`"certificate": {`, `"certificates": {`, false},
		{`"size": 4`, `"size": 4.5`, false},
	} {
		changed := bytes.Replace(src, []byte(change.from), []byte(change.to), 1)
		if bytes.Equal(changed, src) {
			t.Fatalf("the plan has no %s", change.from)
		}
		if err := validate(changed); (err == nil) != change.accepted {
			t.Errorf("with %s: %v", change.to, err)
		}
	}
}
