package estimate_test

import (
	"testing"

	"autoshard/cost/estimate"
)

// A reshape changes nothing of what is written, read and held. The values of each program in order: + has memory of its own, = is in memory
// as another value, before or behind a reshape, and - is nowhere.
func TestFusion(t *testing.T) {
	for _, c := range []struct{ name, program, want string }{
		{"elementwise ops", `tensor<8x4xf32> {
  %0 = stablehlo.tanh %x : tensor<8x4xf32>
  %1 = stablehlo.negate %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>`, "-+"},
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
	} {
		t.Run(c.name, func(t *testing.T) {
			m, op := first(t, "func.func @main(%x: tensor<8x4xf32>) -> "+c.program+"\n}")
			f, got := estimate.FusionOf(m), ""
			for op := range m.Ops(m.OpBlock(op)) {
				for _, v := range m.Results(op) {
					got += map[[2]bool]string{{false, false}: "+", {false, true}: "=", {true, true}: "-"}[[2]bool{f.Fused[v], f.Unheld[v]}]
				}
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
