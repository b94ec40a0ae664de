package autoshard_test

import (
	"math"
	"slices"
	"testing"

	"autoshard"
	"autoshard/backend/tensor"
	"autoshard/internal/lists"
	"autoshard/ir/dtype"
	"autoshard/rewrites"
)

// loopOverWeights multiplies by a weight that lies in blocks, ten times, and asks for the weight in other blocks by way of the whole.
const loopOverWeights = `sdy.mesh @mesh = <["x"=4]>
func.func @main(%w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %a: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%k = %zero, %x = %a) : tensor<i32>, tensor<8x64xf32>
  cond {
    %n = stablehlo.constant dense<10> : tensor<i32>
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %t = sdy.sharding_constraint %w <@mesh, [{}, {}]> : tensor<64x64xf32>
    %u = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %next, %u : tensor<i32>, tensor<8x64xf32>
  }
  return %r#1 : tensor<8x64xf32>
}`

// A plan says of each rewrite what the program takes more without it, and what was switched off; no bound is claimed for a program whose
// loops read something that they do not carry and that was resharded before them.
func TestRewritesSayWhatTheyGain(t *testing.T) {
	model, err := autoshard.ReadModel(t.Context(), "loop.mlir", []byte(loopOverWeights))
	if err != nil {
		t.Fatal(err)
	}
	made := func(without ...rewrites.Rewrite) *autoshard.Plan {
		p, err := autoshard.PlanAsAnnotated(t.Context(), model, autoshard.PlanOptions{Without: rewrites.Of(without...)})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	all, inside := made(), made(rewrites.HoistReshards)
	i := slices.IndexFunc(all.Rewrites, func(g autoshard.Gain) bool { return g.Rewrite == "hoist-reshards" })
	if i < 0 {
		t.Fatalf("rewrites gain %+v", all.Rewrites)
	}
	g := &all.Rewrites[i]
	if saved := inside.Estimate.Seconds - all.Estimate.Seconds; saved <= 0 || math.Abs(saved-g.SavedSeconds) > 1e-12 {
		t.Errorf("hoisting saves %g s, said are %g", saved, g.SavedSeconds)
	}
	if saved := inside.Estimate.SentBytes - all.Estimate.SentBytes; saved != g.SavedBytes || saved <= 0 {
		t.Errorf("hoisting saves %d bytes, said are %d", saved, g.SavedBytes)
	}
	if !slices.Equal(inside.Options.Without, []string{"hoist-reshards"}) {
		t.Errorf("switched off: %v", inside.Options.Without)
	}
	plan, err := autoshard.MakePlan(t.Context(), model, autoshard.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Certificate.Bound > plan.Certificate.Cost || plan.Estimate.Seconds > all.Estimate.Seconds {
		t.Errorf("the plan takes %g s with the bound %d, as annotated it takes %g", plan.Estimate.Seconds, plan.Certificate.Bound,
			all.Estimate.Seconds)
	}
}

// microbatches adds up the gradients of three microbatches that are cut along the batch.
const microbatches = `sdy.mesh @mesh = <["data"=4]>
func.func @main(%x: tensor<3x64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}, {}]>},
    %w: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = stablehlo.while(%k = %zero, %sum = %none) : tensor<i32>, tensor<64x64xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = stablehlo.dynamic_slice %x, %k, %zero, %zero, sizes = [1, 64, 64]
      : (tensor<3x64x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x64xf32>
    %a = stablehlo.reshape %s : (tensor<1x64x64xf32>) -> tensor<64x64xf32>
    %y = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %g = stablehlo.dot_general %a, %y, contracting_dims = [0] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %next = stablehlo.add %sum, %g : tensor<64x64xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %more = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %more, %next : tensor<i32>, tensor<64x64xf32>
  }
  return %r#1 : tensor<64x64xf32>
}`

// Gradients of microbatches are reduced once, after the last one, unless that is switched off, and the devices compute what one does.
func TestMicrobatchesAreReducedOnce(t *testing.T) {
	model, err := autoshard.ReadModel(t.Context(), "microbatches.mlir", []byte(microbatches))
	if err != nil {
		t.Fatal(err)
	}
	for without, times := range map[rewrites.Set]int64{0: 1, rewrites.Of(rewrites.DeferReductions): 3} {
		p, err := autoshard.PlanAsAnnotated(t.Context(), model, autoshard.PlanOptions{Without: without})
		if err != nil {
			t.Fatal(err)
		}
		if c := p.Collectives; len(c) != 1 || c[0].Kind != "all_reduce" || c[0].Count != times {
			t.Errorf("without %v: %+v", without.List(), c)
		}
		inputs := []*tensor.Tensor{counting(3, 64, 64), counting(64, 64)}
		if _, err := lowered(t, p).Verify(t.Context(), inputs, nil, autoshard.Tolerance{}); err != nil {
			t.Errorf("without %v: %v", without.List(), err)
		}
	}
}

// counting returns a tensor of numbers from 0 to 6.
func counting(shape ...int64) *tensor.Tensor {
	x := tensor.New(dtype.F32, shape)
	values := lists.Of(x.Len(), func(i int) float64 { return float64(i % 7) })
	x = tensor.FromFloats(dtype.F32, shape, values...)
	return &x
}
