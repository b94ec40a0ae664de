package calls_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/calls"
	"autoshard/ir/mlir"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// graph is a program of functions in which function i calls the functions calls[i], all of which have higher numbers.
type graph struct{ calls [][]int }

// text writes the program: function 0 is main, each function applies its calls one after the other and adds its number.
func (g graph) text() string {
	var b strings.Builder
	for i, callees := range g.calls {
		name, visibility := fmt.Sprintf("f%d", i), "private "
		if i == 0 {
			name, visibility = "main", ""
		}
		fmt.Fprintf(&b, "func.func %s@%s(%%arg0: tensor<f32>) -> tensor<f32> {\n", visibility, name)
		fmt.Fprintf(&b, "  %%c = stablehlo.constant dense<%d.0> : tensor<f32>\n  %%v0 = stablehlo.add %%arg0, %%c : tensor<f32>\n", i)
		for k, callee := range callees {
			fmt.Fprintf(&b, "  %%v%d = call @f%d(%%v%d) : (tensor<f32>) -> tensor<f32>\n", k+1, callee, k)
		}
		fmt.Fprintf(&b, "  return %%v%d : tensor<f32>\n}\n", len(callees))
	}
	return b.String()
}

func parse(t testing.TB, text string) *ir.Module {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "calls.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// inlined prints a program with all calls inlined: what it computes, whatever its functions.
func inlined(m *ir.Module) (string, error) {
	c := m.Clone()
	if err := ir.InlineCalls(context.Background(), c); err != nil {
		return "", err
	}
	return string(mlir.Print(c, mlir.PrintOptions{})), nil
}

func graphs(t *rapid.T) graph {
	n := rapid.IntRange(1, 6).Draw(t, "functions")
	g := graph{calls: make([][]int, n)}
	for i := range n - 1 {
		g.calls[i] = rapid.SliceOfN(rapid.IntRange(i+1, n-1), 0, 3).Draw(t, "calls")
	}
	return g
}

// Passes over the call graph change who calls whom, never what the program computes.
func TestMeaningStays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m, err := mlir.Parse(t.Context(), []byte(graphs(r).text()), mlir.Options{})
		if err != nil {
			r.Fatal(err)
		}
		want, err := inlined(m)
		if err != nil {
			r.Fatal(err)
		}
		steps := map[string]func(*ir.Module) error{
			"flatten":   func(m *ir.Module) error { return calls.Flatten(m, calls.MaxOps) },
			"unflatten": func(m *ir.Module) error { calls.Unflatten(m, false); return nil },
			"dedup":     func(m *ir.Module) error { calls.Unflatten(m, true); return nil },
			"order":     func(m *ir.Module) error { calls.PreOrder(m); return nil },
			"unused":    func(m *ir.Module) error { calls.EraseUnused(m); return nil },
			"bodies": func(m *ir.Module) error {
				err := calls.Import(m, calls.MaxOps)
				calls.Export(m)
				return err
			},
		}
		for range rapid.IntRange(1, 5).Draw(r, "steps") {
			step := rapid.SampledFrom([]string{"flatten", "unflatten", "dedup", "order", "unused", "bodies"}).Draw(r, "step")
			if err := steps[step](m); err != nil {
				r.Fatal(step, err)
			}
			if err := ir.Verify(t.Context(), m); err != nil {
				r.Fatal(step, err)
			}
			got, err := inlined(m)
			if err != nil {
				r.Fatal(step, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				r.Fatalf("after %s (-before +after):\n%s", step, diff)
			}
		}
	})
}

// After flattening no two calls share a function; unflattening leaves as many functions as there were.
func TestFlattenAndBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m, err := mlir.Parse(t.Context(), []byte(graphs(r).text()), mlir.Options{})
		if err != nil {
			r.Fatal(err)
		}
		calls.EraseUnused(m)
		want := len(calls.NewTable(m).PostOrder())
		if err := calls.Flatten(m, calls.MaxOps); err != nil {
			r.Fatal(err)
		}
		table, seen := calls.NewTable(m), map[ir.FuncID]bool{}
		for _, call := range calls.All(m) {
			if f := table.Callee(call); seen[f] {
				r.Fatalf("two calls of @%s", m.Func(f).Name)
			} else {
				seen[f] = true
			}
		}
		calls.Unflatten(m, false)
		calls.EraseUnused(m)
		if got := len(calls.NewTable(m).PostOrder()); got != want {
			r.Fatalf("%d functions before, %d after", want, got)
		}
	})
}

// What comes out of a computation is what a function had: attributes of the call, the thread of the function.
func TestComputations(t *testing.T) {
	m := parse(t, `
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%arg0) {mhlo.note = "x"} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @f(%arg0: tensor<f32>) -> tensor<f32> attributes {execution_thread = "host", sdy.original_func_name = "g"} {
  return %arg0 : tensor<f32>
}`)
	err := calls.Import(m, calls.MaxOps)
	made := calls.Computations(m)
	if err != nil || len(made) != 1 {
		t.Fatal(made, err)
	}
	const computation = `module {
  func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = sdy.named_computation<"g">(%arg0) (%arg1: tensor<f32>) {
      sdy.return %arg1 : tensor<f32>
    } {execution_thread = "host", mhlo.note = "x"} : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
`
	if diff := cmp.Diff(computation, string(mlir.Print(m, mlir.PrintOptions{}))); diff != "" {
		t.Errorf("import (-want +got):\n%s", diff)
	}
	calls.Export(m)
	const function = `module {
  func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = call @g(%arg0) {mhlo.note = "x"} : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @g(%arg0: tensor<f32>) -> tensor<f32> attributes {execution_thread = "host", sdy.original_func_name = "g"} {
    return %arg0 : tensor<f32>
  }
}
`
	if diff := cmp.Diff(function, string(mlir.Print(m, mlir.PrintOptions{}))); diff != "" {
		t.Errorf("export (-want +got):\n%s", diff)
	}
}

// Functions in use are those that public ones reach, by calls or by any other reference.
func TestEraseUnused(t *testing.T) {
	m := parse(t, `
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @target(%arg0) {called_computations = [@used]} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @used(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @deeper(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func nested @deeper(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}
func.func private @loop(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @loop(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @public(%arg0: tensor<f32>) -> tensor<f32> {
  return %arg0 : tensor<f32>
}`)
	calls.EraseUnused(m)
	var names []string
	for op := range m.Ops(m.Body()) {
		names = append(names, m.Func(m.FuncOf(op)).Name)
	}
	if diff := cmp.Diff([]string{"main", "used", "deeper", "public"}, names); diff != "" {
		t.Error(diff)
	}
}

// A chain as long as this one is no problem; one that doubles at every call, or never ends, is an error at the call.
func TestDepth(t *testing.T) {
	const depth = 10_000
	g := graph{calls: make([][]int, depth)}
	for i := range depth - 1 {
		g.calls[i] = []int{i + 1}
	}
	m := parse(t, g.text())
	if err := calls.Flatten(m, calls.MaxOps); err != nil {
		t.Fatal(err)
	}
	err := calls.Import(m, calls.MaxOps)
	made := calls.Computations(m)
	if err != nil || len(made) != depth-1 {
		t.Fatal(len(made), err)
	}
	calls.PreOrder(m)
	calls.Export(m)
	calls.Unflatten(m, false)
	calls.EraseUnused(m)
	calls.InsertReshards(m)
	if n := len(calls.All(m)); n != depth-1 {
		t.Errorf("%d calls are left", n)
	}

	for i := range depth - 1 {
		g.calls[i] = []int{i + 1, i + 1}
	}
	checkError(t, parse(t, g.text()), diag.ErrTooLarge)
	checkError(t, parse(t, `
func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @f(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @f(%arg0: tensor<f32>) -> tensor<f32> {
  %0 = call @main(%arg0) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}`), diag.ErrUnsupported)
}

func checkError(t *testing.T, m *ir.Module, class error) {
	t.Helper()
	err := calls.Import(m.Clone(), calls.MaxOps)
	for _, err := range []error{err, calls.Flatten(m, calls.MaxOps)} {
		if !errors.Is(err, class) {
			t.Errorf("%v, want %v", err, class)
			continue
		}
		if d := diag.Diagnostics(err); len(d) != 1 || d[0].Pos.Line == 0 {
			t.Errorf("no place in %v", err)
		}
	}
}
