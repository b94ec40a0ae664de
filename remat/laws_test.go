package remat_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/collectives"
	"autoshard/cost"
	"autoshard/cost/estimate"
	"autoshard/internal/testkit/programs"
	"autoshard/ir"
	"autoshard/ir/mlir"
	"autoshard/remat"
	"autoshard/shardmap"
	"autoshard/subaxis"

	"pgregory.net/rapid"
)

// step writes a training step of some layers on two devices, each with half of the batch: what the layers make is read again on the way
// back, in the opposite order.
type step struct {
	strings.Builder
	t     *rapid.T
	width int64
	next  int
}

const batch = 8

// the shardings of activations, weights, and gradients of weights before they are added up
const (
	rows    = `[{"x"}, {}]`
	whole   = `[{}, {}]`
	partial = `[{}, {}], unreduced={"x"}`
)

func (s *step) activation() string { return fmt.Sprintf("tensor<%dx%dxf32>", batch, s.width) }
func (s *step) weight() string     { return fmt.Sprintf("tensor<%dx%dxf32>", s.width, s.width) }

// op writes an op with one result and returns the result's name. The types are those of operands and result.
func (s *step) op(text, sharding, types string) string {
	s.next++
	name := fmt.Sprintf("%%v%d", s.next)
	cut := fmt.Sprintf(" {sdy.sharding = #sdy.sharding_per_value<[<@mesh, %s>]>}", sharding)
	if value, ok := strings.CutPrefix(text, "constant"); ok {
		text, cut = "constant"+cut, value
	}
	fmt.Fprintf(s, "  %s = stablehlo.%s%s : %s\n", name, text, cut, types)
	return name
}

func (s *step) each(kind string, operands ...string) string {
	return s.op(kind+" "+strings.Join(operands, ", "), rows, s.activation())
}

// layer writes one of some layers, and returns what it makes with what goes back through it: a function of the gradient of that.
func (s *step) layer(x, w string) (out string, back func(g string) string) {
	switch rapid.IntRange(0, 3).Draw(s.t, "layer") {
	case 0:
		y := s.each("tanh", x)
		return y, func(g string) string { return s.each("multiply", g, s.each("multiply", y, y)) }
	case 1:
		y := s.each("exponential", s.each("negate", s.each("abs", x)))
		z := s.each("multiply", y, x)
		return z, func(g string) string { return s.each("add", s.each("multiply", g, y), s.each("subtract", g, z)) }
	case 2:
		y := s.each("logistic", x)
		return s.each("add", x, y), func(g string) string { return s.each("multiply", g, y) }
	}
	y := s.op(fmt.Sprintf("dot_general %s, %s, contracting_dims = [1] x [0]", x, w), rows,
		fmt.Sprintf("(%s, %s) -> %s", s.activation(), s.weight(), s.activation()))
	return y, func(g string) string {
		return s.op(fmt.Sprintf("dot_general %s, %s, contracting_dims = [1] x [1]", s.each("add", g, x), w), rows,
			fmt.Sprintf("(%s, %s) -> %s", s.activation(), s.weight(), s.activation()))
	}
}

// drawStep draws a training step that returns the gradients of its weights.
func drawStep(t *rapid.T) string {
	s := &step{t: t, width: 4 * rapid.Int64Range(1, 4).Draw(t, "width")}
	layers := rapid.IntRange(1, 12).Draw(t, "layers")
	fmt.Fprintf(s, "sdy.mesh @mesh = <[\"x\"=2]>\nfunc.func @main(%%x: %s {sdy.sharding = #sdy.sharding<@mesh, %s>}, %%w: %s "+
		"{sdy.sharding = #sdy.sharding<@mesh, %s>}) -> (%s {sdy.sharding = #sdy.sharding<@mesh, %s>}, "+
		"%s {sdy.sharding = #sdy.sharding<@mesh, %s>}) {\n",
		s.activation(), rows, s.weight(), whole, s.weight(), whole, s.activation(), rows)
	x, kept := "%x", []string{}
	var backs []func(string) string
	for range layers {
		y, back := s.layer(x, "%w")
		x, kept, backs = y, append(kept, x), append(backs, back)
	}
	g, sum := x, ""
	for i := len(backs) - 1; i >= 0; i-- {
		g = backs[i](g)
		if rapid.Bool().Draw(t, "gradient") || i == 0 && sum == "" {
			dw := s.op(fmt.Sprintf("dot_general %s, %s, contracting_dims = [0] x [0]", kept[i], g), partial,
				fmt.Sprintf("(%s, %s) -> %s", s.activation(), s.activation(), s.weight()))
			sent := fmt.Sprintf("%%r%d", i)
			fmt.Fprintf(s, "  %s = sdy.all_reduce {\"x\"} %s out_sharding=<@mesh, %s> : %s\n", sent, dw, whole, s.weight())
			if sum != "" {
				sent = s.op("add "+sent+", "+sum, whole, s.weight())
			}
			sum = sent
		}
	}
	fmt.Fprintf(s, "  return %s, %s : %s, %s\n}\n", sum, g, s.weight(), s.activation())
	return s.String()
}

// parsed is a partitioned program with the prices of its collectives.
func parsed(t rapid.TB, text string) (*ir.Module, ir.MeshID, *estimate.Model) {
	m, err := mlir.Parse(context.Background(), []byte(text), mlir.Options{File: "step"})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	id, _ := m.LookupMesh("mesh")
	model, err := estimate.New(cost.Hardware{}.OrDefault(), m.Mesh(id).Mesh)
	if err != nil {
		t.Fatal(err)
	}
	return m, id, model
}

// prices returns what the collectives of a partitioned program take.
func prices(m *ir.Module, id ir.MeshID, model *estimate.Model) map[ir.OpID]int64 {
	out := map[ir.OpID]int64{}
	for _, op := range m.OpsOf(m.MainFunc().Body, ir.OpSdyAllReduce) {
		over := m.Mesh(id).Mesh
		out[op] = model.Price(collectives.AllReduce, []subaxis.Ref{over.Full(0)}, m.ValueType(m.Result(op, 0)).Bytes())
	}
	return out
}

// lowered returns the program of one device.
func lowered(t rapid.TB, m *ir.Module, id ir.MeshID, model *estimate.Model) (*shardmap.Program, estimate.Step) {
	p, err := shardmap.Lower(context.Background(), m.Clone(), id)
	if err != nil {
		t.Fatal(err)
	}
	s, err := model.Program(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return p, s
}

func run(t rapid.TB, p *shardmap.Program, args [][]*tensor.Tensor) [][]*tensor.Tensor {
	if err := shardmap.LowerAxes(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(context.Background(), p.Module); err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	out, _, err := mesh.Run(context.Background(), p.Module, p.Main, len(args), args, mesh.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, mlir.Print(p.Module, mlir.PrintOptions{}))
	}
	return out
}

// Random training steps under random limits: what is made again never makes a device hold more, a limit that is said to be kept is kept by
// the program that runs, and every device computes the same, bit for bit.
func TestStepsStayTheSame(t *testing.T) {
	fitted := 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawStep(t)
		m, id, model := parsed(t, text)
		plain, before := lowered(t, m, id, model)
		limit := before.Peak * rapid.Int64Range(30, 99).Draw(t, "percent") / 100
		choice, err := remat.NewDevice(m, id, model, prices(m, id, model)).Choose(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		again := m.Clone()
		choice.Apply(again)
		if err := ir.Verify(t.Context(), again); err != nil {
			t.Fatalf("%v\n%s", err, mlir.Print(again, mlir.PrintOptions{}))
		}
		if got := remat.Repeats(again); got != (choice.Len() > 0) {
			t.Fatalf("%d values are chosen, some are made again: %t", choice.Len(), got)
		}
		other, after := lowered(t, again, id, model)
		if after.Peak > before.Peak {
			t.Fatalf("%d bytes become %d\n%s", before.Peak, after.Peak, text)
		}
		if after.Peak <= limit {
			fitted++
		}
		inputs := programs.Inputs(t, plain.Module)
		args := [][]*tensor.Tensor{inputs, inputs}
		want, got := run(t, plain, args), run(t, other, args)
		for d := range want {
			for i := range want[d] {
				if !bytes.Equal(want[d][i].Data, got[d][i].Data) {
					t.Fatalf("device %d: result %d is another one\n%s", d, i, mlir.Print(again, mlir.PrintOptions{}))
				}
			}
		}
	})
	if fitted == 0 {
		t.Error("no step fits: the test shows nothing")
	}
	t.Logf("%d steps fit", fitted)
}
