package fusion_test

import (
	"fmt"
	"strings"
	"testing"

	"autoshard/ir"
	"autoshard/ir/fusion"
	"autoshard/ir/mlir"
)

// first parses a program and returns its first op.
func first(t *testing.T, text string) (*ir.Module, ir.OpID) {
	m, err := mlir.Parse(t.Context(), []byte(text), mlir.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m, m.FirstOp(m.MainFunc().Body)
}

// A chain of squares is walked in as many steps as it has ops, and only its end is held.
func TestManySquares(t *testing.T) {
	const squares = 100
	var program strings.Builder
	program.WriteString("func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {\n  %0 = stablehlo.tanh %x : tensor<8x4xf32>\n")
	for i := range squares {
		fmt.Fprintf(&program, "  %%%d = stablehlo.multiply %%%d, %%%[2]d : tensor<8x4xf32>\n", i+1, i)
	}
	fmt.Fprintf(&program, "  return %%%d : tensor<8x4xf32>\n}", squares)
	m, op := first(t, program.String())
	fused := fusion.Of(m)
	for i := range squares + 1 {
		if v := m.Result(op, 0); fused.Fused[v] != (i < squares) {
			t.Errorf("the result of op %d is fused: %t", i, fused.Fused[v])
		}
		op = m.NextOp(op)
	}
}

// A reshape changes nothing of what is written, read and held. The values of each program in order: + has memory of its own, = is in memory
// as another value, before or behind a reshape, - is nowhere, and * is held, though whoever fuses need not write it.
func TestFusion(t *testing.T) {
	signs := map[[2]bool]string{{false, false}: "+", {false, true}: "=", {true, true}: "-", {true, false}: "*"}
	for _, c := range []struct{ name, program, want string }{
		{"elementwise ops", `tensor<8x4xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>`, "-+"},
		{"a square", `tensor<8x4xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>`, "-+"},
		{"a square of what others read, too", `tensor<8x4xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<8x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>`, "+-+"},
		{"through a reshape", `tensor<32xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x4xf32>) -> tensor<32xf32>
  %2 = stablehlo.negate %1 : tensor<32xf32>
  return %2 : tensor<32xf32>`, "--+"},
		{"through two reshapes", `tensor<4x8xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x4xf32>) -> tensor<32xf32>
  %2 = stablehlo.reshape %1 : (tensor<32xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.negate %2 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>`, "---+"},
		{"an input read through a reshape", `tensor<32xf32> {
  %0 = stablehlo.reshape %x : (tensor<8x4xf32>) -> tensor<32xf32>
  %1 = stablehlo.negate %0 : tensor<32xf32>
  return %1 : tensor<32xf32>`, "=+"},
		{"a product of what a reshape makes", `tensor<4x4xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>`, "=++"},
		{"a gather of what a reshape makes", `tensor<32xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x4xf32>) -> tensor<32xf32>
  %2 = "stablehlo.all_gather"(%1) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}>
    : (tensor<32xf32>) -> tensor<32xf32>
  return %2 : tensor<32xf32>`, "=++"},
		{"a reshape that two ops read", `tensor<32xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x4xf32>) -> tensor<32xf32>
  %2 = stablehlo.negate %1 : tensor<32xf32>
  %3 = stablehlo.add %1, %2 : tensor<32xf32>
  return %3 : tensor<32xf32>`, "=+-+"},
		{"what is read beside its reshape", `(tensor<8x4xf32>, tensor<32xf32>) {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x4xf32>) -> tensor<32xf32>
  %2 = stablehlo.negate %1 : tensor<32xf32>
  return %0, %2 : tensor<8x4xf32>, tensor<32xf32>`, "+=+"},
		{"a sum of three, of which two would be held for longer", `tensor<8x4xf32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
  %1 = stablehlo.reverse %x, dims = [1] : tensor<8x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<8x4xf32>
  %3 = stablehlo.reverse %x, dims = [0, 1] : tensor<8x4xf32>
  %4 = stablehlo.add %2, %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>`, "++*++"},
		{"one of which one is there anyway", `tensor<8x4xf32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
  %1 = stablehlo.add %0, %x : tensor<8x4xf32>
  %2 = stablehlo.reverse %x, dims = [0, 1] : tensor<8x4xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>`, "+-++"},
		{"one of which one is broadcast", `tensor<8x4xf32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8x4xf32>
  %row = stablehlo.slice %x [0:1, 0:4] : (tensor<8x4xf32>) -> tensor<1x4xf32>
  %rows = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.add %0, %rows : tensor<8x4xf32>
  %2 = stablehlo.reverse %x, dims = [0, 1] : tensor<8x4xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x4xf32>
  return %3 : tensor<8x4xf32>`, "++--++"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, op := first(t, "func.func @main(%x: tensor<8x4xf32>) -> "+c.program+"\n}")
			f, got := fusion.Of(m), ""
			for op := range m.Ops(m.OpBlock(op)) {
				for _, v := range m.Results(op) {
					got += signs[[2]bool{f.Fused[v], f.Unheld[v]}]
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// What a rectifier reads is held until the gradient goes through it, and not the mask, which whoever fuses computes there. An input is
// there anyway unless the caller gives it up.
func TestFlowingValues(t *testing.T) {
	m, op := first(t, `func.func @main(%x: tensor<8x8xf32>, %given: tensor<8x8xf32> {jax.buffer_donor = true}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %given, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %mask = stablehlo.compare GT, %0, %zero : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
  %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.select %mask, %1, %x : tensor<8x8xi1>, tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}`)
	f := fusion.Of(m)
	mask := m.Result(m.NextOp(m.NextOp(op)), 0)
	for v, want := range map[ir.ValueID]bool{mask: true, m.Result(op, 0): false} {
		if f.Flowing[v] != want || f.OnTheFly()[v] != want || f.MayBeUnheld()[v] != want {
			t.Errorf("value %d flows: %v, want %v", v, f.Flowing[v], want)
		}
	}
	zero := m.Result(m.NextOp(op), 0)
	for v, want := range map[ir.ValueID]bool{m.Operand(op, 0): false, m.Operand(op, 1): true, m.Result(op, 0): true, zero: false} {
		if got := fusion.MayBeHeldLonger(m, v); got != want {
			t.Errorf("value %d may be held for longer: %v, want %v", v, got, want)
		}
	}
}

// A chain is computed where it is read also where it is longer than sources are looked for: of one value only one is held.
func TestFarthestSource(t *testing.T) {
	text := "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n  %0 = stablehlo.reverse %x, dims = [0] : tensor<8xf32>\n"
	links := 3 * fusion.FarthestSource
	for i := range links {
		text += fmt.Sprintf("  %%%d = stablehlo.negate %%%d : tensor<8xf32>\n", i+1, i)
	}
	m, _ := first(t, text+fmt.Sprintf("  return %%%d : tensor<8xf32>\n}", links))
	taken := 0
	for _, unheld := range fusion.Of(m).OnTheFly() {
		if unheld {
			taken++
		}
	}
	if taken != links-1 {
		t.Errorf("%d values are taken on the fly, want all %d but the result", taken, links-1)
	}
}
