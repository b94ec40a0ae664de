package verify

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"autoshard/backend/tensor"
	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

// A product whose contracted dimension is cut, and what is made of it.
const product = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%%arg0: tensor<8x%[1]dxf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %%arg1: tensor<%[1]dx4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %%0 = stablehlo.dot_general %%arg0, %%arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x%[1]dxf32>, tensor<%[1]dx4xf32>) -> tensor<8x4xf32> loc("model.py":7:1)
  %%1 = sdy.all_reduce {"x"} %%0 out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  %%2 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} dense<0.5> : tensor<8x4xf32>
  %%3 = stablehlo.multiply %%1, %%2 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<8x4xf32> loc("model.py":9:1)
  return %%3 : tensor<8x4xf32>
}`

// read returns a partitioned program and the program of one device, in which plant, if any, plants a bug.
func read(t *testing.T, text string, plant func(*ir.Module)) (*ir.Module, *shardmap.Program) {
	t.Helper()
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{File: "test.mlir"})
	if err != nil {
		t.Fatal(err)
	}
	whole := m.Clone()
	p, err := shardmap.Lower(t.Context(), m, ir.MeshID(m.NumMeshes()-1))
	if err == nil {
		err = shardmap.LowerAxes(t.Context(), p)
	}
	if err != nil {
		t.Fatal(err)
	}
	if plant != nil {
		plant(m)
		if err := ir.Verify(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	return whole, p
}

func find(m *ir.Module, kind ir.Kind) (found ir.OpID) {
	main, _ := m.Main()
	m.Walk(m.Func(main).Body, func(op ir.OpID) {
		if m.Kind(op) == kind {
			found = op
		}
	})
	return found
}

func proof(t *testing.T, whole *ir.Module, p *shardmap.Program, inputs ...tensor.Tensor) *Result {
	t.Helper()
	list := make([]*tensor.Tensor, len(inputs))
	for i := range inputs {
		list[i] = &inputs[i]
	}
	r, err := Run(context.Background(), whole, p, list, Options{})
	if err != nil || r.Unproven != nil {
		t.Fatal(err, r)
	}
	return r
}

// numbersOf returns the inputs of the product: element k of a row or column is f(k).
func numbersOf(k int, f, g func(k int) float64) (x, w tensor.Tensor) {
	var left, right []float64
	for range 8 {
		for i := range k {
			left = append(left, f(i))
		}
	}
	for i := range k {
		for range 4 {
			right = append(right, g(i))
		}
	}
	return tensor.FromFloats(dtype.F32, []int64{8, int64(k)}, left...), tensor.FromFloats(dtype.F32, []int64{int64(k), 4}, right...)
}

// cancelling returns terms whose sum is zero but for rounding, though that of no device's part is.
func cancelling(n int) func(k int) float64 {
	rng := rand.New(rand.NewPCG(1, 1))
	terms, sum := make([]float64, n), 0.0
	for k := range n - 1 {
		terms[k] = float64(float32(rng.NormFloat64()))
		sum += terms[k]
	}
	terms[n-1] = -sum
	return func(k int) float64 { return terms[k] }
}

// Sums of terms that cancel, and of equal ones that all round alike, are right within their rounding.
func TestSumsPass(t *testing.T) {
	for name, c := range map[string]struct {
		f, g  func(k int) float64
		equal bool
	}{
		"cancel":   {cancelling(4096), func(int) float64 { return 0.1 }, false},
		"alike":    {func(int) float64 { return 0.1 }, func(int) float64 { return 0.1 }, false},
		"exact":    {func(k int) float64 { return float64(k % 3) }, func(k int) float64 { return float64(k % 5) }, true},
		"one":      {func(k int) float64 { return 0.1 * float64(1-min(k, 1)) }, func(int) float64 { return 0.7 }, true},
		"infinite": {func(k int) float64 { return 0.1 / float64(k) }, func(int) float64 { return 0.7 }, true},
	} {
		whole, p := read(t, fmt.Sprintf(product, 4096), nil)
		x, w := numbersOf(4096, c.f, c.g)
		r := proof(t, whole, p, x, w)
		if r.Wrong != 0 || r.Values < 3 {
			t.Errorf("%s: %d values, faults %v", name, r.Values, r.Faults)
		}
		if (r.Equal == r.Values) != c.equal {
			t.Errorf("%s: %d of %d values are equal bit for bit", name, r.Equal, r.Values)
		}
	}
}

// A fault names the op, its line and the first wrong element, also where the right value is nearly zero and where the
// error is small.
func TestFaults(t *testing.T) {
	x, w := numbersOf(64, cancelling(64), func(int) float64 { return 0.1 })
	for name, c := range map[string]struct {
		plant func(m *ir.Module)
		want  string
	}{
		"no all-reduce": {func(m *ir.Module) {
			op := find(m, ir.OpAllReduce)
			m.ReplaceUses(m.Result(op, 0), m.Operand(op, 0))
		}, "model.py:9:1: stablehlo.multiply: devices disagree"},
		"groups": {func(m *ir.Module) {
			op := find(m, ir.OpAllReduce)
			d := m.Attr(op, "replica_groups").(*ir.Dense)
			two := &ir.Dense{Type: m.TensorType(dtype.I64, 2, 2), Data: d.Data}
			m.SetAttrs(op, m.OpAttrs(op).With("replica_groups", two))
		}, "devices disagree about a block of f32[8,4] that they should all hold"},
		"constant": {func(m *ir.Module) {
			op := find(m, ir.OpConstant)
			d := *m.Attr(op, "value").(*ir.Dense)
			d.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.5005))
			m.SetAttrs(op, m.OpAttrs(op).With("value", &d))
		}, "model.py:9:1: stablehlo.multiply: "},
		"one term": {func(m *ir.Module) {
			op := find(m, ir.OpDotGeneral)
			v := m.Operand(op, 0)
			at := m.BuilderBefore(op)
			zero := at.Op1(ir.OpConstant, m.TensorType(dtype.F32, 1, 1), ir.MakeAttrs(ir.NamedAttr{Name: "value",
				Value: &ir.Dense{Type: m.TensorType(dtype.F32, 1, 1), Data: make([]byte, 4), Splat: true}}))
			three := at.Op1(ir.OpConstant, m.TensorType(dtype.I32), ir.MakeAttrs(ir.NamedAttr{Name: "value",
				Value: &ir.Dense{Type: m.TensorType(dtype.I32), Data: []byte{3, 0, 0, 0}, Splat: true}}))
			m.SetOperand(op, 0, at.Op1(ir.OpDynamicUpdateSlice, m.Type(v), nil, v, zero, three, three))
		}, "model.py:7:1: stablehlo.dot_general: 4 elements of f32[8,4] are wrong: the first, at [3,0]"},
	} {
		whole, p := read(t, fmt.Sprintf(product, 64), c.plant)
		r := proof(t, whole, p, x, w)
		if r.Wrong == 0 {
			t.Errorf("%s: nothing found in %d values", name, r.Values)
			continue
		}
		if got := r.Faults[0].Pos.String() + ": " + r.Faults[0].String(); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// A loop is compared step by step, and devices that run ahead wait for the comparison.
func TestLoop(t *testing.T) {
	loop := `sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %zero = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %arg0) : tensor<i32>, tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}]>]>}
    cond {
      %n = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<100> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : tensor<i32>
      %y = stablehlo.sine %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<8xf32>
    }
  return %0#1 : tensor<8xf32>
}`
	x := tensor.FromFloats(dtype.F32, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	whole, p := read(t, loop, nil)
	c := newChecker(whole, p)
	c.trace.most = 1
	r, err := c.verify(context.Background(), []*tensor.Tensor{&x})
	if err != nil || r.Wrong != 0 || r.Values < 300 || r.Equal != r.Values {
		t.Errorf("%v, %+v", err, r)
	}
	whole, p = read(t, loop, func(m *ir.Module) { m.SetKind(find(m, ir.OpSine), ir.OpTanh) })
	if r := proof(t, whole, p, x); r.Wrong != 100 || len(r.Faults) != mostFaults ||
		!strings.Contains(r.Faults[0].String(), "8 elements of f32[8]") {
		t.Errorf("%d faults: %v", r.Wrong, r.Faults)
	}
	// One that makes fewer steps is found where it stops, though no device shows the others.
	whole, p = read(t, loop, func(m *ir.Module) {
		main, _ := m.Main()
		m.Walk(m.Func(main).Body, func(op ir.OpID) {
			if d, ok := m.Attr(op, "value").(*ir.Dense); ok && d.Data[0] == 100 {
				short := *d
				short.Data = []byte{50, 0, 0, 0}
				m.SetAttrs(op, m.OpAttrs(op).With("value", &short))
			}
		})
	})
	if r := proof(t, whole, p, x); r.Wrong == 0 {
		t.Error("a loop that ends early is not found")
	}
}

// Noise is that of the numbers that an output was summed from, and none where nothing rounds.
func TestNoise(t *testing.T) {
	whole, _ := read(t, fmt.Sprintf(product, 64), nil)
	x, w := numbersOf(64, cancelling(64), func(int) float64 { return 0.1 })
	noise := func() float64 {
		zero := tensor.New(dtype.F32, []int64{8, 4})
		outs := []*tensor.Tensor{&zero}
		n := NewNoise(whole, []*tensor.Tensor{&x, &w}, outs)
		if err := n.More(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n.Of[0][0]
	}
	if n := noise(); n < 1e-8 || n > 1e-4 {
		t.Errorf("noise of a sum that cancels is %g", n)
	}
	x, w = numbersOf(64, func(k int) float64 { return float64(1 - 2*(k%2)) }, func(int) float64 { return 3 })
	if n := noise(); n != 0 {
		t.Errorf("noise of a sum of whole numbers is %g", n)
	}
}
