package jsontext_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/internal/jsontext"
)

type tree struct {
	Name     string         `json:"name"`
	Children []tree         `json:"children,omitempty"`
	Left     *tree          `json:"left,omitempty"`
	Free     map[string]any `json:"free,omitempty"`
	Hidden   int            `json:"-"`
}

// What the type does not have is listed where it stands, however deep; what holds it is read.
func TestUnknownFields(t *testing.T) {
	src := []byte(`{"name": "root", "color": {"name": 1},
 "children": [{"name": "a"}, {"size": [{"x": 1}], "name": "b"}], "left": {"Hidden": 3}, "free": {"anything": 1}}`)
	var got tree
	unknown, err := jsontext.Unmarshal(src, &got)
	if err != nil {
		t.Fatal(err)
	}
	want := []jsontext.Field{{Path: "color", Offset: 17}, {Path: "children[1].size", Offset: 69}, {Path: "left.Hidden", Offset: 113}}
	if d := cmp.Diff(want, unknown); d != "" {
		t.Error(d)
	}
	for _, f := range unknown {
		if src[f.Offset] != '"' {
			t.Errorf("%s stands at %d, where there is %q", f.Path, f.Offset, src[f.Offset])
		}
	}
	value := tree{Name: "root", Children: []tree{{Name: "a"}, {Name: "b"}}, Left: &tree{}, Free: map[string]any{"anything": 1.0}}
	if d := cmp.Diff(value, got); d != "" {
		t.Error(d)
	}
}

// What is wrong is said where it is.
func TestErrors(t *testing.T) {
	for src, want := range map[string]jsontext.Error{
		`{"name": "a", "name": "b"}`:           {Message: "name is given twice", Offset: 14},
		`{"left": {"Name": "a"}}`:              {Message: "left.Name is written name", Offset: 10},
		`{"children": [{"name": 5}]}`:          {Message: "children.name must be a string, not number", Offset: 23},
		`{"name": "a"`:                         {Message: "unexpected end of JSON input", Offset: 12},
		`{"name": "a"} {}`:                     {Message: "something follows the value", Offset: 14},
		`{"name" "a"}`:                         {Message: "invalid character '\"' after object key", Offset: 8},
		``:                                     {Message: "unexpected end of JSON input"},
		`{"children": {"name": "not a list"}}`: {Message: "children must be a list, not object", Offset: 13},
	} {
		_, err := jsontext.Unmarshal([]byte(src), new(tree))
		var got *jsontext.Error
		if !errors.As(err, &got) {
			t.Errorf("%s: %v", src, err)
		} else if *got != want {
			t.Errorf("%s: %q at %d, want %q at %d", src, got.Message, got.Offset, want.Message, want.Offset)
		}
	}
}

// A field is found where it stands, whatever stands before it.
func TestMember(t *testing.T) {
	src := []byte(`{"a": {"schema": 1}, "list": ["schema"], "schema" :  "x", "b": 1`)
	value, at, ok := jsontext.Member(src, "schema")
	if !ok || string(value) != `"x"` || at != 53 || src[at] != '"' {
		t.Errorf("found %s at %d, %v", value, at, ok)
	}
	for _, src := range []string{`{"a": 1}`, `{"a": tru, "schema": 1}`, `["schema"]`, ""} {
		if value, _, ok := jsontext.Member([]byte(src), "schema"); ok {
			t.Errorf("%s has the member %s", src, value)
		}
	}
}

// No text is read that encoding/json refuses, and what both read is equal.
func FuzzUnmarshal(f *testing.F) {
	f.Add(`{"name": "a", "children": [{"left": null}], "free": {"x": [1e3, true]}}`)
	f.Add(`{"name": "a", "children": [[[]]]}`)
	f.Fuzz(func(t *testing.T, src string) {
		var ours, theirs tree
		_, err := jsontext.Unmarshal([]byte(src), &ours)
		if err != nil {
			return
		}
		if err := json.Unmarshal([]byte(src), &theirs); err != nil {
			t.Fatalf("%q is read: %v", src, err)
		}
		if d := cmp.Diff(theirs, ours); d != "" {
			t.Error(d)
		}
	})
}
