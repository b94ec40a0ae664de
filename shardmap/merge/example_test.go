package merge_test

import (
	"context"
	"fmt"

	"autoshard/ir/mlir"
	"autoshard/shardmap"
	"autoshard/shardmap/merge"
)

// Two sums over the same devices are sent as one; what is made of the first waits for that.
func ExampleRewrite() {
	err := func() error {
		ctx := context.Background()
		m, err := mlir.Parse(ctx, []byte(`sdy.mesh @mesh = <["x"=4]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %zero = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}]> : tensor<4xf32>
  %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<4xf32>
  %3 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %5 = sdy.all_reduce {"x"} %4 out_sharding=<@mesh, [{}, {}]> : tensor<4x4xf32>
  return %2, %3, %5 : tensor<4xf32>, tensor<8xf32>, tensor<4x4xf32>
}`), mlir.Options{})
		if err != nil {
			return err
		}
		merge.Ask(m, 1<<20)
		mesh, _ := m.LookupMesh("mesh")
		p, err := shardmap.Lower(ctx, m, mesh)
		if err != nil {
			return err
		}
		if err := merge.Rewrite(ctx, p); err != nil {
			return err
		}
		for _, c := range p.Collectives {
			fmt.Println(c.Kind, "of", p.Module.NumOperands(c.Op), "tensors,", c.Bytes, "bytes")
		}
		return nil
	}()
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// all_reduce of 2 tensors, 80 bytes
}
