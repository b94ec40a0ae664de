// Integers, half floats and an uneven all_reduce on 8 devices.
module @mixed {
  func.func public @main(%x: tensor<5xi32>, %y: tensor<3x3xbf16>, %z: tensor<7xf32>) -> (tensor<5xi32>, tensor<3x3xbf16>, tensor<7xf32>, tensor<28xf32>) {
    %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %5 = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %5 : tensor<i32>
    }) : (tensor<5xi32>) -> tensor<5xi32>
    %1 = "stablehlo.all_reduce"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<1x8xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
      %5 = stablehlo.add %a, %b : tensor<bf16>
      stablehlo.return %5 : tensor<bf16>
    }) : (tensor<3x3xbf16>) -> tensor<3x3xbf16>
    %2 = "stablehlo.all_reduce"(%z) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[0, 4], [1, 5], [2, 6], [3, 7]]> : tensor<4x2xi64>, use_global_device_ids}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.minimum %a, %b : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<7xf32>) -> tensor<7xf32>
    %3 = "stablehlo.all_gather"(%z) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>, replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}> : (tensor<7xf32>) -> tensor<28xf32>
    return %0, %1, %2, %3 : tensor<5xi32>, tensor<3x3xbf16>, tensor<7xf32>, tensor<28xf32>
  }
}
