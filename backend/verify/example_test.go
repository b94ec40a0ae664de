package verify_test

import (
	"context"
	"fmt"

	"autoshard/backend/tensor"
	"autoshard/backend/verify"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
	"autoshard/shardmap"
)

// Two devices multiply halves of a vector and add up; every value that they compute is compared with the one of the partitioned
// program.
func ExampleRun() {
	err := func() error {
		ctx := context.Background()
		m, err := mlir.Parse(ctx, []byte(`sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, []> : tensor<f32>
  return %1 : tensor<f32>
}`), mlir.Options{})
		if err != nil {
			return err
		}
		whole := m.Clone()
		mesh, _ := m.LookupMesh("mesh")
		p, err := shardmap.Lower(ctx, m, mesh)
		if err != nil {
			return err
		}
		if err := shardmap.LowerAxes(ctx, p); err != nil {
			return err
		}
		x := tensor.FromFloats(dtype.F32, []int64{4}, 1, 2, 3, 4)
		result, err := verify.Run(ctx, whole, p, []*tensor.Tensor{&x}, verify.Options{})
		if err != nil {
			return err
		}
		fmt.Println(result.Outputs[0], "-", result.Equal, "of", result.Values, "values are equal bit for bit,", result.Wrong, "wrong")
		return nil
	}()
	if err != nil {
		fmt.Println(err)
	}
	// Output: f32[] 30 - 2 of 2 values are equal bit for bit, 0 wrong
}
