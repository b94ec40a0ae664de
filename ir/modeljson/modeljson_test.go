package modeljson_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/modeljson"
	"autoshard/ir/names"
)

// TestGolden shows what models become in MLIR, and the errors of wrong ones.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			src := d.Input
			switch d.Cmd {
			case "read":
			case "body": // ops and outputs of a model whose inputs are arguments: name=type
				src = body(d)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			m, err := modeljson.Read(t.Context(), []byte(src), "model.json")
			if err != nil {
				return diagnostics(err)
			}
			return print(m, false)
		})
	})
}

// body wraps operations on one line each; the last result is the output.
func body(d *datadriven.TestData) string {
	var inputs []string
	for _, a := range d.CmdArgs {
		inputs = append(inputs, fmt.Sprintf(`{"name": %q, "type": %q}`, a.Key, strings.Join(a.Vals, ",")))
	}
	return fmt.Sprintf(`{"schema": "autoshard.model/v1", "inputs": [%s], "ops": [
%s
], "outputs": [{"value": "out"}]}`, strings.Join(inputs, ", "), d.Input)
}

func diagnostics(err error) string {
	var e *diag.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	var b strings.Builder
	for _, d := range e.Diagnostics {
		fmt.Fprintf(&b, "%s: %s [%s]\n", d.Pos, d.Message, d.Code)
	}
	return b.String()
}

func print(m *ir.Module, locations bool) string {
	return string(mlir.Print(m, mlir.PrintOptions{DebugInfo: locations}))
}

// programs yields the text of every MLIR file in a directory.
func programs(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.mlir*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no programs in %s: %v", dir, err)
	}
	out := map[string][]byte{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var r io.Reader = f
		if strings.HasSuffix(path, ".gz") {
			if r, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		src, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = src
	}
	return out
}

// checkRoundTrip demands that a program survives the way through model.json.
func checkRoundTrip(t *testing.T, name string, src []byte) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), src, mlir.Options{File: name})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	converted, err := modeljson.Write(m)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	back, err := modeljson.Read(t.Context(), converted, name+".json")
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, locations := range []bool{false, true} {
		if diff := cmp.Diff(strings.Split(print(m, locations), "\n"), strings.Split(print(back, locations), "\n")); diff != "" {
			t.Fatalf("%s, with locations %t: -before +after\n%.4000s", name, locations, diff)
		}
	}
	again, err := modeljson.Write(back)
	if err != nil || !bytes.Equal(again, converted) {
		t.Fatalf("%s: writing what was read gives another text (error %v)", name, err)
	}
	printed, err := mlir.Parse(t.Context(), []byte(print(back, true)), mlir.Options{File: name})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if again, err = modeljson.Write(printed); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	// The texts are the same but for attributes with their defaults, which MLIR leaves out.
	if m, err = modeljson.Read(t.Context(), again, name+".json"); err != nil || print(m, true) != print(back, true) {
		t.Fatalf("%s: the way from JSON through MLIR changes the program (error %v)", name, err)
	}
}

func TestRoundTripExamples(t *testing.T) {
	for name, src := range programs(t, "../../examples") {
		t.Run(name, func(t *testing.T) { checkRoundTrip(t, name, src) })
	}
}

func TestRoundTripModels(t *testing.T) {
	for name, src := range programs(t, sharedModels(t)) {
		t.Run(name, func(t *testing.T) { checkRoundTrip(t, name, src) })
	}
}

func sharedModels(t *testing.T) string {
	shared := os.Getenv("AUTOSHARD_SHARED")
	if shared == "" {
		t.Skip("AUTOSHARD_SHARED is not set: no collection of models to convert")
	}
	return filepath.Join(shared, "models")
}

// TestRoundTripForms covers attributes and structures that the models lack.
func TestRoundTripForms(t *testing.T) {
	datadriven.Walk(t, "testdata/roundtrip", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			checkRoundTrip(t, d.Pos, []byte(d.Input))
			m, err := mlir.Parse(t.Context(), []byte(d.Input), mlir.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out, err := modeljson.Write(m)
			if err != nil {
				return diagnostics(err)
			}
			return string(out)
		})
	})
}

// TestVerifierPointsAtTheOperation demands the place of an operation in what the verifier finds.
func TestVerifierPointsAtTheOperation(t *testing.T) {
	_, err := modeljson.Read(t.Context(), []byte(`{"schema": "autoshard.model/v1", "inputs": [{"name": "x", "type": "f32[2,3]"}], "ops": [
  {"op": "reshape", "operands": ["x"], "type": "f32[7]", "results": ["y"]}
], "outputs": [{"value": "y"}]}`), "model.json")
	var e *diag.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	if got, want := e.Diagnostics[0].Pos.String(), "model.json:2:3"; got != want {
		t.Errorf("%s is reported at %s, want %s", e.Diagnostics[0].Message, got, want)
	}
}

// TestErrorsInTexts demands code and place of what the readers of types, shardings, attributes and locations find.
func TestErrorsInTexts(t *testing.T) {
	for field, want := range map[string]diag.Code{
		`"type": "tensor<2xq7>"`:                                      diag.Syntax,
		`"type": "f32[4]", "sharding": "<@other, [{}]>"`:              diag.UnknownMesh,
		`"type": "f32[4]", "sharding": "<@mesh, [{\"z\"}]>"`:          diag.UnknownAxis,
		`"type": "f32[4]", "sharding": "<@mesh, [{\"x\"}"`:            diag.Syntax,
		`"type": "f32[4]", "sharding": "[{\"x\":(3)2}]"`:              diag.BadSubAxis,
		`"type": "f32[4]", "location": "loc("`:                        diag.Syntax,
		`"type": "f32[4]", "attributes": {"a.b": {"mlir": "[1, 2"}}`:  diag.Syntax,
		`"type": "f32[4]", "attributes": {"a.b": {"mlir": "\u0000"}}`: diag.NotText,
	} {
		_, err := modeljson.Read(t.Context(), []byte(`{"schema": "autoshard.model/v1", "meshes": [{"axes": [{"name": "x", "size": 8}]}],
			"inputs": [{"name": "a", `+field+`}],
			"outputs": [{"value": "a"}]}`), "model.json")
		var e *diag.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: error %v", field, err)
			continue
		}
		if d := e.Diagnostics[0]; d.Code != want || d.Pos.Line != 2 || d.Source == "" {
			t.Errorf("%s: %s at %s: %s, want %s on line 2", field, d.Code, d.Pos, d.Message, want)
		}
	}
}

// TestResources keeps constants in resources, with and without their content.
func TestResources(t *testing.T) {
	const program = `func.func public @main() -> tensor<2xf32> {
  %%0 = stablehlo.constant dense_resource<%s> : tensor<2xf32>
  return %%0 : tensor<2xf32>
}
{-# dialect_resources: {builtin: {foo: "0x040000000000803F00000040"}} #-}`
	for _, name := range []string{"foo", "__elided__"} {
		checkRoundTrip(t, name, fmt.Appendf(nil, program, name))
	}
	for resource, want := range map[string]diag.Code{
		`{"name": "foo", "hex": "0000"}`: diag.BadConstant, // too short for the constant
		`{"name": "foo", "hex": "000"}`:  diag.BadConstant,
		`{"hex": "00"}`:                  diag.BadModel,
		`{"name": "foo", "align": -1}`:   diag.BadModel,
	} {
		_, err := modeljson.Read(t.Context(), []byte(`{"schema": "autoshard.model/v1", "resources": [`+resource+`], "ops": [
			{"op": "constant", "value": {"resource": "foo"}, "type": "f32[2]", "results": ["x"]}],
			"outputs": [{"value": "x"}]}`), "model.json")
		if found := diag.Diagnostics(err); len(found) == 0 || found[0].Code != want {
			t.Errorf("%s: error %v, want %s", resource, err, want)
		}
	}
}

// TestInference removes every type that a result of the models has in model.json, where the reader can do without.
func TestInference(t *testing.T) {
	count := 0
	for name, src := range programs(t, sharedModels(t)) {
		m, err := mlir.Parse(t.Context(), src, mlir.Options{File: name})
		if err != nil {
			t.Fatal(err)
		}
		converted, err := modeljson.Write(m)
		if err != nil {
			t.Fatal(err)
		}
		short, removed := modeljson.RemoveInferredTypes(converted)
		count += removed
		back, err := modeljson.Read(t.Context(), short, name+".json")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(strings.Split(print(m, false), "\n"), strings.Split(print(back, false), "\n")); diff != "" {
			t.Errorf("%s: -before +after\n%.4000s", name, diff)
		}
	}
	t.Logf("%d types follow from operands", count)
}

// TestTruncated cuts the examples, as JSON, at every 97th byte: none of the parts is a model, and none does harm.
func TestTruncated(t *testing.T) {
	for name, src := range documents(t) {
		if testing.Short() && len(src) > 1<<16 {
			continue
		}
		for end := 0; end < len(bytes.TrimSpace(src)); end += 97 {
			_, err := modeljson.Read(t.Context(), src[:end], "model.json")
			if found := diag.Diagnostics(err); !errors.Is(err, diag.ErrInvalid) || len(found) == 0 || found[0].Pos.Line == 0 {
				t.Errorf("%s cut at %d: error %v", name, end, err)
			}
		}
	}
}

func TestNesting(t *testing.T) {
	_, err := modeljson.Read(t.Context(), []byte(strings.Repeat("[", 100_000)), "model.json")
	if !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
	_, err = modeljson.Read(t.Context(), []byte(`{"schema": `+strings.Repeat(`{"a":`, 100_000)), "model.json")
	if !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}

// TestCallChains reads functions that call each other in a long row, in both orders.
func TestCallChains(t *testing.T) {
	functions := []string{`{"name": "f0", "inputs": [{"name": "x", "type": "f32[]"}], "outputs": [{"value": "x"}]}`}
	for i := 1; i <= 3000; i++ {
		functions = append(functions, fmt.Sprintf(`{"name": "f%d", "inputs": [{"name": "x", "type": "f32[]"}],
			"ops": [{"op": "call", "attributes": {"callee": "f%d"}, "operands": ["x"], "results": ["y"]}], "outputs": [{"value": "y"}]}`, i, i-1))
	}
	model := func() []byte {
		return []byte(`{"schema": "autoshard.model/v1", "functions": [` + strings.Join(functions, ",\n") + "]}")
	}
	if _, err := modeljson.Read(t.Context(), model(), "model.json"); err != nil {
		t.Errorf("callees first: %v", err)
	}
	slices.Reverse(functions)
	if _, err := modeljson.Read(t.Context(), model(), "model.json"); !errors.Is(err, diag.ErrTooLarge) {
		t.Errorf("callers first: error %v", err)
	}
}

func example(t testing.TB) []byte {
	t.Helper()
	src, err := os.ReadFile("../../examples/mlp.json")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// TestExampleIsTheMLP compares the operations of the hand-written model with those that JAX exports for the network.
func TestExampleIsTheMLP(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(sharedModels(t), "mlp_fwd.mlir"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := mlir.Parse(t.Context(), src, mlir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := modeljson.Read(t.Context(), example(t), "mlp.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contractions(t, want), contractions(t, got)); diff != "" {
		t.Errorf("-JAX +example\n%s", diff)
	}
}

// contractions lists the types of inputs, outputs and dot_generals.
func contractions(t *testing.T, m *ir.Module) (out []string) {
	main, ok := m.Main()
	if !ok {
		t.Fatal("no function main")
	}
	f := m.Func(main)
	for _, v := range m.BlockArgs(f.Body) {
		out = append(out, mlir.FormatType(m, m.Type(v)))
	}
	m.Walk(f.Body, func(op ir.OpID) {
		if m.Kind(op) == ir.OpDotGeneral {
			out = append(out, mlir.FormatAttr(m, m.Attr(op, "dot_dimension_numbers"))+mlir.FormatType(m, m.Type(m.Result(op, 0))))
		}
	})
	return append(out, mlir.FormatType(m, f.ResultTypes[0]))
}

// TestNamesAndRoles reads back what a model says about its inputs and outputs.
func TestNamesAndRoles(t *testing.T) {
	m, err := modeljson.Read(t.Context(), example(t), "mlp.json")
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	f := m.Func(main)
	var got []string
	for _, a := range slices.Concat(f.ArgAttrs, f.ResultAttrs) {
		got = append(got, a.Str(names.Attr)+" "+a.Str(modeljson.RoleAttr))
	}
	want := []string{"params/0/bias param", "params/0/w param", "params/1/bias param", "params/1/w param", "params/2/bias param",
		"params/2/w param", "x batch", "y output"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(example(f))
	docs, err := os.ReadFile("../../docs/model.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(documented(f, docs))
	for _, src := range samples(f) {
		m, err := mlir.Parse(context.Background(), []byte(src), mlir.Options{})
		if err != nil {
			f.Fatal(err)
		}
		converted, err := modeljson.Write(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(converted)
	}
	f.Add([]byte(`{"schema": "autoshard.model/v1", "inputs": [{"name": "x", "type": "f32[2,3]"}], "ops": [
		{"op": "while", "operands": ["x"], "results": ["y"], "regions": [
			{"args": [{"name": "a", "type": "f32[2,3]"}], "ops": [{"op": "constant", "value": true, "type": "i1[]", "results": ["c"]}], "outputs": ["c"]},
			{"args": [{"name": "b", "type": "f32[2,3]"}], "outputs": ["b"]}]},
		{"op": "pad", "operands": ["x", "x"], "attributes": {"edge_padding_low": [1, 0], "edge_padding_high": [0, -1], "interior_padding": [0, 1]}, "results": ["z"]},
		{"op": "einsum", "equation": "i...,...j", "operands": ["x", "x"], "results": ["e"]},
		{"op": "custom_call", "attributes": {"call_target_name": "f"}, "rule": "(a b) -> ((a b))", "operands": ["x"], "type": "f32[6]", "results": ["r"]},
		{"op": "my.op", "operands": ["y"], "attributes": {"a": {"mlir": "dense<[1, 2]> : tensor<2xi32>"}}, "types": [], "regions": [{}]}],
		"outputs": [{"value": "y", "sharding": "<mesh<[\"x\"=2]>, [{\"x\"}, {}]>"}]}`))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := modeljson.Read(context.Background(), src, "model.json")
		if err != nil {
			var e *diag.Error
			if !errors.As(err, &e) || len(e.Diagnostics) == 0 {
				t.Fatalf("error without diagnostics: %v", err)
			}
			return
		}
		converted, err := modeljson.Write(m)
		if errors.Is(err, diag.ErrUnsupported) {
			return
		}
		back, err := modeljson.Read(context.Background(), converted, "model.json")
		if err != nil {
			t.Fatalf("what was written does not read: %v\n%s", err, converted)
		}
		if a, b := print(m, false), print(back, false); a != b {
			t.Fatalf("the way through JSON changes the program\n%s\n%s", a, b)
		}
	})
}
