module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x2xf32>, %arg1: tensor<4x2xf32>, %arg2: tensor<4x2xf32>, %arg3: tensor<4x2xf32>, %arg4: tensor<4x2xf32>, %arg5: tensor<f32>) -> (tensor<4x2xf32> {jax.result_info = "result[0][0]"}, tensor<4x2xf32> {jax.result_info = "result[1].u"}, tensor<4x2xf32> {jax.result_info = "result[1].v"}, tensor<4x2xf32> {jax.result_info = "result[2][0]"}) {
    %0 = stablehlo.add %arg0, %arg3 : tensor<4x2xf32>
    %1 = stablehlo.broadcast_in_dim %arg5, dims = [] : (tensor<f32>) -> tensor<4x2xf32>
    %2 = stablehlo.multiply %arg4, %1 : tensor<4x2xf32>
    return %0, %arg1, %arg2, %2 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
  }
}
