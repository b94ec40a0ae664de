package modeljson_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"autoshard/ir/mlir"
	"autoshard/ir/modeljson"
)

// documents returns models in JSON: the examples, written by hand and converted, and that of the documentation.
func documents(t *testing.T) map[string][]byte {
	docs, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{"mlp.json": example(t), "model.md": documented(t, docs)}
	sources := programs(t, "../../examples")
	for name, src := range samples(t) {
		sources[name] = []byte(src)
	}
	for name, src := range sources {
		m, err := mlir.Parse(t.Context(), src, mlir.Options{File: name})
		if err != nil {
			t.Fatal(err)
		}
		if out[name], err = modeljson.Write(m); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// documented returns the model in a documentation's first JSON block.
func documented(t testing.TB, docs []byte) []byte {
	t.Helper()
	_, rest, found := bytes.Cut(docs, []byte("```json\n"))
	block, _, ended := bytes.Cut(rest, []byte("```"))
	if !found || !ended {
		t.Fatal("docs/model.md has no JSON block")
	}
	return block
}

// TestMessage reads models as the protobuf message and writes them again: the program stays the same.
func TestMessage(t *testing.T) {
	model := modelMessage(t)
	for name, src := range documents(t) {
		t.Run(name, func(t *testing.T) {
			message := dynamicpb.NewMessage(model)
			if err := protojson.Unmarshal(src, message); err != nil {
				t.Fatal(err)
			}
			out, err := protojson.Marshal(message)
			if err != nil {
				t.Fatal(err)
			}
			want, err := modeljson.Read(t.Context(), src, name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := modeljson.Read(t.Context(), out, name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(print(want, false), "\n"), strings.Split(print(got, false), "\n")); diff != "" {
				t.Errorf("-JSON +message\n%.4000s", diff)
			}
		})
	}
}

func modelMessage(t *testing.T) protoreflect.MessageDescriptor {
	t.Helper()
	source := &protocompile.SourceResolver{ImportPaths: []string{"../../api/proto"}}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(source)}
	files, err := compiler.Compile(context.Background(), "autoshard/v1/model.proto")
	if err != nil {
		t.Fatal(err)
	}
	return files[0].Messages().ByName("Model")
}

// TestMessageFields compares the fields that the reader knows with those of the messages.
func TestMessageFields(t *testing.T) {
	model := modelMessage(t)
	messages := map[string]protoreflect.MessageDescriptor{"Model": model}
	for i := range model.Messages().Len() {
		m := model.Messages().Get(i)
		messages[string(m.Name())] = m
	}
	for name, fields := range modeljson.Fields {
		message := messages[name]
		if message == nil {
			t.Errorf("no message %s", name)
			continue
		}
		got := map[string]bool{}
		for i := range message.Fields().Len() {
			got[message.Fields().Get(i).JSONName()] = true
		}
		want := map[string]bool{}
		for _, f := range fields {
			want[f] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -reader +message\n%s", name, diff)
		}
	}
}

// TestSchemaFields compares the fields that the reader knows with those of the JSON Schema.
func TestSchemaFields(t *testing.T) {
	text, err := os.ReadFile("../../docs/model.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct{ Properties map[string]any }
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	for name, fields := range modeljson.Fields {
		o := schema.object
		if name != "Model" {
			o = schema.Defs[strings.ToLower(name)]
		}
		if diff := cmp.Diff(slices.Sorted(slices.Values(fields)), slices.Sorted(maps.Keys(o.Properties))); diff != "" {
			t.Errorf("%s: -reader +schema\n%s", name, diff)
		}
	}
}

// TestSchema checks models against the JSON Schema, and that it refuses what the reader refuses.
func TestSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../../docs/model.schema.json")
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
	for name, src := range documents(t) {
		if err := validate(src); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	src := example(t)
	for _, change := range [][2]string{
		{`"equation"`, `"equations"`},
		{`"schema": "autoshard.model/v1"`, `"schema": "autoshard.model/v2"`},
		{`"size": 4`, `"size": 0`},
		{`"role": "param"`, `"role": "parameter"`},
		{`"operands": ["x", "params/0/w"]`, `"operands": "x"`},
		{`"value": 0`, `"value": {"hex": "abc"}`},
		{`{"value": "y"`, `{"value": null`},
	} {
		wrong := bytes.Replace(src, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(wrong, src) {
			t.Fatalf("the example has no %s", change[0])
		}
		if validate(wrong) == nil {
			t.Errorf("the schema accepts %s", change[1])
		}
		if _, err := modeljson.Read(t.Context(), wrong, "model.json"); err == nil {
			t.Errorf("the reader accepts %s", change[1])
		}
	}
}
