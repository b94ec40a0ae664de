package interp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/backend/tensor/memory"
	"autoshard/internal/testkit/everyop"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"

	"pgregory.net/rapid"
)

// Random programs of every op, and those that are made to be fused, give the same bits fused, in tiles of some elements, as op by op, and
// give back what they take.
func TestFusedPrograms(t *testing.T) {
	for _, tile := range []int64{1, 5, 4096} {
		t.Run(fmt.Sprint(tile), func(t *testing.T) {
			interp.SetMostTile(t, tile)
			rapid.Check(t, func(t *rapid.T) {
				m, inputs := drawFusable(t)
				checkFused(t, m, inputs)
			})
		})
	}
}

// drawFusable draws a program of every op, or one that is made to be fused.
func drawFusable(t *rapid.T) (*ir.Module, []*tensor.Tensor) {
	if rapid.Bool().Draw(t, "elementwise") {
		return drawElementwise(t)
	}
	p := everyop.Draw(t)
	return p.Module, p.Inputs
}

func checkFused(t *rapid.T, m *ir.Module, inputs []*tensor.Tensor) {
	in, err := interp.New(m, interp.Options{Partitions: 4})
	if err != nil {
		t.Fatal(err)
	}
	fn, _ := m.Main()
	looks := func(*interp.Step) error { return nil }
	want, _, failed := in.RunProcess(t.Context(), fn, interp.Process{ID: 1, Observe: looks}, inputs)
	w := memory.Watch(255)
	got, _, err := in.RunProcess(t.Context(), fn, interp.Process{ID: 1}, inputs)
	wrong := w.Stop()
	text := mlir.Print(m, mlir.PrintOptions{})
	if (failed == nil) != (err == nil) {
		t.Fatalf("op by op: %v, fused: %v\n%s", failed, err, text)
	}
	if err != nil {
		return
	}
	for k := range want {
		if !got[k].Equal(*want[k]) && got[k].String() != want[k].String() {
			t.Fatalf("result %d is %v, op by op %v\n%s", k, got[k], want[k], text)
		}
	}
	if left := interp.Leftovers(in); wrong != nil || left > 0 {
		t.Fatalf("%d slots are full, and %v\n%s", left, wrong, text)
	}
}

// drawElementwise draws a program that folds, broadcasts and combines values of one shape element by element.
func drawElementwise(t *rapid.T) (*ir.Module, []*tensor.Tensor) {
	d := elementwise{t: t, shape: rapid.SliceOfN(rapid.Int64Range(1, 6), 1, 3).Draw(t, "shape")}
	d.values = []string{"%x", "%y"}
	for range rapid.IntRange(2, 14).Draw(t, "ops") {
		d.add()
	}
	whole := d.of("f32", d.shape)
	result := d.take()
	text := fmt.Sprintf("func.func @main(%%x: %[1]s, %%y: %[1]s) -> %[1]s {\n  %%zero = stablehlo.constant dense<0.5> : tensor<f32>\n"+
		"%[2]s  return %[3]s : %[1]s\n}", whole, d.text.String(), result)
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var inputs []*tensor.Tensor
	for k := range 2 {
		var elements []float64
		for i := range int(tensor.New(dtype.F32, d.shape).Len()) {
			elements = append(elements, float64((7*i+3*k)%11)/4-1)
		}
		x := tensor.FromFloats(dtype.F32, d.shape, elements...)
		inputs = append(inputs, &x)
	}
	return m, inputs
}

// elementwise writes a program.
type elementwise struct {
	t      *rapid.T
	shape  []int64
	values []string // of the shape, which were seldom read
	text   strings.Builder
	names  int
}

func (d *elementwise) of(element string, shape []int64) string {
	out := "tensor<"
	for _, n := range shape {
		out += fmt.Sprintf("%dx", n)
	}
	return out + element + ">"
}

// take returns a value that the program has, which is seldom read again.
func (d *elementwise) take() string {
	k := rapid.IntRange(0, len(d.values)-1).Draw(d.t, "value")
	v := d.values[k]
	if len(d.values) > 1 && rapid.IntRange(0, 4).Draw(d.t, "again") > 0 {
		d.values = slices.Delete(slices.Clone(d.values), k, k+1)
	}
	return v
}

func (d *elementwise) line(format string, args ...any) string {
	d.names++
	name := fmt.Sprintf("%%v%d", d.names)
	d.text.WriteString("  " + name + " = " + fmt.Sprintf(format, args...) + "\n")
	return name
}

// add adds some ops that make one more value.
func (d *elementwise) add() {
	whole, v := d.of("f32", d.shape), ""
	switch rapid.SampledFrom([]string{"unary", "binary", "select", "clamp", "iota", "splat", "fold"}).Draw(d.t, "kind") {
	case "unary":
		v = d.line("stablehlo.%s %s : %s", rapid.SampledFrom([]string{"tanh", "negate", "sine", "abs"}).Draw(d.t, "op"), d.take(), whole)
	case "binary":
		op := rapid.SampledFrom([]string{"add", "multiply", "subtract", "maximum"}).Draw(d.t, "op")
		v = d.line("stablehlo.%s %s, %s : %s", op, d.take(), d.take(), whole)
	case "select":
		mask := d.line("stablehlo.compare GT, %s, %s : (%s, %s) -> %s", d.take(), d.take(), whole, whole, d.of("i1", d.shape))
		v = d.line("stablehlo.select %s, %s, %s : %s, %s", mask, d.take(), d.take(), d.of("i1", d.shape), whole)
	case "clamp":
		v = d.line("stablehlo.clamp %%zero, %s, %%zero : (tensor<f32>, %s, tensor<f32>) -> %s", d.take(), whole, whole)
	case "iota":
		along := rapid.IntRange(0, len(d.shape)-1).Draw(d.t, "along")
		numbers := d.line("stablehlo.iota dim = %d : %s", along, d.of("i32", d.shape))
		v = d.line("stablehlo.convert %s : (%s) -> %s", numbers, d.of("i32", d.shape), whole)
	case "splat":
		v = d.line("stablehlo.broadcast_in_dim %%zero, dims = [] : (tensor<f32>) -> %s", whole)
	case "fold":
		v = d.fold()
	}
	d.values = append(d.values, v)
}

// fold adds values up along some dimensions and repeats the sums along these.
func (d *elementwise) fold() string {
	var folded, kept, left []int64
	for k, n := range d.shape {
		if rapid.Bool().Draw(d.t, "folded") {
			folded = append(folded, int64(k))
		} else {
			kept, left = append(kept, int64(k)), append(left, n)
		}
	}
	list := func(dims []int64) string { return strings.Join(strings.Fields(fmt.Sprint(dims)), ", ") }
	whole, some := d.of("f32", d.shape), d.of("f32", left)
	sums := d.line("stablehlo.reduce(%s init: %%zero) applies stablehlo.add across dimensions = %s : (%s, tensor<f32>) -> %s", d.take(),
		list(folded), whole, some)
	if rapid.Bool().Draw(d.t, "scaled") {
		sums = d.line("stablehlo.exponential %s : %s", sums, some)
	}
	return d.line("stablehlo.broadcast_in_dim %s, dims = %s : (%s) -> %s", sums, list(kept), some, whole)
}
