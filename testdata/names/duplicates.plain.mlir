module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x2xf32>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x2xf32>, %arg3: tensor<4x2xf32>) -> (tensor<4x2xf32> {jax.result_info = "result.w"}, tensor<4x2xf32> {jax.result_info = "result.w"}, tensor<4x2xf32> {jax.result_info = "result.w"}) {
    %0 = stablehlo.add %arg0, %arg3 : tensor<4x2xf32>
    %1 = stablehlo.add %arg1, %arg3 : tensor<4x2xf32>
    %2 = stablehlo.add %arg2, %arg3 : tensor<4x2xf32>
    return %0, %1, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  }
}
