package names_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/ir/names"
)

func parse(t *testing.T, src string) (*ir.Module, ir.FuncID) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(src), mlir.Options{File: "names.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	return m, main
}

// Arguments take their names from where each version of JAX writes them; equal ones are told apart, and a number gives way
// to a name.
func TestArgs(t *testing.T) {
	m, main := parse(t, `#loc1 = loc("p['layers'][0]['wq']")
func.func @main(%arg0: tensor<f32> loc(#loc1), %arg1: tensor<f32> {jax.arg_info = "x"} loc("ignored"), %arg2: tensor<f32> loc(unknown),
    %arg3: tensor<f32> {autoshard.name = "params/0/w"}, %arg4: tensor<f32> loc("x"("model.py":1:2)), %arg5: tensor<f32> loc("model.py":3:4),
    %arg6: tensor<f32> loc("arg2"), %arg7: tensor<f32> loc("x"), %arg8: tensor<f32> loc("x#2"), %arg9: tensor<f32> loc("two\0Alines")) {
  return
}`)
	args := names.Args(m, main)
	want := []string{"p['layers'][0]['wq']", "x", "arg2#2", "params/0/w", "x#2", "arg5", "arg2", "x#3", "x#2#2", `two\nlines`}
	if diff := cmp.Diff(want, args.Names); diff != "" {
		t.Error(diff)
	}
	for i, want := range []string{"argument 0 (p['layers'][0]['wq'])", "argument 1 (x)", "argument 2"} {
		if got := args.Describe(i); got != want {
			t.Errorf("argument %d is %q, want %q", i, got, want)
		}
	}
}

// Results have the path of today's JAX, whichever version wrote it.
func TestResults(t *testing.T) {
	m, main := parse(t, `func.func @main(%arg0: tensor<f32>) -> (tensor<f32> {jax.result_info = "result[0]['k']"},
    tensor<f32> {jax.result_info = "[1].w"}, tensor<f32> {jax.result_info = ".step"}, tensor<f32> {jax.result_info = ""}, tensor<f32>,
    tensor<f32> {autoshard.name = "y"}, tensor<f32> {jax.result_info = "result.step"}) {
  return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}`)
	results := names.Results(m, main)
	want := []string{"result[0]['k']", "result[1].w", "result.step", "result", "out4", "y", "result.step#2"}
	if diff := cmp.Diff(want, results.Names); diff != "" {
		t.Error(diff)
	}
	if got := results.Describe(4) + ", " + results.Describe(5) + ", " + names.Port("input", 2, "arg2") + ", " +
		names.Port("input", 3, "x"); got !=
		"result 4, result 5 (y), input 2, input 3 (x)" {
		t.Error(got)
	}
}

// Ten thousand arguments of one name are told apart in time.
func TestManyNamesakes(t *testing.T) {
	var b strings.Builder
	b.WriteString("func.func @main(")
	const n = 10000
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("%arg" + strconv.Itoa(i) + `: tensor<f32> loc("w")`)
	}
	b.WriteString(") {\n  return\n}")
	m, main := parse(t, b.String())
	args, seen := names.Args(m, main), map[string]bool{}
	for _, name := range args.Names {
		seen[name] = true
	}
	if len(seen) != n || args.Names[n-1] != "w#10000" {
		t.Errorf("%d names, the last %q", len(seen), args.Names[n-1])
	}
}

// Segments join to the name again.
func TestSegments(t *testing.T) {
	for name, want := range map[string][]string{
		"p['layers'][0]['mlp']['w_up']":  {"p", "['layers']", "[0]", "['mlp']", "['w_up']"},
		"state.opt_state[0].mu['a.b/c']": {"state", ".opt_state", "[0]", ".mu", "['a.b/c']"},
		"params/0/w":                     {"params", "/0", "/w"},
		`p["it's ]"][1]`:                 {"p", `["it's ]"]`, "[1]"},
		`p['\'']`:                        {"p", `['\'']`},
		"m.states[0][12]":                {"m", ".states", "[0]", "[12]"},
		"x":                              {"x"},
		"":                               {""},
		"[0]":                            {"[0]"},
		"p[":                             {"p", "["},
		"..":                             {".", "."},
	} {
		segments := names.Segments(name)
		if diff := cmp.Diff(want, segments); diff != "" || strings.Join(segments, "") != name {
			t.Errorf("the segments of %q: %s", name, diff)
		}
	}
}

// The scope of an op is that of the program, without the function that all ops share.
func TestScope(t *testing.T) {
	m, main := parse(t, `func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.tanh %arg0 : tensor<f32> loc("jit(step)/jvp(layer_0)/tanh"(callsite("f"("a.py":1:2) at "g"("a.py":3:4))))
  %1 = stablehlo.tanh %0 : tensor<f32> loc("jit(step)/jit(main)/layer/tanh"("a.py":1:2))
  %2 = stablehlo.tanh %1 : tensor<f32> loc("a.py":1:2)
  %3 = stablehlo.tanh %2 : tensor<f32> loc(fused["a.py":1:2, "layer/tanh"])
  %4 = stablehlo.tanh %3 : tensor<f32> loc("jit(f)")
  %5 = stablehlo.tanh %4 : tensor<f32> loc(callsite("in/mul"("a.py":1:2) at "jit(f)/jvp(layer_0)/jit(inner)"("a.py":3:4)))
  %6 = stablehlo.tanh %5 : tensor<f32> loc(callsite("jit(f)/jit(main)/jit(relu)/max" at "jit(f)/jit(main)/jit(relu)"("a.py":3:4)))
  %7 = stablehlo.tanh %6 : tensor<f32> loc(callsite("a.py":1:2 at "jit(f)/jit(relu)"))
  return %7 : tensor<f32>
}`)
	var got []string
	m.Walk(m.Func(main).Body, func(op ir.OpID) {
		if m.Kind(op) == ir.OpTanh {
			got = append(got, names.Scope(m, m.OpLoc(op)))
		}
	})
	if diff := cmp.Diff([]string{"jvp(layer_0)/tanh", "layer/tanh", "", "layer/tanh", "jit(f)",
		"jvp(layer_0)/jit(inner)/in/mul", "jit(relu)/max", "jit(relu)"}, got); diff != "" {
		t.Error(diff)
	}
}

// A shell takes the quotes of a name away, and leaves the rest.
func TestWithoutQuotes(t *testing.T) {
	for name, want := range map[string]string{"p['layers'][0][\"w\"]": "p[layers][0][w]", "state.params": "state.params", "": ""} {
		if got := names.WithoutQuotes(name); got != want {
			t.Errorf("%s without quotes is %s, want %s", name, got, want)
		}
	}
}
