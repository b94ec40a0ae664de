package ir_test

import (
	"fmt"
	"math"
	"testing"

	"autoshard/ir"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// TestReducerOf says for regions of a reduce what each recognition makes of them.
func TestReducerOf(t *testing.T) {
	const one, two = "%p: tensor<f32>, %q: tensor<f32>", "%p: tensor<f32>, %p2: tensor<f32>, %q: tensor<f32>, %q2: tensor<f32>"
	const effect = `"stablehlo.custom_call"(%p) {call_target_name = "f", has_side_effect = true} : (tensor<f32>) -> () `
	const add = "%s = stablehlo.add %p, %q : tensor<f32> "
	for _, c := range []struct{ name, args, body, returned, computed, written, asShardy string }{
		{"sum", one, add, "%s", "add", "add", "add"},
		{"swapped", one, "%s = stablehlo.add %q, %p : tensor<f32> ", "%s", "add", "-", "add"},
		{"difference", one, "%s = stablehlo.subtract %p, %q : tensor<f32> ", "%s", "subtract", "subtract", "subtract"},
		{"swapped difference", one, "%s = stablehlo.subtract %q, %p : tensor<f32> ", "%s", "-", "-", "subtract"},
		{"doubled", one, "%s = stablehlo.add %p, %p : tensor<f32> ", "%s", "-", "-", "add"},
		{"element", one, "", "%q", "element", "-", "-"},
		{"accumulator", one, "", "%p", "-", "-", "-"},
		{"sum for nothing", one, add, "%q", "element", "-", "-"},
		{"more for nothing", one, "%d = stablehlo.abs %p : tensor<f32> " + add, "%s", "add", "-", "add"},
		{"effect", one, effect + add, "%s", "-", "-", "add"},
		{"from outside", one, "%s = stablehlo.add %p, %z : tensor<f32> ", "%s", "-", "-", "add"},
		{"more on the way", one, "%n = stablehlo.negate %q : tensor<f32> %s = stablehlo.add %p, %n : tensor<f32> ", "%s", "-", "-", "add"},
		{"pairs", two, add + "%t = stablehlo.add %q2, %p2 : tensor<f32> ", "%s, %t", "add", "-", "add"},
		{"crossed pairs", two, add + "%t = stablehlo.add %p, %q2 : tensor<f32> ", "%s, %t", "-", "-", "add"},
		{"mixed pairs", two, add + "%t = stablehlo.maximum %p2, %q2 : tensor<f32> ", "%s, %t", "-", "-", "-"},
		{"one for both", two, add, "%s, %s", "-", "-", "add"},
	} {
		inputs, types, results := "%x, %z", "tensor<4xf32>, tensor<f32>", "tensor<f32>"
		returned, n := "tensor<f32>", 1
		if c.args == two {
			inputs, types = "%x, %x, %z, %z", "tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>"
			results, returned, n = "(tensor<f32>, tensor<f32>)", "tensor<f32>, tensor<f32>", 2
		}
		m, err := mlir.Parse(t.Context(), fmt.Appendf(nil, `func.func @main(%%x: tensor<4xf32>, %%z: tensor<f32>) {
  %%r:%d = "stablehlo.reduce"(%s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%s):
    %s stablehlo.return %s : %s
  }) : (%s) -> %s
  return
}`, n, inputs, c.args, c.body, c.returned, returned, types, results), mlir.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		main, _ := m.Main()
		op := m.FirstOp(m.Func(main).Body)
		for how, want := range []string{c.computed, c.written, c.asShardy} {
			got := "-"
			switch kind, ok := ir.ReducerOf(m, op, 0, ir.Recognition(how)); {
			case ok && kind == ir.OpUnregistered:
				got = "element"
			case ok || kind != ir.OpUnregistered:
				got = kind.String()[len("stablehlo."):]
			}
			if got != want {
				t.Errorf("%s: recognition %d is %s, want %s", c.name, how, got, want)
			}
		}
	}
}

// What a maximum or minimum begins with is a number of every type, and no number of it is beyond.
func TestExtremesOfFloats(t *testing.T) {
	for e := dtype.F4E2M1FN; e <= dtype.F64; e++ {
		least, greatest := dtype.Decode(e, dtype.LoadBits(ir.Extreme(e, false))), dtype.Decode(e, dtype.LoadBits(ir.Extreme(e, true)))
		if !(least < greatest) {
			t.Errorf("%s is from %v to %v", e, least, greatest)
		}
		for code := range uint64(1) << min(e.Bits(), 8) {
			if v := dtype.Decode(e, code); v < least || v > greatest {
				t.Errorf("%s has %v beyond %v and %v", e, v, least, greatest)
			}
		}
		if inf := dtype.Decode(e, dtype.Encode(e, math.Inf(1))); math.IsInf(inf, 0) && greatest != inf {
			t.Errorf("the greatest %s is %v", e, greatest)
		}
	}
}
