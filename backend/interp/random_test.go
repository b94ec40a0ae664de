package interp_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/ir/dtype"
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
		kinds := []string{"add", "update", "reshape", "barrier", "tuple", "sort", "sum over one", "constant", "ignoring fold", "join"}
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
		case "tuple":
			scope = append(scope, w.tuple(a, b))
		case "sort":
			scope = append(scope, w.sort(a)...)
		case "sum over one": // a process alone is its group
			r := known{w.fresh(), a.value}
			w.line("%s = \"stablehlo.all_reduce\"(%s) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({", r.name, a.name)
			w.line("^bb0(%%p: tensor<i32>, %%q: tensor<i32>):\n%%s = stablehlo.add %%p, %%q : tensor<i32>")
			w.line("stablehlo.return %%s : tensor<i32>\n}) : (%s) -> %s", vec, vec)
			scope = append(scope, r)
		case "constant":
			r := known{w.fresh(), []int32{1, 2, 3, 4}}
			w.line("%s = stablehlo.constant dense<[1, 2, 3, 4]> : %s", r.name, vec)
			scope = append(scope, r)
		case "ignoring fold":
			scope = append(scope, w.ignoringFold(a))
		case "join":
			scope = append(scope, w.join(a, b))
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

// tuple writes a tuple, of which it takes the second element.
func (w *writer) tuple(a, b known) known {
	both, r := w.fresh(), w.fresh()
	w.line("%s = stablehlo.tuple %s, %s : tuple<%s, %s>", both, a.name, b.name, vec, vec)
	w.line("%s = stablehlo.get_tuple_element %s[1] : (tuple<%s, %s>) -> %s", r, both, vec, vec, vec)
	return known{r, b.value}
}

// sort writes a sort of a vector beside itself.
func (w *writer) sort(a known) []known {
	r := w.fresh()
	w.line("%s:2 = \"stablehlo.sort\"(%s, %s) <{dimension = 0 : i64, is_stable = true}> ({\n^bb0(%%p: tensor<i32>, %%q: tensor<i32>, "+
		"%%r: tensor<i32>, %%s: tensor<i32>):\n%%t = stablehlo.compare LT, %%p, %%q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"+
		"stablehlo.return %%t : tensor<i1>\n}) : (%s, %s) -> (%s, %s)", r, a.name, a.name, vec, vec, vec, vec)
	sorted := slices.Sorted(slices.Values(a.value))
	return []known{{r + "#0", sorted}, {r + "#1", sorted}}
}

// ignoringFold writes a reduction whose region returns a value from outside, and spreads it.
func (w *writer) ignoringFold(a known) known {
	value := rapid.Int32Range(-9, 9).Draw(w.t, "value")
	outside, one, r := w.scalar(value), w.fresh(), w.fresh()
	w.line("%s = \"stablehlo.reduce\"(%s, %s) <{dimensions = array<i64: 0>}> ({\n^bb0(%%p: tensor<i32>, %%q: tensor<i32>):\n"+
		"stablehlo.return %s : tensor<i32>\n}) : (%s, tensor<i32>) -> tensor<i32>", one, a.name, outside, outside, vec)
	w.line("%s = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> %s", r, one, vec)
	return known{r, []int32{value, value, value, value}}
}

// join writes slices of two vectors that are joined.
func (w *writer) join(a, b known) known {
	at := rapid.IntRange(0, 4).Draw(w.t, "at")
	p, q, r := w.fresh(), w.fresh(), w.fresh()
	w.line("%s = stablehlo.slice %s [0:%d] : (%s) -> tensor<%dxi32>", p, a.name, at, vec, at)
	w.line("%s = stablehlo.slice %s [%d:4] : (%s) -> tensor<%dxi32>", q, b.name, at, vec, 4-at)
	w.line("%s = stablehlo.concatenate %s, %s, dim = 0 : (tensor<%dxi32>, tensor<%dxi32>) -> %s", r, p, q, at, 4-at, vec)
	return known{r, slices.Concat(a.value[:at], b.value[at:])}
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

// TestRandomPrograms compares every value of random programs with the model's. Memory that nobody holds any more is full of garbage
// meanwhile, and programs run several times: results of one run, which are the arguments of the next, and arguments stay as they are.
func TestRandomPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, kept := drawProgram(t)
		m, err := mlir.Parse(t.Context(), []byte(src), mlir.Options{File: "random"})
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		in, err := interp.New(m, interp.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fn, _ := m.Main()
		w := memory.Watch(rapid.Byte().Draw(t, "garbage"))
		x, y := tensor.FromInts(dtype.I32, []int64{4}, 0, 1, 2, 3), tensor.FromInts(dtype.I32, []int64{4}, 5, 6, 7, 8)
		args := []*tensor.Tensor{&x, &y}
		var all []*tensor.Tensor
		for range 3 {
			got, err := in.Run(context.Background(), fn, args)
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			all = append(all, got...)
			args = got[:2] // which are those before
		}
		for i, got := range all {
			k := kept[i%len(kept)]
			for j, v := range got.Ints() {
				if int32(v) != k.value[j] {
					t.Fatalf("result %d of run %d is %v, want %v\n%s", i%len(kept), i/len(kept), got, k.value, src)
				}
			}
		}
		if err := w.Stop(); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		if n := interp.Leftovers(in); n > 0 {
			t.Fatalf("%d values are never released\n%s", n, src)
		}
	})
}

// drawProgram returns the text of a program and what it returns, of which the first two are its arguments.
func drawProgram(t *rapid.T) (src string, kept []known) {
	w := &writer{t: t, pad: "  "}
	scope := []known{{"%x", []int32{0, 1, 2, 3}}, {"%c", []int32{5, 6, 7, 8}}}
	scope = w.ops(scope, rapid.IntRange(1, 10).Draw(t, "ops"), 0)
	kept = append(scope[:2:2], rapid.SliceOfN(rapid.SampledFrom(scope), 1, 4).Draw(t, "kept")...)
	var names, types []string
	for _, k := range kept {
		names, types = append(names, k.name), append(types, vec)
	}
	list := strings.Join(types, ", ")
	return fmt.Sprintf(`module {
func.func @main(%%x: %s, %%c: %s) -> (%s) {
%s  return %s : %s
}
func.func private @f(%%a: %s, %%b: %s) -> (%s, %s) {
  %%u = stablehlo.constant dense<77> : tensor<1xi32>
  %%i = stablehlo.constant dense<2> : tensor<i32>
  %%0 = stablehlo.dynamic_update_slice %%a, %%u, %%i : (%s, tensor<1xi32>, tensor<i32>) -> %s
  return %%0, %%b : %s, %s
}
}`, vec, vec, list, w.text.String(), strings.Join(names, ", "), list, vec, vec, vec, vec, vec, vec, vec, vec), kept
}
