package review_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"autoshard/review"
)

var rewrite = flag.Bool("rewrite", false, "write the types of the page anew")

const typesFile = "../web/src/document.ts"

// The page's types are those of the document.
func TestTypesOfThePage(t *testing.T) {
	w := &typescript{done: map[string]bool{}}
	w.object(reflect.TypeFor[review.Document]())
	text := "// Written by `go test ./review -rewrite` from the Go types of package review.\n\n" + strings.Join(w.parts, "\n")
	if *rewrite {
		if err := os.WriteFile(typesFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(typesFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != text {
		t.Errorf("%s is not current: go test ./review -rewrite", typesFile)
	}
}

// typescript writes interfaces.
type typescript struct {
	done  map[string]bool
	parts []string
}

func (w *typescript) object(t reflect.Type) {
	if w.done[t.Name()] {
		return
	}
	w.done[t.Name()] = true
	at := len(w.parts)
	w.parts = append(w.parts, "")
	var b strings.Builder
	fmt.Fprintf(&b, "export interface %s {\n", t.Name())
	w.fields(&b, t)
	w.parts[at] = b.String() + "}\n"
}

func (w *typescript) fields(b *strings.Builder, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			w.fields(b, f.Type)
		case name == "-" || !f.IsExported():
		default:
			if strings.Contains(options, "omitempty") {
				name += "?"
			}
			fmt.Fprintf(b, "  %s: %s;\n", name, w.name(f.Type))
		}
	}
}

func (w *typescript) name(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		if t.Elem().Kind() == reflect.Struct {
			return w.name(t.Elem()) + " | null"
		}
		return w.name(t.Elem())
	case reflect.Slice, reflect.Array:
		if inner := w.name(t.Elem()); strings.Contains(inner, " ") {
			return "(" + inner + ")[]"
		} else {
			return inner + "[]"
		}
	case reflect.Struct:
		w.object(t)
		return t.Name()
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	}
	if t.Kind() == reflect.Interface || t.Kind() == reflect.Map {
		return "unknown"
	}
	return "number"
}
