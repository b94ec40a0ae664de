package autoshard_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard"
)

// unrolled is a program of layers one after the other.
func unrolled(layers int, name, operation string) string {
	var args, body strings.Builder
	for i := range layers {
		if i > 0 {
			args.WriteString(", ")
		}
		fmt.Fprintf(&args, "%%%s%d: tensor<8x8xf32> loc(\"%s[%d]\")", name, i, name, i)
	}
	last := "%x"
	for i := range layers {
		fmt.Fprintf(&body, "  %%%d = stablehlo.dot_general %s, %%%s%d, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> "+
			"tensor<4x8xf32>\n  %%a%d = stablehlo.%s %%%d : tensor<4x8xf32> loc(\"%s.py\":%d:1)\n", i, last, name, i, i, operation, i, name, i+1)
		last = fmt.Sprintf("%%a%d", i)
	}
	return fmt.Sprintf("func.func @main(%%x: tensor<4x8xf32>, %s) -> tensor<4x8xf32> {\n%s  return %s : tensor<4x8xf32>\n}\n", args.String(),
		body.String(), last)
}

// looped is a program of layers whose weights are stacked up.
func looped(layers int) string {
	return strings.ReplaceAll(`func.func @main(%x: tensor<4x8xf32>, %w: tensor<LAYERSx8x8xf32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4x8xf32>
   cond {
    %n = stablehlo.constant dense<LAYERS> : tensor<i32>
    %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %none = stablehlo.constant dense<0> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %s = stablehlo.dynamic_slice %w, %i, %none, %none, sizes = [1, 8, 8] : (tensor<LAYERSx8x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x8xf32>
    %m = stablehlo.reshape %s : (tensor<1x8x8xf32>) -> tensor<8x8xf32>
    %z = stablehlo.dot_general %y, %m, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    stablehlo.return %next, %z : tensor<i32>, tensor<4x8xf32>
  }
  return %0#1 : tensor<4x8xf32>
}
`, "LAYERS", fmt.Sprint(layers))
}

// Names, places and numbers of layers make no difference; operations, types and shardings do.
func TestLikeness(t *testing.T) {
	hash := func(text string) string {
		t.Helper()
		m, err := autoshard.ReadModel(t.Context(), "m.mlir", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		h, err := m.Likeness(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	three, loop := hash(unrolled(3, "w", "tanh")), hash(looped(5))
	for name, like := range map[string][2]string{
		"layers":             {three, hash(unrolled(12, "w", "tanh"))},
		"names":              {three, hash(unrolled(3, "weights", "tanh"))},
		"iterations":         {loop, hash(looped(24))},
		"the same once more": {loop, hash(looped(5))},
	} {
		if like[0] != like[1] {
			t.Errorf("%s: %v", name, like)
		}
	}
	for name, other := range map[string]string{
		"operation": unrolled(3, "w", "logistic"),
		"type":      strings.ReplaceAll(unrolled(3, "w", "tanh"), "tensor<4x", "tensor<16x"),
	} {
		if hash(other) == three {
			t.Errorf("%s makes no difference", name)
		}
	}
	if hash(strings.ReplaceAll(looped(5), "4x8", "16x8")) == loop {
		t.Error("the batch of a loop makes no difference")
	}
}
