package merge_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/lists"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"

	"pgregory.net/rapid"
)

const devices, rows = 4, 4

// drawProgram draws a program on the mesh x=2, y=2 whose values are whole on every device: sums and maxima over parts, in whole or in
// blocks, gathers and blocks that change sides, with small ops between them, some of them in a loop.
func drawProgram(t *rapid.T) string {
	w := &text{T: t, values: []string{"%a", "%b"}}
	w.line("%%zero = stablehlo.constant {%s} dense<0.0> : tensor<f32>", sharding("[]"))
	for range rapid.IntRange(2, 12).Draw(t, "ops") {
		w.draw()
	}
	if rapid.Bool().Draw(t, "loop") {
		w.loop()
	}
	n := len(w.values)
	out := [2]string{w.values[n-1], w.values[rapid.IntRange(0, n-1).Draw(t, "other")]}
	const whole = `tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}`
	return fmt.Sprintf("sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\nfunc.func @main(%%a: %[1]s, %%b: %[1]s) -> (%[1]s, %[1]s) {\n%[2]s"+
		"return %[3]s, %[4]s : tensor<4x4xf32>, tensor<4x4xf32>\n}", whole, w.lines.String(), out[0], out[1])
}

// sharding returns the attribute of an op with one result.
func sharding(dims string) string {
	return "sdy.sharding = #sdy.sharding_per_value<[<@mesh, " + dims + ">]>"
}

// text writes ops; all values are tensor<4x4xf32>.
type text struct {
	*rapid.T
	lines  strings.Builder
	values []string
	next   int
}

func (w *text) line(format string, args ...any) { fmt.Fprintf(&w.lines, format+"\n", args...) }

func (w *text) name() string {
	w.next++
	return fmt.Sprintf("%%v%d", w.next)
}

func (w *text) value() string { return rapid.SampledFrom(w.values).Draw(w.T, "value") }

// draw writes an op, or a collective with what it needs.
func (w *text) draw() {
	const typ = "tensor<4x4xf32>"
	v, axis := w.value(), rapid.SampledFrom([]string{"x", "y"}).Draw(w.T, "axis")
	part, sum, out := w.name(), w.name(), w.name()
	cut := fmt.Sprintf("[{}, {%q}]", axis)
	switch rapid.SampledFrom([]string{"add", "product", "product", "scatter", "scatter", "maximum", "gather", "exchange"}).Draw(w.T, "op") {
	case "add":
		w.line("%s = stablehlo.add %s, %s {%s} : %s", out, v, w.value(), sharding("[{}, {}]"), typ)
	case "product":
		w.product(sum, v, axis)
		w.line("%s = sdy.all_reduce {%q} %s out_sharding=<@mesh, [{}, {}]> : %s", out, axis, sum, typ)
	case "scatter":
		w.scatters(out, axis)
	case "maximum":
		most, all := w.name(), w.name()
		w.line("%s = sdy.all_slice %s %s out_sharding=<@mesh, %s> : %s", part, cut, v, cut, typ)
		w.line("%s = stablehlo.reduce(%s init: %%zero) applies stablehlo.maximum across dimensions = [1] {%s} : (%s, tensor<f32>) -> "+
			"tensor<4xf32>", most, part, sharding(fmt.Sprintf("[{}], unreduced=max{%q}", axis)), typ)
		w.line("%s = sdy.all_reduce {%q} %s out_sharding=<@mesh, [{}]> : tensor<4xf32>", all, axis, most)
		w.line("%s = stablehlo.broadcast_in_dim %s, dims = [1] {%s} : (tensor<4xf32>) -> %s", out, all, sharding("[{}, {}]"), typ)
	case "gather":
		cut = fmt.Sprintf(rapid.SampledFrom([]string{"[{%q}, {}]", "[{}, {%q}]"}).Draw(w.T, "blocks"), axis)
		w.line("%s = sdy.all_slice %s %s out_sharding=<@mesh, %s> : %s", part, cut, v, cut, typ)
		w.line("%s = sdy.all_gather %s %s out_sharding=<@mesh, [{}, {}]> : %s", out, cut, part, typ)
	case "exchange":
		w.line("%s = sdy.all_slice %s %s out_sharding=<@mesh, %s> : %s", part, cut, v, cut, typ)
		w.line("%s = sdy.all_to_all [{%q}: 1->0] %s out_sharding=<@mesh, [{%q}, {}]> : %s", sum, axis, part, axis, typ)
		w.line("%s = sdy.all_gather [{%q}, {}] %s out_sharding=<@mesh, [{}, {}]> : %s", out, axis, sum, typ)
	}
	w.values = append(w.values, out)
}

// product writes the product of a value and another one, as parts that the devices along an axis have of its sum.
func (w *text) product(sum, v, axis string) {
	const typ = "tensor<4x4xf32>"
	left, right, cut := w.name(), w.name(), fmt.Sprintf("[{}, {%q}]", axis)
	w.line("%s = sdy.all_slice %s %s out_sharding=<@mesh, %s> : %s", left, cut, v, cut, typ)
	w.line("%s = sdy.all_slice [{%q}, {}] %s out_sharding=<@mesh, [{%q}, {}]> : %s", right, axis, w.value(), axis, typ)
	w.line("%s = stablehlo.dot_general %s, %s, contracting_dims = [1] x [0] {%s} : (%s, %s) -> %s", sum, left, right,
		sharding(fmt.Sprintf("[{}, {}], unreduced={%q}", axis)), typ, typ, typ)
}

// scatters writes sums of which each device keeps a block, along one dimension or the other, and the sum of those.
func (w *text) scatters(out, axis string) {
	const typ = "tensor<4x4xf32>"
	var blocks, parts []string
	for range rapid.IntRange(1, 3).Draw(w.T, "scatters") {
		sum, part := w.name(), w.name()
		w.product(sum, w.value(), axis)
		cut := fmt.Sprintf(rapid.SampledFrom([]string{"[{%q}, {}]", "[{}, {%q}]"}).Draw(w.T, "blocks"), axis)
		w.line("%s = sdy.reduce_scatter %s %s out_sharding=<@mesh, %s> : %s", part, cut, sum, cut, typ)
		blocks, parts = append(blocks, cut), append(parts, part)
	}
	total := w.value()
	for i, part := range parts {
		whole, next := w.name(), w.name()
		w.line("%s = sdy.all_gather %s %s out_sharding=<@mesh, [{}, {}]> : %s", whole, blocks[i], part, typ)
		if i == len(parts)-1 {
			next = out
		}
		w.line("%s = stablehlo.add %s, %s {%s} : %s", next, total, whole, sharding("[{}, {}]"), typ)
		total = next
	}
}

// loop writes a loop of two rounds that carries a value.
func (w *text) loop() {
	i, x, out, outer := w.name(), w.name(), w.name(), w.values
	w.line("%%none = stablehlo.constant {%s} dense<0> : tensor<i32>", sharding("[]"))
	w.line("%s:2 = stablehlo.while(%s = %%none, %s = %s) : tensor<i32>, tensor<4x4xf32> attributes "+
		"{sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{}, {}]>]>}", out, i, x, w.value())
	w.line("cond {\n%%two = stablehlo.constant {%s} dense<2> : tensor<i32>", sharding("[]"))
	w.line("%%less = stablehlo.compare LT, %s, %%two {%s} : (tensor<i32>, tensor<i32>) -> tensor<i1>", i, sharding("[]"))
	w.line("stablehlo.return %%less : tensor<i1>\n} do {")
	w.values = append(w.values[:len(w.values):len(w.values)], x)
	for range rapid.IntRange(2, 6).Draw(w.T, "ops inside") {
		w.draw()
	}
	w.line("%%one = stablehlo.constant {%s} dense<1> : tensor<i32>", sharding("[]"))
	w.line("%%more = stablehlo.add %s, %%one {%s} : tensor<i32>", i, sharding("[]"))
	w.line("stablehlo.return %%more, %s : tensor<i32>, tensor<4x4xf32>\n}", w.values[len(w.values)-1])
	w.values = append(outer, out+"#1")
}

// run runs a program on blocks that differ from device to device, and checks what its collectives move.
func run(t *rapid.T, p *shardmap.Program) [][]*tensor.Tensor {
	args := make([][]*tensor.Tensor, devices)
	for d := range args {
		for i := range p.Inputs {
			values := make([]float64, rows*rows)
			for k := range values {
				values[k] = float64((7*k+3*d+5*i)%11)*0.3 - 1
			}
			x := tensor.Convert(tensor.FromFloats(dtype.F64, []int64{rows, rows}, values...), dtype.F32)
			args[d] = append(args[d], &x)
		}
	}
	p = p.Clone()
	if err := shardmap.LowerAxes(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(context.Background(), p.Module); err != nil {
		t.Fatalf("the program over groups is wrong: %v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	out, traffic, err := mesh.Run(context.Background(), p.Module, p.Main, devices, args, mesh.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	for _, c := range p.Collectives {
		if got := traffic.Bytes(c.Op); got != c.TotalBytes() {
			t.Fatalf("%s moved %d bytes, predicted %d", c.Kind, got, c.TotalBytes())
		}
	}
	return out
}

// What collectives compute together is what they compute alone, bit for bit, whatever the blocks of the devices; they send as much.
func TestMergedComputeTheSame(t *testing.T) {
	merged := map[collectives.Kind]int{}
	rapid.Check(t, func(t *rapid.T) {
		text := drawProgram(t)
		most := rapid.Int64Range(1, 2000).Draw(t, "bytes")
		some := func(p *shardmap.Program) []int {
			return lists.Filter(lists.Range[int](len(p.Collectives)), func(i int) bool {
				k := p.Collectives[i].Kind
				return (k == collectives.ReduceScatter || k == collectives.AllGather) && rapid.Bool().Draw(t, "join")
			})
		}
		alone, together := lower(t, text, 0, none), lower(t, text, most, some)
		want, got := run(t, alone), run(t, together)
		for d := range want {
			for i := range want[d] {
				if !got[d][i].Equal(*want[d][i]) {
					t.Fatalf("output %d of device %d is %v, want %v\n%s", i, d, got[d][i].Floats(), want[d][i].Floats(), text)
				}
			}
		}
		if a, b := sent(alone), sent(together); a != b {
			t.Fatalf("together they send %d bytes, alone %d", b, a)
		}
		for _, c := range without(together, alone) {
			if moved(together, c.Op) > most {
				t.Fatalf("collectives that move %d bytes are one, more than %d", moved(together, c.Op), most)
			}
			merged[c.Kind]++
		}
	})
	for _, kind := range []collectives.Kind{collectives.AllReduce, collectives.ReduceScatter, collectives.AllGather} {
		if merged[kind] == 0 {
			t.Errorf("no %s was ever merged", kind)
		}
	}
}

// without returns the collectives of a program that another one, lowered from the same text, does not have.
func without(p, other *shardmap.Program) []shardmap.Collective {
	return lists.Filter(p.Collectives, func(c shardmap.Collective) bool {
		return !slices.ContainsFunc(other.Collectives, func(o shardmap.Collective) bool { return o.Op == c.Op })
	})
}

func sent(p *shardmap.Program) int64 {
	total := int64(0)
	for i := range p.Collectives {
		total += p.Collectives[i].TotalBytes()
	}
	return total
}

func moved(p *shardmap.Program, op ir.OpID) int64 {
	total := int64(0)
	for _, v := range append(p.Module.Operands(op), p.Module.ResultValues(op)...) {
		total += p.Module.ValueType(v).Bytes()
	}
	return total
}

// Merged collectives never cost more than separate ones, if those reduce-scatters are joined that are said to be worth it. One saves at
// most what each of the others takes before it sends anything, without the copies of reduce-scatters.
func TestMergedAreNoDearer(t *testing.T) {
	var models []*estimate.Model
	for _, profile := range cost.Profiles() {
		p := lower(t, "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\nfunc.func @main() {\nreturn\n}", 0, none)
		md, err := estimate.New(profile.Hardware, p.Mesh)
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, md)
	}
	rapid.Check(t, func(t *rapid.T) {
		text, md := drawProgram(t), rapid.SampledFrom(models).Draw(t, "hardware")
		price := func(p *shardmap.Program) int64 {
			step, err := md.Program(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			return step.Total()
		}
		alone, together := lower(t, text, 0, none), lower(t, text, 1<<20, md.Joins)
		const rounding = 4
		most := int64(0)
		for _, c := range without(alone, together) {
			before := md.Price(c.Kind, c.Axes, 0) + rounding
			if c.Kind == collectives.ReduceScatter {
				before -= md.Copying(c.Bytes, c.Bytes/c.Size, false, true)
			}
			most += before * c.Runs
		}
		for _, c := range without(together, alone) {
			most -= md.Price(c.Kind, c.Axes, 0) * c.Runs
		}
		if saved := price(alone) - price(together); saved < 0 || saved > most {
			t.Fatalf("%d ps are saved, which should be from 0 to %d\n%s", saved, most, text)
		}
	})
}
