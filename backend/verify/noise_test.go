package verify

import (
	"context"
	"slices"
	"testing"

	"autoshard/backend/interp"
	"autoshard/backend/run"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"

	"github.com/google/go-cmp/cmp"
)

// The noise of a program that every device runs as a whole is that of the program on one device, whoever runs the devices.
func TestNoiseOfDevicesIsThatOfOne(t *testing.T) {
	whole, p := read(t, `sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
  %0 = stablehlo.sine %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  %1 = stablehlo.multiply %0, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}`, nil)
	x := tensor.FromFloats(dtype.F32, []int64{8}, 1, 2, 3, 4, 5, 6, 7, 8)
	inputs := []*tensor.Tensor{&x}
	main, _ := whole.Main()
	in, err := interp.New(whole, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := in.Run(t.Context(), main, inputs)
	if err != nil {
		t.Fatal(err)
	}
	one := NewNoise(whole, inputs, outputs)
	others := []*Noise{NewNoiseOfDevices(p, inputs, outputs), NewNoiseOfRuns(p.Mesh.Devices(), outputs,
		func(ctx context.Context, observe run.Observer) ([]*tensor.Tensor, error) {
			result, err := run.Program(ctx, p, inputs, run.Options{Observe: observe})
			if err != nil {
				return nil, err
			}
			return result.Outputs, nil
		})}
	for _, n := range append(others, one) {
		for range 3 {
			if err := n.More(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if slices.Max(one.Of[0]) == 0 {
		t.Error("sines have no noise")
	}
	for _, n := range others {
		if d := cmp.Diff(one.Of, n.Of); d != "" || n.Runs != 3 {
			t.Errorf("after %d runs (-one +devices): %s", n.Runs, d)
		}
	}
}

// Where a transcendental function saturates, other libraries may give something else than 1, whose distance from 1 is then all of a
// result, though twice the width gives 1, too. XLA's tanh of 19.3 is 1 - 3/2^24 on processors without fused multiply-add. What is
// only defined between -1 and 1 stays a number.
func TestNoiseWhereFunctionsSaturate(t *testing.T) {
	whole, _ := read(t, `sdy.mesh @mesh = <["x"=4]>
func.func @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %0 = stablehlo.tanh %arg0 : tensor<4xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<4xf32>
  %2 = stablehlo.subtract %one, %1 : tensor<4xf32>
  %3 = stablehlo.exponential %arg0 : tensor<4xf32>
  %4 = stablehlo.cosine %arg0 : tensor<4xf32>
  %5 = stablehlo.multiply %4, %4 : tensor<4xf32>
  %6 = stablehlo.subtract %one, %5 : tensor<4xf32>
  %7 = stablehlo.sqrt %6 : tensor<4xf32>
  %8 = stablehlo.multiply %3, %7 : tensor<4xf32>
  return %2, %8 : tensor<4xf32>, tensor<4xf32>
}`, nil)
	x := tensor.FromFloats(dtype.F32, []int64{4}, 0, 19.3, -30, 1e-4)
	inputs := []*tensor.Tensor{&x}
	main, _ := whole.Main()
	in, err := interp.New(whole, interp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := in.Run(t.Context(), main, inputs)
	if err != nil {
		t.Fatal(err)
	}
	n := NewNoise(whole, inputs, outputs)
	for range 8 {
		if err := n.More(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if of := n.Of[0]; of[0] != 0 || of[1] < 3.0/(1<<24) || of[2] < 3.0/(1<<24) {
		t.Errorf("1 - tanh(x)^2 has the noise %g", of)
	}
	if of := n.Of[1]; of[0] != 0 || !(of[3] > 0 && of[3] < 1) {
		t.Errorf("exp(x) sqrt(1 - cos(x)^2) has the noise %g", of)
	}
}
