package merge_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"

	"pgregory.net/rapid"
)

const devices, rows = 4, 4

// drawProgram draws a program on the mesh x=2, y=2 whose values are whole on every device: sums and maxima over parts, gathers and
// blocks that change sides, with small ops between them, some of them in a loop.
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
	switch rapid.SampledFrom([]string{"add", "product", "product", "maximum", "gather", "exchange"}).Draw(w.T, "op") {
	case "add":
		w.line("%s = stablehlo.add %s, %s {%s} : %s", out, v, w.value(), sharding("[{}, {}]"), typ)
	case "product":
		other := w.name()
		w.line("%s = sdy.all_slice %s %s out_sharding=<@mesh, %s> : %s", part, cut, v, cut, typ)
		w.line("%s = sdy.all_slice [{%q}, {}] %s out_sharding=<@mesh, [{%q}, {}]> : %s", other, axis, w.value(), axis, typ)
		w.line("%s = stablehlo.dot_general %s, %s, contracting_dims = [1] x [0] {%s} : (%s, %s) -> %s", sum, part, other,
			sharding(fmt.Sprintf("[{}, {}], unreduced={%q}", axis)), typ, typ, typ)
		w.line("%s = sdy.all_reduce {%q} %s out_sharding=<@mesh, [{}, {}]> : %s", out, axis, sum, typ)
	case "maximum":
		most, all := w.name(), w.name()
		w.line("%s = sdy.all_slice %s %s out_sharding=<@mesh, %s> : %s", part, cut, v, cut, typ)
		w.line("%s = stablehlo.reduce(%s init: %%zero) applies stablehlo.maximum across dimensions = [1] {%s} : (%s, tensor<f32>) -> "+
			"tensor<4xf32>", most, part, sharding(fmt.Sprintf("[{}], unreduced=max{%q}", axis)), typ)
		w.line("%s = sdy.all_reduce {%q} %s out_sharding=<@mesh, [{}]> : tensor<4xf32>", all, axis, most)
		w.line("%s = stablehlo.broadcast_in_dim %s, dims = [1] {%s} : (tensor<4xf32>) -> %s", out, all, sharding("[{}, {}]"), typ)
	case "gather":
		w.line("%s = sdy.all_slice %s %s out_sharding=<@mesh, %s> : %s", part, cut, v, cut, typ)
		w.line("%s = sdy.all_gather %s %s out_sharding=<@mesh, [{}, {}]> : %s", out, cut, part, typ)
	case "exchange":
		w.line("%s = sdy.all_slice %s %s out_sharding=<@mesh, %s> : %s", part, cut, v, cut, typ)
		w.line("%s = sdy.all_to_all [{%q}: 1->0] %s out_sharding=<@mesh, [{%q}, {}]> : %s", sum, axis, part, axis, typ)
		w.line("%s = sdy.all_gather [{%q}, {}] %s out_sharding=<@mesh, [{}, {}]> : %s", out, axis, sum, typ)
	}
	w.values = append(w.values, out)
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
	merged := 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawProgram(t)
		most := rapid.Int64Range(1, 2000).Draw(t, "bytes")
		alone, together := lower(t, text, 0), lower(t, text, most)
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
		for _, c := range together.Collectives {
			if n := together.Module.NumOperands(c.Op); n > 1 && moved(together, c.Op) > most {
				t.Fatalf("%d collectives that move %d bytes are one, more than %d", n, moved(together, c.Op), most)
			}
		}
		merged += len(alone.Collectives) - len(together.Collectives)
	})
	if merged == 0 {
		t.Error("nothing was ever merged")
	}
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

// Merged collectives never cost more than separate ones. What one of them saves is at most what each of the others takes before it
// sends anything.
func TestMergedAreNoDearer(t *testing.T) {
	var models []*estimate.Model
	for _, profile := range cost.Profiles() {
		p := lower(t, "sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>\nfunc.func @main() {\nreturn\n}", 0)
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
		together := lower(t, text, 1<<20)
		saved := price(lower(t, text, 0)) - price(together)
		most := int64(0)
		for _, c := range together.Collectives {
			others := int64(together.Module.NumOperands(c.Op) - 1)
			const rounding = 2
			most += others * (md.Price(c.Kind, c.Axes, 0) + rounding) * c.Runs
		}
		if saved < 0 || saved > most {
			t.Fatalf("%d ps are saved, which should be from 0 to %d\n%s", saved, most, text)
		}
	})
}
