package interp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/interp"
	"autoshard/ir/mlir"

	"pgregory.net/rapid"
)

// writer makes a random program on tensors of four integers together with the values that it must have, each in
// storage of its own: the plain model of an interpreter that reuses storage.
type writer struct {
	t     *rapid.T
	text  strings.Builder
	names int
	pad   string
}

type known struct {
	name  string
	value []int32
}

const vec = "tensor<4xi32>"

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.text, w.pad+format+"\n", args...)
}

func (w *writer) fresh() string {
	w.names++
	return fmt.Sprintf("%%v%d", w.names)
}

func (w *writer) scalar(value int32) string {
	s := w.fresh()
	w.line("%s = stablehlo.constant dense<%d> : tensor<i32>", s, value)
	return s
}

// ops appends n random ops to the program and their results to the scope.
func (w *writer) ops(scope []known, n, depth int) []known {
	for range n {
		a := rapid.SampledFrom(scope).Draw(w.t, "a")
		b := rapid.SampledFrom(scope).Draw(w.t, "b")
		kinds := []string{"add", "update", "reshape", "barrier"}
		if depth < 2 {
			kinds = append(kinds, "while", "case", "call")
		}
		switch rapid.SampledFrom(kinds).Draw(w.t, "kind") {
		case "add":
			r := known{w.fresh(), make([]int32, 4)}
			for k := range r.value {
				r.value[k] = a.value[k] + b.value[k]
			}
			w.line("%s = stablehlo.add %s, %s : %s", r.name, a.name, b.name, vec)
			scope = append(scope, r)
		case "update":
			scope = append(scope, w.update(a))
		case "reshape":
			r := known{w.fresh(), a.value}
			w.line("%s = stablehlo.reshape %s : (%s) -> %s", r.name, a.name, vec, vec)
			scope = append(scope, r)
		case "barrier":
			r := w.fresh()
			w.line("%s:2 = stablehlo.optimization_barrier %s, %s : %s, %s", r, a.name, b.name, vec, vec)
			scope = append(scope, known{r + "#0", a.value}, known{r + "#1", b.value})
		case "while":
			scope = append(scope, w.loop(scope, a, b, depth)...)
		case "case":
			scope = append(scope, w.branch(scope, depth))
		case "call":
			r := w.fresh()
			w.line("%s:2 = func.call @f(%s, %s) : (%s, %s) -> (%s, %s)", r, a.name, b.name, vec, vec, vec, vec)
			changed := slices.Clone(a.value)
			changed[2] = 77
			scope = append(scope, known{r + "#0", changed}, known{r + "#1", b.value})
		}
	}
	return scope
}

func (w *writer) update(a known) known {
	value, at := rapid.Int32Range(-9, 9).Draw(w.t, "value"), rapid.Int32Range(0, 3).Draw(w.t, "at")
	u, i := w.fresh(), w.scalar(at)
	w.line("%s = stablehlo.constant dense<%d> : tensor<1xi32>", u, value)
	r := known{w.fresh(), slices.Clone(a.value)}
	r.value[at] = value
	w.line("%s = stablehlo.dynamic_update_slice %s, %s, %s : (%s, tensor<1xi32>, tensor<i32>) -> %s", r.name, a.name, u, i, vec, vec)
	return r
}

// branch writes a case with one region, whose index does not matter.
func (w *writer) branch(scope []known, depth int) known {
	i, r := w.scalar(rapid.Int32Range(-1, 1).Draw(w.t, "index")), w.fresh()
	w.line("%s = \"stablehlo.case\"(%s) ({", r, i)
	inner := w.ops(slices.Clone(scope), rapid.IntRange(0, 3).Draw(w.t, "ops"), depth+1)
	out := rapid.SampledFrom(inner).Draw(w.t, "out")
	w.line("stablehlo.return %s : %s", out.name, vec)
	w.line("}) : (tensor<i32>) -> %s", vec)
	return known{r, out.value}
}

// loop writes a loop over two vectors whose body updates an element, may swap the vectors, and may see one from
// outside.
func (w *writer) loop(scope []known, a, b known, depth int) []known {
	trips := rapid.Int32Range(0, 3).Draw(w.t, "trips")
	at := rapid.Int32Range(0, 3).Draw(w.t, "at")
	swap := rapid.Bool().Draw(w.t, "swap")
	outer := rapid.SampledFrom(scope).Draw(w.t, "outer")
	zero, one, n, i := w.scalar(0), w.scalar(1), w.scalar(trips), w.scalar(at)
	r, k, x, y := w.fresh(), w.fresh(), w.fresh(), w.fresh()
	w.line("%s:3 = stablehlo.while(%s = %s, %s = %s, %s = %s) : tensor<i32>, %s, %s", r, k, zero, x, a.name, y, b.name, vec, vec)
	c, u, next, e, sum := w.fresh(), w.fresh(), w.fresh(), w.fresh(), w.fresh()
	w.line("cond {\n  %s = stablehlo.compare LT, %s, %s, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n  stablehlo.return %s : "+
		"tensor<i1>\n} do {", c, k, n, c)
	w.line("  %s = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>", e, k)
	w.line("  %s = stablehlo.dynamic_update_slice %s, %s, %s : (%s, tensor<1xi32>, tensor<i32>) -> %s", u, x, e, i, vec, vec)
	w.line("  %s = stablehlo.add %s, %s : %s", sum, u, outer.name, vec)
	w.line("  %s = stablehlo.add %s, %s : tensor<i32>", next, k, one)
	first, second := u, y
	if swap {
		first, second = y, sum
	}
	w.line("  stablehlo.return %s, %s, %s : tensor<i32>, %s, %s\n}", next, first, second, vec, vec)
	p, q := slices.Clone(a.value), slices.Clone(b.value)
	for step := range trips {
		changed := slices.Clone(p)
		changed[at] = step
		if !swap {
			p = changed
			continue
		}
		for j := range changed {
			changed[j] += outer.value[j]
		}
		p, q = q, changed
	}
	return []known{{r + "#1", p}, {r + "#2", q}}
}

// TestRandomPrograms compares every value of random programs with the model's.
func TestRandomPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t, pad: "  "}
		scope := []known{{"%x", []int32{0, 1, 2, 3}}, {"%c", []int32{5, 6, 7, 8}}}
		w.line("%%x = stablehlo.iota dim = 0 : %s", vec)
		w.line("%%c = stablehlo.constant dense<[5, 6, 7, 8]> : %s", vec)
		scope = w.ops(scope, rapid.IntRange(1, 10).Draw(t, "ops"), 0)
		kept := rapid.SliceOfN(rapid.SampledFrom(scope), 1, 4).Draw(t, "kept")
		var names, types []string
		for _, k := range kept {
			names, types = append(names, k.name), append(types, vec)
		}
		list := strings.Join(types, ", ")
		src := fmt.Sprintf(`module {
func.func @main() -> (%s) {
%s  return %s : %s
}
func.func private @f(%%a: %s, %%b: %s) -> (%s, %s) {
  %%u = stablehlo.constant dense<77> : tensor<1xi32>
  %%i = stablehlo.constant dense<2> : tensor<i32>
  %%0 = stablehlo.dynamic_update_slice %%a, %%u, %%i : (%s, tensor<1xi32>, tensor<i32>) -> %s
  return %%0, %%b : %s, %s
}
}`, list, w.text.String(), strings.Join(names, ", "), list, vec, vec, vec, vec, vec, vec, vec, vec)
		m, err := mlir.Parse(t.Context(), []byte(src), mlir.Options{File: "random"})
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		in, err := interp.New(m, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fn, _ := m.Main()
		got, err := in.Run(context.Background(), fn, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		for i, k := range kept {
			for j, v := range got[i].Ints() {
				if int32(v) != k.value[j] {
					t.Fatalf("result %d is %v, want %v\n%s", i, got[i], k.value, src)
				}
			}
		}
	})
}
