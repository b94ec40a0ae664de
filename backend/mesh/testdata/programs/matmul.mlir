// Tensor-parallel matrix product on 8 devices: gather, local product, reduce-scatter.
module @matmul {
  func.func public @main(%x: tensor<4x6xf32>, %w: tensor<24x8xf32>) -> (tensor<4x2xf32>, tensor<4x8xf32>) {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<4x6xf32>) -> tensor<4x24xf32>
    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x24xf32>, tensor<24x8xf32>) -> tensor<4x8xf32>
    %2 = "stablehlo.reduce_scatter"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x2xf32>
    %3 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %2, %3 : tensor<4x2xf32>, tensor<4x8xf32>
  }
}
