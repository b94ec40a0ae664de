// Groups in an order of their own, an exchange along two dimensions, a permute with gaps, on 8 devices.
module @exchange {
  func.func public @main(%x: tensor<4x6xf32>) -> (tensor<16x6xf32>, tensor<2x12xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 1, 2, 0], [4, 6, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<4x6xf32>) -> tensor<16x6xf32>
    %1 = "stablehlo.all_to_all"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, concat_dimension = 1 : i64, replica_groups = dense<[[0, 4], [5, 1], [2, 6], [3, 7]]> : tensor<4x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<2x12xf32>
    %2 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2], [2, 0], [5, 5], [6, 7]]> : tensor<5x2xi64>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %3 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[7, 6, 5, 4, 3, 2, 1, 0]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0, %1, %2, %3 : tensor<16x6xf32>, tensor<2x12xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
}
