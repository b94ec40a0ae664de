package autoshard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autoshard"
	"autoshard/backend/interp"
	"autoshard/backend/tensor"
	"autoshard/internal/diag"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/ir/modeljson"
	"autoshard/ir/rule"
)

// TestReducerNotASum expects that no form of a manual computation makes a sum of a region that adds a value to itself, or
// that returns another value than the sum.
func TestReducerNotASum(t *testing.T) {
	doubled, err := os.ReadFile("testdata/cases/reducer_region.mlir")
	if err != nil {
		t.Fatal(err)
	}
	dropped := strings.ReplaceAll(strings.ReplaceAll(string(doubled), "add %p, %p", "add %p, %q"), "return %s", "return %q")
	for _, src := range []string{string(doubled), dropped} {
		_, err := autoshard.ReadShardMap(t.Context(), "case.mlir", []byte(src))
		if !errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), "case.mlir:4:10") {
			t.Errorf("error %v, want one of class ErrUnsupported at case.mlir:4:10\n%s", err, src)
		}
	}
}

// TestReducerPromotes reduces halves in a region of single precision, in which their sum has no overflow.
func TestReducerPromotes(t *testing.T) {
	program, err := autoshard.ReadShardMap(t.Context(), "case.mlir", []byte(`sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<2xf16>) -> tensor<2xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
      (%a: tensor<1xf16>) {
    %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1xf16>) -> tensor<1xf32>
    sdy.return %1 : tensor<1xf32>
  } : (tensor<2xf16>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}`))
	if err != nil {
		t.Fatal(err)
	}
	in := tensor.FromFloats(dtype.F16, []int64{2}, 60000, 30000)
	result, err := program.Run(t.Context(), []*tensor.Tensor{&in})
	if err != nil {
		t.Fatalf("%v\n%s", err, textOf(t, program))
	}
	want := in.Floats()[0] + in.Floats()[1]
	if got := floatsOf(result.Outputs[0]); !slices.Equal(got, []float64{want, want}) {
		t.Errorf("the sum is %v, want %v twice", got, want)
	}
}

// evaluate runs a program on scalars and one-dimensional arrays of an element type.
func evaluate(t *rapid.T, m *ir.Module, elem string, inputs ...[]float64) [][]float64 {
	in, err := interp.New(m, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	main, _ := m.Main()
	var args []*tensor.Tensor
	for i, v := range m.BlockArgs(m.Func(main).Body) {
		x := tensorOf(elem, m.Shape(v), inputs[i])
		args = append(args, &x)
	}
	results, err := in.Run(context.Background(), main, args)
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(m, mlir.PrintOptions{}))
	}
	var out [][]float64
	for _, x := range results {
		out = append(out, floatsOf(x))
	}
	return out
}

func tensorOf(elem string, shape []int64, values []float64) tensor.Tensor {
	dt := map[string]dtype.Type{"f32": dtype.F32, "i32": dtype.I32, "ui8": dtype.UI8, "i1": dtype.I1}[elem]
	x := tensor.FromFloats(dtype.F64, shape, values...)
	return tensor.Convert(x, dt)
}

func floatsOf(x *tensor.Tensor) []float64 {
	y := tensor.Convert(*x, dtype.F64)
	return y.Floats()
}

func parsed(t *rapid.T, src string) *ir.Module {
	m, err := mlir.Parse(context.Background(), []byte(src), mlir.Options{File: "random"})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return m
}

func mainOp(m *ir.Module) ir.OpID {
	main, _ := m.Main()
	return m.FirstOp(m.Func(main).Body)
}

// TestRandomReducers compares what every stage takes the region of a reduction for with what running it gives.
func TestRandomReducers(t *testing.T) {
	recognised := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		c := &reducerCheck{T: t, region: drawRegion(t, rapid.SampledFrom([]int{1, 1, 2}).Draw(t, "pairs")), recognised: recognised}
		c.function = parsed(t, c.region.function())
		c.kind()
		c.sameText()
		if c.region.n == 1 {
			c.partials()
			c.scatters()
			c.manual()
			c.device()
		}
	})
	for _, who := range []string{"ReducerOf", "collectives", "rule", "typed", "JAX"} {
		if recognised[who] == 0 {
			t.Errorf("%s recognised no region: %v", who, recognised)
		}
	}
	t.Log(recognised)
}

// reducerCheck checks one region.
type reducerCheck struct {
	*rapid.T
	region     *region
	function   *ir.Module
	recognised map[string]int // by who does
}

// tries returns inputs of the region's function: pairs, and the value from outside.
func (c *reducerCheck) tries() (all [][]float64) {
	for range 12 {
		all = append(all, rapid.SliceOfN(rapid.SampledFrom(numbers[c.region.elem]), 2*c.region.n+1, 2*c.region.n+1).Draw(c.T, "x"))
	}
	return all
}

// of returns what the region gives for values.
func (c *reducerCheck) of(values []float64) (out []float64) {
	args := make([][]float64, len(values))
	for i, v := range values {
		args[i] = []float64{v}
	}
	for _, r := range evaluate(c.T, c.function, c.region.elem, args...) {
		out = append(out, r[0])
	}
	return out
}

// computes expects that the region gives what an op gives for each pair, its second value if there is no op.
func (c *reducerCheck) computes(kind ir.Kind, who string) {
	c.recognised[who]++
	for _, x := range c.tries() {
		got := c.of(x)
		for k := range c.region.n {
			a, b := x[k], x[c.region.n+k]
			want := b
			if kind != ir.OpUnregistered {
				one := parsed(c.T, fmt.Sprintf("func.func @main(%%a: tensor<%[1]s>, %%b: tensor<%[1]s>) -> tensor<%[1]s> {\n"+
					"  %%r = %[2]s %%a, %%b : tensor<%[1]s>\n  return %%r : tensor<%[1]s>\n}", c.region.elem, kind))
				want = evaluate(c.T, one, c.region.elem, []float64{a}, []float64{b})[0][0]
			}
			if fmt.Sprint(got[k]) != fmt.Sprint(want) { // NaN is NaN
				c.Fatalf("%s takes the region for %s, but of %v it makes %v, not %v\n%s", who, kind, x, got[k], want, c.region.text())
			}
		}
	}
}

// kind checks ReducerOf on a reduction.
func (c *reducerCheck) kind() {
	m := parsed(c.T, c.region.reduce())
	computed, ok := ir.ReducerOf(m, mainOp(m), 0, ir.Computed)
	if ok {
		c.computes(computed, "ReducerOf")
	}
	if written, also := ir.ReducerOf(m, mainOp(m), 0, ir.Written); also && (!ok || written != computed) {
		c.Fatalf("written as %s, computes %s", written, computed)
	}
}

// sameText expects that the short forms of text and model.json stand for the same program, and that the interpreter
// combines accumulator and element as the region does.
func (c *reducerCheck) sameText() {
	m := parsed(c.T, c.region.reduce())
	json, err := modeljson.Write(m)
	if err != nil {
		c.Fatal(err)
	}
	fromJSON, err := modeljson.Read(context.Background(), json, "m.json")
	if err != nil {
		c.Fatalf("%v\n%s", err, json)
	}
	reread := parsed(c.T, string(mlir.Print(m, mlir.PrintOptions{})))
	n := c.region.n
	x := c.tries()[0]
	last := c.tries()[0]
	total := c.of(x)
	total = c.of(slices.Concat(total, last[:n], x[2*n:]))
	for _, program := range []*ir.Module{m, fromJSON, reread} {
		var inputs [][]float64
		for k := range n {
			inputs = append(inputs, []float64{x[n+k], last[k]})
		}
		for k := range n {
			inputs = append(inputs, []float64{x[k]})
		}
		got := evaluate(c.T, program, c.region.elem, append(inputs, []float64{x[2*n]})...)
		for k := range n {
			if fmt.Sprint(got[k][0]) != fmt.Sprint(total[k]) {
				c.Fatalf("a reduction is %v, not %v\n%s", got[k], total[k], mlir.Print(program, mlir.PrintOptions{}))
			}
		}
	}
}

// combining are the ops that partial results combine by.
var combining = map[ir.Reduction]ir.Kind{ir.ReduceSum: ir.OpAdd, ir.ReduceMax: ir.OpMaximum, ir.ReduceMin: ir.OpMinimum}

// partials checks how partial results of a reduction combine. Its initial value is zero, as a sum needs.
func (c *reducerCheck) partials() {
	src := strings.Replace(c.region.reduce(), "{\n", fmt.Sprintf("{\n  %%zero = stablehlo.constant dense<%s> : tensor<%s>\n",
		zero[c.region.elem], c.region.elem), 1)
	m := parsed(c.T, strings.Replace(src, "(%x0, %i0)", "(%x0, %zero)", 1))
	op := m.NextOp(mainOp(m))
	facts := rule.Complete(m, op)
	parts, reduction := rule.Shardable(m, op, facts)
	for _, f := range facts.Reduction {
		if parts[f] > 1 {
			c.computes(combining[reduction], "collectives")
		}
	}
}

// scatters checks that updates are only taken apart where their order does not matter.
func (c *reducerCheck) scatters() {
	m := parsed(c.T, c.region.scatter())
	facts := rule.Complete(m, mainOp(m))
	if len(facts.Reduction) == 0 {
		return
	}
	c.recognised["rule"]++
	for _, x := range c.tries() {
		y := c.tries()[0][:1]
		there := c.of(slices.Concat(c.of(x), y, x[2:]))
		back := c.of(slices.Concat(c.of([]float64{x[0], y[0], x[2]}), x[1:]))
		if fmt.Sprint(there) != fmt.Sprint(back) {
			c.Fatalf("updates of a scatter are reduced, but of %v and %v it makes %v or %v\n%s", x, y, there, back, c.region.text())
		}
	}
}

// manualText is a manual computation that reduces over two devices with the region.
func (r *region) manualText() string {
	return fmt.Sprintf(`sdy.mesh @mesh = <["x"=2]>
func.func @main(%%arg0: tensor<2x%[1]s> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<2x%[1]s> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %%0 = sdy.manual_computation(%%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
      (%%x: tensor<1x%[1]s>) {
    %%z = stablehlo.constant dense<%[2]s> : tensor<%[1]s>
    %%1 = %[3]s
    sdy.return %%1 : tensor<1x%[1]s>
  } : (tensor<2x%[1]s>) -> tensor<2x%[1]s>
  return %%0 : tensor<2x%[1]s>
}`, r.elem, one[r.elem], r.allReduce())
}

// manual reads a manual computation as a shard_map program, which must do what the region does, on JAX too, or be refused.
func (c *reducerCheck) manual() {
	src := c.region.manualText()
	program, err := autoshard.ReadShardMap(context.Background(), "manual.mlir", []byte(src))
	if err != nil {
		if !errors.Is(err, diag.ErrUnsupported) || !strings.Contains(err.Error(), "manual.mlir:7:") {
			c.Fatalf("%v\n%s", err, src)
		}
		return
	}
	c.recognised["typed"]++
	text, err := program.Emit(context.Background(), "jax")
	if err != nil {
		c.Fatal(err)
	}
	c.onJAX(text)
	for _, x := range c.tries() {
		in := tensorOf(c.region.elem, []int64{2}, x[:2])
		result, err := program.Run(context.Background(), []*tensor.Tensor{&in})
		if err != nil {
			c.Fatal(err)
		}
		want := c.of([]float64{x[0], x[1], 1})[0]
		if got := floatsOf(result.Outputs[0]); fmt.Sprint(got) != fmt.Sprint([]float64{want, want}) {
			c.Fatalf("of %v it makes %v, not %v\n%s\n%s", x[:2], got, want, src, text)
		}
	}
}

var named = regexp.MustCompile(`lax\.p(sum|max|min)\(`)

// device writes the program of a device for JAX, whose collectives of one name must be what the region computes.
func (c *reducerCheck) device() {
	plan := &autoshard.Plan{Program: c.region.manualText()}
	program, err := plan.Lowered(context.Background())
	if err != nil {
		c.Fatalf("%v\n%s", err, plan.Program)
	}
	text, err := program.Emit(context.Background(), "jax")
	if err != nil {
		c.Fatalf("%v\n%s", err, c.region.manualText())
	}
	c.onJAX(text)
}

// onJAX expects that a collective with a name of its own is what the region computes. JAX's psum counts truth values.
func (c *reducerCheck) onJAX(text []byte) {
	found := named.FindSubmatch(text)
	if found == nil {
		return
	}
	name := string(found[1])
	if name == "sum" && c.region.elem == "i1" {
		c.Fatalf("truth values are counted\n%s", c.region.text())
	}
	c.computes(map[string]ir.Kind{"sum": ir.OpAdd, "max": ir.OpMaximum, "min": ir.OpMinimum}[name], "JAX")
}
