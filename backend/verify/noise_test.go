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
