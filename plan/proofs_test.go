package plan_test

import (
	"slices"
	"testing"

	"autoshard/answer"
	"autoshard/internal/lint"
)

// updated takes a step of an optimizer, or none, as mixed precision does where a gradient is infinite.
const updated = `sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%finite: tensor<i32>, %w: tensor<1024x256xf32>, %g: tensor<1024x256xf32>) -> tensor<1024x256xf32> {
  %0 = "stablehlo.case"(%finite) ({
    stablehlo.return %w : tensor<1024x256xf32>
  }, {
    %a = stablehlo.multiply %g, %g : tensor<1024x256xf32>
    %b = stablehlo.sqrt %a : tensor<1024x256xf32>
    %c = stablehlo.divide %g, %b : tensor<1024x256xf32>
    %d = stablehlo.dot_general %c, %c, contracting_dims = [1] x [1] : (tensor<1024x256xf32>, tensor<1024x256xf32>) -> tensor<1024x1024xf32>
    %e = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x256xf32>) -> tensor<1024x256xf32>
    stablehlo.return %e : tensor<1024x256xf32>
  }) : (tensor<i32>) -> tensor<1024x256xf32>
  return %0 : tensor<1024x256xf32>
}`

// beams scores and keeps the best of what may come next, as a beam search does.
const beams = `sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%h: tensor<2x4x32xf32>, %w: tensor<32x64xf32>) -> (tensor<2x4xf32>, tensor<2x4xi32>) {
  %0 = stablehlo.dot_general %h, %w, contracting_dims = [2] x [0] : (tensor<2x4x32xf32>, tensor<32x64xf32>) -> tensor<2x4x64xf32>
  %1 = stablehlo.exponential %0 : tensor<2x4x64xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x4x64xf32>) -> tensor<2x256xf32>
  %3:2 = chlo.top_k(%2, k = 4) : tensor<2x256xf32> -> (tensor<2x4xf32>, tensor<2x4xi32>)
  return %3#0, %3#1 : tensor<2x4xf32>, tensor<2x4xi32>
}`

// messages are products that are added up where they belong, which says nothing of how the sum is cut.
const messages = `sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%h: tensor<128x32xf32>, %w: tensor<32x32xf32>, %from: tensor<512x1xi32>, %to: tensor<512x1xi32>) -> tensor<128x32xf32> {
  %none = stablehlo.constant dense<0.0> : tensor<128x32xf32>
  %0 = "stablehlo.gather"(%h, %from) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<128x32xf32>, tensor<512x1xi32>) -> tensor<512x32xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<512x32xf32>, tensor<32x32xf32>) -> tensor<512x32xf32>
  %2 = "stablehlo.scatter"(%none, %to, %1) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<128x32xf32>, tensor<512x1xi32>, tensor<512x32xf32>) -> tensor<128x32xf32>
  %3 = stablehlo.add %h, %2 : tensor<128x32xf32>
  %4 = stablehlo.tanh %3 : tensor<128x32xf32>
  return %4 : tensor<128x32xf32>
}`

// Plans are proven where one branch of several runs, where devices exchange what they found, and where sums are reduced later than what is
// added up.
func TestProofs(t *testing.T) {
	for name, text := range map[string]string{"branches": updated, "searches": beams, "late sums": messages} {
		t.Run(name, func(t *testing.T) {
			if p := planOn(t, text, "tpu-v5p", 0); p.Certificate.Gap > 0.01 {
				t.Errorf("%.1f %% of the plan's time is unproven", 100*p.Certificate.Gap)
			}
		})
	}
}

// rounds multiplies with weights that a loop reads from outside instead of carrying them.
const rounds = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%h: tensor<64x64xf32>, %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %y = %h) : tensor<i32>, tensor<64x64xf32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      %3 = stablehlo.tanh %2 : tensor<64x64xf32>
      stablehlo.return %1, %3 : tensor<i32>, tensor<64x64xf32>
    }
  return %0#1 : tensor<64x64xf32>
}`

// Where there is no bound, since what a loop reads from outside is gathered once before it, a finding says why.
func TestNoBound(t *testing.T) {
	p := planOn(t, rounds, "tpu-v5e", 0)
	said := slices.ContainsFunc(p.Findings, func(f answer.Finding) bool { return f.Code == string(lint.NoBound) })
	if p.Certificate.Bound != 0 || !said || p.Collectives[0].Count != 1 {
		t.Errorf("a bound of %d ps, said to be none: %t; %+v", p.Certificate.Bound, said, p.Collectives)
	}
}
