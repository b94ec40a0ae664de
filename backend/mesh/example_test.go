package mesh_test

import (
	"context"
	"fmt"

	"autoshard/backend/mesh"
	"autoshard/backend/tensor"
	"autoshard/ir/dtype"
	"autoshard/ir/mlir"
)

// Two devices gather a vector of which each has half, and send four bytes each.
func ExampleRun() {
	m, err := mlir.Parse(context.Background(), []byte(`
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main(%x: tensor<1xf32>) -> tensor<2xf32> {
    %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<1xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}`), mlir.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	main, _ := m.Main()
	one, two := tensor.FromFloats(dtype.F32, []int64{1}, 1), tensor.FromFloats(dtype.F32, []int64{1}, 2)
	results, traffic, err := mesh.Run(context.Background(), m, main, 2, [][]*tensor.Tensor{{&one}, {&two}}, mesh.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, device := range results {
		fmt.Println(device[0])
	}
	for op := range m.Ops(m.Func(main).Body) {
		if n := traffic.Bytes(op); n > 0 {
			fmt.Println(n, "bytes")
		}
	}
	// Output:
	// f32[2] [1, 2]
	// f32[2] [1, 2]
	// 8 bytes
}
